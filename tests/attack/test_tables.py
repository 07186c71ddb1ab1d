"""A short run of the attack on the readers of tables; fuzz_tables.py is the long one."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attack.tables import hostile, read, valid
from prefero.exceptions import DataError
from prefero.tables import read_rankings, read_table


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


# What the long attack once found.


def refusal(tmp_path, content, **reading):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_rankings(read_table(path), **reading)
    sentence = str(caught.value)
    assert str(path) in sentence
    return sentence.removeprefix(str(path))


def test_a_sentence_holds_nothing_that_a_terminal_obeys(tmp_path):
    sentence = refusal(tmp_path, b"y_a,\x1b[31m\n1,2\n", labels="nobody")
    assert sentence.isprintable()
    assert r"\x1b[31m" in sentence


def test_a_sentence_shortens_endless_cells_and_lists(tmp_path):
    assert len(refusal(tmp_path, b"y_a,y_b\n1," + b"x" * 9000 + b"\n", labels="y_*")) < 300
    names = ",".join(f"column{number}" for number in range(500))
    sentence = refusal(tmp_path, f"{names}\n{',1' * 499}\n".encode(), labels="nobody")
    assert "480 more" in sentence


def test_columns_without_a_label_are_refused(tmp_path):
    assert "names a label" in refusal(tmp_path, b"o,x\n,1\n,2\n", labels="o", format="orders")


def test_orders_of_no_column_are_refused(tmp_path):
    reading = {"format": "orders", "instance": "o"}
    assert "no column is left" in refusal(tmp_path, b"o\na>b\n", **reading)


def test_letters_stand_in_one_column(tmp_path):
    reading = {"labels": ["o", "p"], "format": "orders", "letters": True}
    assert "one column" in refusal(tmp_path, b"o,p\nab,ba\n", **reading)


def test_a_column_may_be_named_like_a_pattern(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"y[1],y[2],y1\n1,2,7\n2,1,7\n")
    assert list(read_rankings(read_table(path), labels="y[1],y[2]").labels) == ["y[1]", "y[2]"]
