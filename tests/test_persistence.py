"""Model files: what is saved comes back, and nothing else gets in."""

import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import prefero
from model_files import estimators_of, problem
from prefero import ConsensusLabelRanker, PairwiseLabelRanker, load, save
from prefero.persistence import ModelFileError, read_header
from prefero.persistence._container import FORMAT, MAGIC
from prefero.persistence._header import describe
from prefero.rankings import drop_labels


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.prefero"


def answers(model, X):
    methods = ("predict", "decision_function", "predict_pairwise", "predict_reliability")
    return {name: getattr(model, name)(X) for name in methods if hasattr(model, name)}


def assert_same_answers(one, other, X):
    first, second = answers(one, X), answers(other, X)
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.parametrize("ranker", estimators_of("label_ranking"), ids=lambda e: type(e).__name__)
def test_every_label_ranker_comes_back_with_identical_predictions(ranker, path):
    X, Y = problem()
    model = clone(ranker).fit(X, drop_labels(Y, 0.2, random_state=0))
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert_same_answers(model, again, problem(seed=1)[0])


@pytest.mark.parametrize("ranker", estimators_of("multilabel"), ids=lambda e: type(e).__name__)
def test_every_multilabel_ranker_comes_back(ranker, path):
    X, Y = problem()
    model = clone(ranker).fit(X, (Y < 3).astype(int))
    save(model, path)
    assert_same_answers(model, load(path), problem(seed=1)[0])


@pytest.mark.parametrize("orderer", estimators_of("ordering"), ids=lambda e: type(e).__name__)
def test_every_orderer_comes_back(orderer, path):
    X, _ = problem()
    ranks, groups = np.tile([1, 2, 3, 4], 10), np.repeat(np.arange(10), 4)
    model = clone(orderer).fit(X, ranks, groups=groups)
    save(model, path)
    again = load(path)
    method = "transform" if hasattr(model, "transform") else "predict"
    np.testing.assert_array_equal(getattr(model, method)(X), getattr(again, method)(X))


def test_pipelines_with_names_and_mixed_columns_come_back(path):
    X, Y = problem()
    X = pd.DataFrame(X, columns=["a", "b", "c"]).assign(soil=["clay", "sand"] * 20)
    Y = pd.DataFrame(Y, columns=["p", "q", "r", "s"])
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b", "c"]),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["soil"]),
    )
    model = make_pipeline(columns, PairwiseLabelRanker()).fit(X, Y)
    save(model, path)
    again = load(path)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    np.testing.assert_array_equal(model[-1].labels_, again[-1].labels_)
    assert read_header(path)["features"] == ["a", "b", "c", "soil"]


def test_rankers_that_hold_other_models_come_back(path):
    X, Y = problem()
    model = PairwiseLabelRanker(GaussianNB()).fit(X, Y)
    save(model, path)
    assert_same_answers(model, load(path), X)


def test_the_header_tells_what_is_inside_without_building_it(path, monkeypatch):
    X, Y = problem()
    names = ["α", "with space", "NA", "<script>"]
    save(ConsensusLabelRanker().fit(X, pd.DataFrame(Y, columns=names)), path)
    monkeypatch.setattr(skops.io, "loads", None)
    header = read_header(path)
    assert header["labels"] == names
    assert header["model"] == "ConsensusLabelRanker"
    assert header["prefero"] == prefero.__version__
    assert header["n_features"] == 3
    assert header["features"] is None
    assert header["format"] == FORMAT
    assert len(header["sha256"]) == 64


def test_reading_a_header_does_not_import_skops(path):
    X, Y = problem()
    save(ConsensusLabelRanker().fit(X, Y), path)
    code = (
        "import sys; from prefero.persistence import read_header; "
        f"read_header({str(path)!r}); sys.exit('skops' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("ranker", estimators_of("label_ranking"), ids=lambda e: type(e).__name__)
def test_five_hundred_corruptions_are_all_refused(ranker, path):
    X, Y = problem()
    save(clone(ranker).fit(X, Y), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(500):
        path.write_bytes(corrupt(whole, rng))
        with pytest.raises(ModelFileError):
            load(path)
        with pytest.raises(ModelFileError):
            read_header(path)


def corrupt(content, rng):
    """Flip a bit, cut the end, insert, remove or repeat a stretch of bytes."""
    at = int(rng.integers(len(content)))
    kind = rng.integers(5)
    if kind == 0:
        flipped = bytes([content[at] ^ (1 << int(rng.integers(8)))])
        return content[:at] + flipped + content[at + 1 :]
    if kind == 1:
        return content[:at]
    if kind == 2:
        return content[:at] + rng.bytes(int(rng.integers(1, 20))) + content[at:]
    if kind == 3:
        return content[:at] + content[at + int(rng.integers(1, 20)) :]
    return content + content[at:]


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93", MAGIC, b"a,b,c\n1,2,3\n", b"PK\x03\x04", pickle.dumps({"a": 1}), bytes(100)],
)
def test_other_files_are_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.prefero"):
        load(path)


def test_a_missing_file_is_reported_as_such(path):
    with pytest.raises(FileNotFoundError):
        load(path)


def test_a_file_of_the_first_format_can_still_be_read():
    old = Path(__file__).parent / "data" / "format-1.prefero"
    assert read_header(old)["labels"] == ["oats", "rye", "wheat"]
    model = load(old)
    np.testing.assert_array_equal(model.predict(pd.DataFrame({"rain": [1.0]})), [[1, 2, 3]])


def test_a_newer_format_is_named(path):
    X, Y = problem()
    save(ConsensusLabelRanker().fit(X, Y), path)
    content = bytearray(path.read_bytes())
    content[8:10] = struct.pack("<H", FORMAT + 1)
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=f"format {FORMAT + 1}.*upgrade"):
        load(path)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(FunctionTransformer(np.abs), ConsensusLabelRanker()),
        PairwiseLabelRanker(RandomForestClassifier(n_estimators=2)),
    ],
    ids=["function", "trees"],
)
def test_what_could_not_be_loaded_safely_is_not_saved(model, path):
    X, Y = problem()
    model.fit(X, Y)
    with pytest.raises(TypeError, match="cannot be saved safely"):
        save(model, path)
    assert not path.exists()


def test_an_unfitted_model_is_not_saved(path):
    with pytest.raises(NotFittedError):
        save(ConsensusLabelRanker(), path)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    X, Y = problem()
    model = ConsensusLabelRanker().fit(X, Y)
    save(model, path)
    old = path.read_bytes()

    def disk_full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space left"):
        save(model, path)
    assert path.read_bytes() == old
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_saving_over_a_link_keeps_the_link(path, tmp_path):
    X, Y = problem()
    link = tmp_path / "link.prefero"
    link.symlink_to(path)
    save(ConsensusLabelRanker().fit(X, Y), link)
    assert link.is_symlink()
    assert path.exists()


def test_random_states_and_numpy_scalars_are_described(path):
    X, Y = problem()
    model = ConsensusLabelRanker().fit(X, Y)
    model.note_ = {"scalar": np.float64(1.5), "state": np.random.RandomState(0), 3: slice(1, 2)}
    save(model, path)
    note = load(path).note_
    assert note["scalar"] == 1.5
    assert note["state"].random_sample() == np.random.RandomState(0).random_sample()
    assert note[3] == slice(1, 2)
    assert describe(model)["labels"] == [0, 1, 2, 3]
