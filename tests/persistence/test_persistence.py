"""Model files: what is saved comes back, and nothing else gets in."""

import os
import pickle
import struct

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import prefero
from model_files import (
    TakenApart,
    answers,
    estimators_of,
    fitted_models,
    problem,
)
from prefero import ConsensusLabelRanker, ForestLabelRanker, PairwiseLabelRanker, load, save
from prefero.persistence import ModelFileError, read_header
from prefero.persistence._container import FORMAT, MAGIC, describe

KEY = b"sixteen bytes or more"


@pytest.fixture(scope="module")
def models():
    return fitted_models()


def assert_same_answers(one, other, X):
    first, second = answers(one, X), answers(other, X)
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_every_kind_of_model_comes_back_with_identical_predictions(models, path):
    for model, X in models.values():
        save(model, path)
        again = load(path)
        assert type(again) is type(model)
        assert_same_answers(model, again, X)


def test_every_public_estimator_is_among_them(models):
    packages = ("automatic", "label_ranking", "multilabel", "ordering", "text")
    known = {type(estimator).__name__ for room in packages for estimator in estimators_of(room)}
    assert known <= models.keys()


@pytest.mark.parametrize("ranker", estimators_of("label_ranking"), ids=lambda e: type(e).__name__)
def test_parameters_come_back_but_for_those_that_say_how_to_run(ranker, path):
    X, Y = problem(20)
    model = clone(ranker)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=2)
    save(model.fit(X, Y), path)
    kept = {**model.get_params(), "n_jobs": None}
    assert all(value == kept[name] for name, value in load(path).get_params().items())


def test_an_imputer_of_an_earlier_scikit_learn_is_whole(path):
    X, Y = problem(20)
    ranker = prefero.make_ranking_pipeline(SimpleImputer(), ConsensusLabelRanker()).fit(X, Y)
    save(ranker, path)
    parts = TakenApart(path)
    [imputer] = [state for _, name, state in parts.estimators() if name == "SimpleImputer"]
    imputer.pop("_fill_dtype", None)
    parts.write(path)
    np.testing.assert_array_equal(load(path).predict(X), ranker.predict(X))


def test_where_a_random_generator_stands_is_not_kept(path):
    X, Y = problem(20)
    save(ForestLabelRanker(2, random_state=np.random.RandomState(0)).fit(X, Y), path)
    assert load(path).random_state is None


def test_labels_features_and_columns_keep_their_names(models, path):
    model, X = models["columns"]
    save(model, path)
    np.testing.assert_array_equal(model[-1].labels_, load(path)[-1].labels_)
    assert read_header(path)["features"] == list(X.columns)


def test_rare_categories_taken_together_come_back(path):
    X = np.array([["a"], ["a"], ["b"], ["c"], ["d"], ["a"]], dtype=object)
    Y = np.tile([[1, 2], [2, 1]], (3, 1))
    encoder = OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist", drop="first")
    model = make_pipeline(encoder, prefero.LogLinearLabelRanker()).fit(X, Y)
    save(model, path)
    np.testing.assert_array_equal(load(path).predict(X), model.predict(X))


def test_a_fortran_ordered_array_stays_so(path):
    # A product of matrices may differ in its last bits by their layout.
    X, Y = problem(20)
    model = prefero.LogLinearLabelRanker().fit(X, Y)
    model.coef_ = np.asfortranarray(model.coef_)
    save(model, path)
    assert load(path).coef_.flags.f_contiguous


def test_the_header_tells_what_is_inside(path):
    X, Y = problem()
    names = ["α", "with space", "NA", "<script>"]
    save(ConsensusLabelRanker().fit(X, pd.DataFrame(Y, columns=names)), path)
    header = read_header(path)
    assert header["labels"] == names
    assert header["model"] == "ConsensusLabelRanker"
    assert header["prefero"] == prefero.__version__
    assert header["n_features"] == 3
    assert header["features"] is None
    assert header["format"] == FORMAT
    assert header["signed"] is False
    assert len(header["sha256"]) == 64


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


@pytest.mark.parametrize("number", [0, FORMAT + 1, 2**16 - 1])
def test_another_format_is_named(path, number):
    X, Y = problem()
    save(ConsensusLabelRanker().fit(X, Y), path)
    content = bytearray(path.read_bytes())
    content[8:10] = struct.pack("<H", number)
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=f"format {number}.*upgrade"):
        load(path)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(FunctionTransformer(np.abs), ConsensusLabelRanker()),
        PairwiseLabelRanker(RandomForestClassifier(n_estimators=2)),
        prefero.LogLinearLabelRanker(base_functions=lambda X: np.zeros((len(X), 4, 1))),
        prefero.NeighborsLabelRanker(metric=lambda x, y: abs(x - y).sum()),
        make_pipeline(StandardScaler(), ConsensusLabelRanker(), memory="cache"),
    ],
    ids=["function", "trees", "base functions", "metric", "memory"],
)
def test_what_could_not_be_loaded_safely_is_not_saved(model, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, Y = problem()
    model.fit(X, Y)
    with pytest.raises(TypeError, match="cannot be saved safely"):
        save(model, path)
    assert not path.exists()


def test_an_attribute_that_a_class_does_not_declare_is_not_saved(path):
    X, Y = problem()
    model = ConsensusLabelRanker().fit(X, Y)
    model.note_ = 3
    with pytest.raises(TypeError, match="'note_' that its class does not declare"):
        save(model, path)


@pytest.mark.parametrize(
    "model", [ConsensusLabelRanker(), make_pipeline(StandardScaler(), ConsensusLabelRanker())]
)
def test_an_unfitted_model_is_not_saved(model, path):
    with pytest.raises(NotFittedError):
        save(model, path)


def test_what_is_no_model_of_prefero_is_not_saved(path):
    with pytest.raises(TypeError, match="no ranker, orderer or transformer of Prefero"):
        save(StandardScaler().fit(problem()[0]), path)


class TestSignature:
    @pytest.fixture
    def model(self):
        return ConsensusLabelRanker().fit(*problem())

    def test_a_signed_file_opens_with_its_key_and_without(self, model, path):
        save(model, path, key=KEY)
        assert read_header(path, key=KEY)["signed"] is True
        for key in (KEY, None):
            assert_same_answers(load(path, key=key), model, problem()[0])

    def test_another_key_is_refused(self, model, path):
        save(model, path, key=KEY)
        with pytest.raises(ModelFileError, match="another key"):
            load(path, key=KEY + b"!")

    def test_a_file_without_signature_is_refused_if_a_key_is_given(self, model, path):
        save(model, path)
        with pytest.raises(ModelFileError, match="not signed"):
            load(path, key=KEY)

    def test_a_file_that_was_changed_is_refused_though_its_checksum_is_right(self, model, path):
        save(model, path, key=KEY)
        signed = path.read_bytes()
        model.votes_ = model.votes_[::-1].copy()
        save(model, path)
        other = path.read_bytes()
        # The other model with the signature of the first.
        path.write_bytes(other[:46] + signed[46:78] + other[78:])
        load(path)
        with pytest.raises(ModelFileError, match="another key, or changed"):
            load(path, key=KEY)

    @pytest.mark.parametrize("key", [b"short", "a text of many letters"])
    def test_a_bad_key_is_refused_before_anything_is_written(self, model, path, key):
        with pytest.raises(ValueError, match="at least 16 bytes"):
            save(model, path, key=key)
        assert not path.exists()


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


def test_labels_are_described_as_plain_values():
    X, Y = problem()
    assert describe(ConsensusLabelRanker().fit(X, Y))["labels"] == [0, 1, 2, 3]
