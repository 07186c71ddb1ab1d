"""A short run of the attack on the readers of tables; fuzz_tables.py is the long one."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attack.tables import hostile, read, valid
from prefero.tables import read_table


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_a_hostile_file_is_a_table_or_one_sentence(tmp_path_factory, random):
    read(hostile(random), tmp_path_factory.mktemp("hostile"), random)


@pytest.mark.parametrize("kind", [kind for kind in valid() if kind != "odd Excel"])
def test_what_the_attack_begins_with_is_valid(kind, tmp_path):
    for name, content in valid()[kind].items():
        (tmp_path / name).write_bytes(content)
    path = tmp_path if kind == "ASlib" else tmp_path / next(iter(valid()[kind]))
    assert len(read_table(path)) > 1
