"""info and key files: what a model file says of itself, however hostile, and who wrote it."""

import json

import pandas as pd
import pytest

from cli_program import prefero_inside
from model_files import TakenApart, problem, table
from prefero import ConsensusLabelRanker, save

KEY = b"sixteen bytes or more"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.prefero"
    X, Y = problem()
    save(ConsensusLabelRanker().fit(X, pd.DataFrame(Y, columns=list("abcd"))), path)
    return path


def rewritten(path, **header):
    parts = TakenApart(path)
    parts.header |= header
    parts.write(path)


def test_the_file_itself_is_asked_for_its_format_and_checksum(path):
    rewritten(path, format=99, sha256="beef", signed=True, file="other", bytes=1)
    about = json.loads(prefero_inside("info", path, "--json").stdout)
    assert (about["format"], about["signed"], about["file"]) == (1, False, str(path))
    assert about["bytes"] == path.stat().st_size
    assert about["sha256"] == path.read_bytes()[14:46].hex()
    assert "beef" not in prefero_inside("info", path).stdout


@pytest.mark.parametrize(
    "evil", ["\x1b[2J", "\x9b31m", "\x07", "\u202e", "\ud800", "\x7f", "\n\nsha"]
)
def test_control_characters_do_not_reach_the_terminal(path, evil):
    ranks = pd.DataFrame([[1, 2], [1, 2]], columns=["a", evil if evil != "\ud800" else "\x1b"])
    save(ConsensusLabelRanker().fit([[0.0], [1.0]], ranks), path)
    for arguments in ((), ("--json",)):
        done = prefero_inside("info", path, *arguments)
        assert done.returncode == 0
        assert ranks.columns[1] not in done.stdout
    assert json.loads(done.stdout)["labels"][1] == ranks.columns[1]


@pytest.mark.parametrize("evil", ["\x1b[2J", "\ud800", "Forest"])
def test_a_header_that_lies_is_refused_in_a_sentence(path, evil):
    rewritten(path, model=evil, labels=[evil])
    for command in (("info", path), ("predict", path, path)):
        done = prefero_inside(*command)
        assert done.returncode == 4
        assert done.stdout == ""
        assert "the header describes another model" in done.stderr
        assert evil not in done.stderr


@pytest.mark.parametrize(
    "header", [{"parameters": ["a"]}, {"labels": 3}, {"model": None}, {"n_features": [1]}]
)
def test_an_ill_typed_header_is_refused_in_a_sentence(path, header):
    rewritten(path, **header)
    done = prefero_inside("info", path)
    assert done.returncode == 4
    assert done.stderr == f"prefero: {path} has a header that says nothing about a model.\n"


def test_key_files(path, tmp_path):
    data, key, other = tmp_path / "data.csv", tmp_path / "key", tmp_path / "other"
    key.write_bytes(KEY)
    other.write_bytes(KEY + b"!")
    X, Y = problem(12)
    frame = table(X).drop(columns="soil")
    frame[["y_a", "y_b", "y_c", "y_d"]] = Y
    frame.to_csv(data, index=False)
    train = ("train", data, "-o", path, "--labels", "y_*", "--model", "consensus")
    assert prefero_inside(*train, "--key-file", key).returncode == 0
    for command in (("predict", path, data), ("explain", path, data), ("info", path)):
        assert prefero_inside(*command, "--key-file", key).returncode == 0
        done = prefero_inside(*command, "--key-file", other)
        assert done.returncode == 4
        assert "another key" in done.stderr
    assert prefero_inside(*train).returncode == 0
    assert "not signed" in prefero_inside("predict", path, data, "--key-file", key).stderr
    key.write_bytes(b"short")
    assert prefero_inside(*train, "--key-file", key).returncode == 3
