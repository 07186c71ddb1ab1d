"""Files made to do harm. Their checksum is right: whoever writes them can compute it."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline

import prefero
from model_files import TakenApart, fitted_models, nodes, problem, refused
from prefero import load, save
from prefero.persistence import ModelFileError, trusted

SCALER = {"estimator": ["sklearn.preprocessing", "StandardScaler", {"copy": True}]}


@pytest.fixture(scope="module")
def fitted():
    return fitted_models()


@pytest.fixture(scope="module")
def models(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    files = {name: folder / f"{name}.prefero" for name in fitted}
    for name, (model, _) in fitted.items():
        save(model, files[name])
    return files


def test_an_unchanged_file_is_accepted(models, path):
    for name in models:
        TakenApart(models[name]).write(path)
        load(path)


# Types


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("prefero", "load"),
        ("prefero", "kendall_tau"),
        ("evil", "ConsensusLabelRanker"),
        ("sklearn.tree", "DecisionTreeClassifier"),
        ("sklearn.preprocessing", "FunctionTransformer"),
        ("sklearn.preprocessing.evil", "system"),
        ("numpy", "ndarray"),
        (3, None),
    ],
)
def test_types_that_are_not_on_the_list_are_refused_and_not_imported(models, path, module, name):
    for kind in ({"estimator": [module, name, {}]}, {"type": [module, name]}):
        parts = TakenApart(models["ConsensusLabelRanker"])
        parts.state["votes_"] = kind
        refused(parts, path)


def test_nothing_of_a_hostile_file_is_run(models, path, tmp_path):
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')\nclass Model: pass\n")
    parts = TakenApart(models["ConsensusLabelRanker"])
    parts.model["estimator"][:2] = "evil", "Model"
    parts.write(path)
    run = subprocess.run(
        [sys.executable, "-c", f"from prefero import load; load({str(path)!r})"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ModelFileError" in run.stderr
    assert not (tmp_path / "was_run").exists()


def test_the_list_of_trusted_types_changes_by_decision_only():
    # A type that is added here needs its fitted state declared in persistence/_scikit_learn.py,
    # and a look at everything that its methods do with it.
    assert sorted(name for names in trusted.SCIKIT_LEARN.values() for name in names) == [
        *("ColumnTransformer", "DummyClassifier", "FeatureUnion", "GaussianNB", "LabelBinarizer"),
        *("LabelEncoder", "LinearRegression", "LinearSVC", "LogisticRegression"),
        *("LogisticRegressionCV", "MaxAbsScaler", "MinMaxScaler", "MissingIndicator", "Normalizer"),
        *("Nystroem", "OneHotEncoder", "OrdinalEncoder", "PCA", "Pipeline", "PolynomialFeatures"),
        *("PowerTransformer", "QuantileTransformer", "Ridge", "RidgeCV", "RidgeClassifier"),
        *("RobustScaler", "SimpleImputer", "StandardScaler", "TruncatedSVD", "VarianceThreshold"),
    ]
    ours = {name for name in prefero._PUBLIC if trusted.trusted_type("prefero", name) is not None}
    assert ours == {
        *("AutoLabelRanker", "AutoMultilabelRanker", "AutoOrderer", "BinaryRelevanceRanker"),
        "BoostingFeatureSelector",
        *("BoostingLabelRanker", "BoostingOrderer", "CalibratedMultilabelRanker", "CohenOrderer"),
        *("ConsensusLabelRanker", "ConsensusMultilabelRanker", "ConstraintLabelRanker"),
        *("ExpectedRankOrderer", "RegressionLabelRanker", "StackingLabelRanker"),
        *("TableTransformer", "TextEncoder"),
        *("ForestLabelRanker", "LabelFeatureRanker"),
        *("LogCountTransformer", "LogLinearLabelRanker"),
        *("NeighborsLabelRanker", "NeighborsMultilabelRanker", "OrderSVMOrderer"),
        *("PairwiseLabelRanker", "PairwiseMultilabelRanker", "RankBoostOrderer"),
        *("RankCorrelationReducer", "RankSVMOrderer", "RankingPipeline", "TreeLabelRanker"),
        "RidgeLabelRanker",
    }


def test_every_trusted_type_declares_its_state():
    from prefero.persistence._scikit_learn import PARAMETERS, STATES

    listed = {name for names in trusted.SCIKIT_LEARN.values() for name in names}
    assert STATES.keys() == listed
    assert PARAMETERS.keys() <= listed
    for module, names in trusted.SCIKIT_LEARN.items():
        assert all(hasattr(importlib.import_module(module), name) for name in names)


# What a file may not decide


@pytest.mark.parametrize("name", ["NeighborsLabelRanker", "NeighborsMultilabelRanker"])
def test_no_object_of_a_file_is_fitted(models, path, name, monkeypatch):
    steps = [{"tuple": ["a", SCALER]}, {"tuple": ["b", SCALER]}]
    state = {"steps": steps, "transform_input": None, "memory": None, "verbose": False}
    parts = TakenApart(models[name])
    parts.state["algorithm"] = {"estimator": ["sklearn.pipeline", "Pipeline", state]}
    for of in (Pipeline, NearestNeighbors):
        monkeypatch.setattr(of, "fit", lambda *_: pytest.fail("something was fitted"))
    refused(parts, path, "algorithm")
    parts = TakenApart(models[name])
    parts.state["metric"] = SCALER
    refused(parts, path, "metric")
    load(models[name])  # builds no index


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("NeighborsMultilabelRanker", "weights"), ("LogLinearLabelRanker", "base_functions")],
)
def test_no_function_comes_from_a_file(models, path, name, parameter):
    parts = TakenApart(models[name])
    parts.state[parameter] = {"type": ["builtins", "str"]}  # a type can be called
    refused(parts, path, "is a function")


def test_a_pipeline_with_a_cache_is_refused(models, path, tmp_path):
    parts = TakenApart(models["columns"])
    parts.state["memory"] = str(tmp_path / "cache")
    refused(parts, path, "no cache is restored")
    assert not (tmp_path / "cache").exists()


def test_how_to_run_is_not_for_a_file_to_say(models, path):
    for name in ("ForestLabelRanker", "NeighborsLabelRanker", "columns"):
        parts = TakenApart(models[name])
        for _, _, state in parts.estimators():
            state |= {key: 3000 for key in ("n_jobs", "verbose") if key in state}
        parts.write(path)
        model = load(path)
        assert getattr(model, "n_jobs", None) is None
        assert not getattr(model, "verbose", False)


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("ForestLabelRanker", "predict"),
        *(("columns", name) for name in ("predict", "__sklearn_tags__", "unheard_of_", "_private")),
    ],
)
def test_attributes_that_nothing_declares_are_refused(models, path, name, attribute):
    parts = TakenApart(models[name])
    parts.state[attribute] = 1
    refused(parts, path, "does not declare")


# State


def attributes(models):
    """Each model and each attribute of its outermost estimators."""
    for name, file in models.items():
        for index, (_, _, state) in enumerate(TakenApart(file).estimators()[:8]):
            for attribute in state:
                yield name, index, attribute


@pytest.mark.filterwarnings("ignore:X has feature names")  # those of a file are optional
def test_a_model_without_one_of_its_attributes_is_refused_or_whole(fitted, models, path):
    count = 0
    for name, index, attribute in attributes(models):
        parts = TakenApart(models[name])
        del parts.estimators()[index][2][attribute]
        parts.write(path)
        X = fitted[name][1]
        try:
            model = load(path)
        except ModelFileError:
            count += 1
        else:
            model.predict(X) if hasattr(model, "predict") else model.transform(X)
    assert count > 150


@pytest.mark.filterwarnings("ignore")  # numbers that make no sense overflow
@pytest.mark.parametrize("value", [None, "x", -1, {"tuple": []}, [], {"dict": []}, SCALER, 1e300])
def test_a_model_with_a_foreign_attribute_is_refused_or_answers(fitted, models, path, value):
    for name in ("ForestLabelRanker", "NeighborsLabelRanker", "columns", "square", "bayes"):
        X = fitted[name][1]
        for attribute in TakenApart(models[name]).estimators()[0][2]:
            parts = TakenApart(models[name])
            parts.estimators()[0][2][attribute] = value
            parts.write(path)
            try:
                model = load(path)
            except ModelFileError:
                continue
            model.predict(X)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(models, path, value):
    parts = TakenApart(models["LogLinearLabelRanker"])
    index = parts.state["coef_"]["array"]
    parts.arrays[index][0, 0] = value
    refused(parts, path, "NaN|infinite")


@pytest.mark.parametrize(
    ("name", "attribute", "value", "words"),
    [
        ("RankBoostOrderer", "attributes_", 3, "outside"),
        ("NeighborsLabelRanker", "rankings_", 99, "outside"),
        ("PairwiseLabelRanker", "pairs_", 0, "each pair once"),
        ("ConsensusLabelRanker", "classes_", 7, "0, 1"),
    ],
)
def test_indices_and_ranks_out_of_range_are_refused(models, path, name, attribute, value, words):
    parts = TakenApart(models[name])
    parts.arrays[parts.state[attribute]["array"]][...] = value
    refused(parts, path, words)


def test_truth_values_other_than_0_and_1_are_refused(models, path):
    parts = TakenApart(models["ConsensusLabelRanker"])
    parts.arrays[parts.state["unseen_labels_"]["array"]].view(np.uint8)[0] = 2
    refused(parts, path, "neither 0 nor 1")


def test_texts_of_letters_that_do_not_exist_are_refused(models, path):
    parts = TakenApart(models["ConsensusLabelRanker"])
    parts.arrays.append(np.array(["abcd"] * 4))
    parts.arrays[-1].view("<u4")[0] = 0x110000
    parts.state["labels_"] = {"array": len(parts.arrays) - 1}
    refused(parts, path, "letters that do not exist")


def test_a_step_that_gives_what_the_next_does_not_take_is_refused(models, path):
    parts = TakenApart(models["square"])
    [terms] = [state for _, name, state in parts.estimators() if name == "PolynomialFeatures"]
    terms["degree"] = terms["_max_degree"] = 12
    for count in ("n_output_features_", "_n_out_full"):
        terms[count] = 454
    refused(parts, path)


def test_an_encoder_cannot_be_made_to_write_outside_its_output(models, path):
    # SciPy would follow a column index past the end of the matrix.
    parts = TakenApart(models["columns"])
    encoders = [state for _, name, state in parts.estimators() if name == "OneHotEncoder"]
    [encoder] = [state for state in encoders if "categories_" in state]
    encoder["categories_"] = [{"array": len(parts.arrays)}]
    parts.arrays.append(np.array([3.0, 1.0, 2.0]))
    refused(parts, path, "sorted categories")


# Arrays


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, "|O"),
        (0, ">f8"),
        (0, "<M8[s]"),
        (0, "|V8"),
        (0, "<c16"),
        (0, ["x"]),
        (2, [10**12]),
        (2, [2**33, 2**33]),
        (2, [-1]),
        (2, [1.5]),
        (2, [0, 2**62]),
        (2, "4"),
    ],
)
def test_arrays_of_odd_kinds_and_lengths_are_refused(models, path, place, value):
    parts = TakenApart(models["ConsensusLabelRanker"])
    about = [[array.dtype.str, "C", list(array.shape)] for array in parts.arrays]
    about[0][place] = value
    refused(parts, path, about=about)


@pytest.mark.parametrize(
    ("place", "index", "value"), [(1, 0, 10**6), (1, 0, -1), (2, 1, 10**6), (2, 0, 1), (2, -1, 0)]
)
def test_sparse_matrices_are_checked_before_they_are_built(path, place, index, value):
    X, ranks = problem(24)[0], np.tile([1, 2, 3, 4], 6)
    orderer = prefero.RankSVMOrderer(kernel="rbf", n_components=4)
    save(orderer.fit(scipy.sparse.csr_matrix(X), ranks, qid=np.repeat(np.arange(6), 4)), path)
    load(path)
    parts = TakenApart(path)
    [content] = [content for kind, content in nodes(parts.model) if kind == "sparse"]
    parts.arrays[content[2][place]][index] = value
    refused(parts, path, "sparse matrix")


def test_dense_is_required_where_dense_is_meant(models, path):
    parts = TakenApart(models["NeighborsLabelRanker"])
    points = scipy.sparse.csr_matrix(parts.arrays[parts.state["points_"]["array"]])
    first = len(parts.arrays)
    parts.arrays += [points.data, points.indices, points.indptr]
    content = ["csr_matrix", list(points.shape), [first, first + 1, first + 2]]
    parts.state["points_"] = {"sparse": content}
    refused(parts, path, "sparse matrix, expected a dense array")


@pytest.mark.parametrize(
    "payload",
    [b"", b"x", bytes(8), b"\xff" * 8, b"\x02" + bytes(7) + b"{}", b"\x02" + bytes(7) + b"[]"],
)
def test_a_senseless_payload_is_refused(models, path, payload):
    parts = TakenApart(models["ConsensusLabelRanker"])
    parts.payload = lambda: payload
    refused(parts, path)


def test_a_deeply_nested_model_is_refused(models, path):
    parts = TakenApart(models["ConsensusLabelRanker"])
    deep = []
    for _ in range(900):
        deep = [deep]
    parts.state["votes_"] = deep
    refused(parts, path)
    text = b'{"arrays": [], "model": ' + b"[" * 10**5 + b"]" * 10**5 + b"}"
    parts.payload = lambda: len(text).to_bytes(8, "little") + text
    refused(parts, path)


# The header


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("labels", ["other", "names", "than", "inside"]),
        ("n_features", 99),
        ("model", "ForestLabelRanker"),
        ("features", ["a", "b", "c"]),
    ],
)
def test_a_header_that_lies_is_refused(models, path, field, value):
    parts = TakenApart(models["ConsensusLabelRanker"])
    parts.header[field] = value
    refused(parts, path, "header describes another")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("parameters", ["a"]),
        ("parameters", {"a": {"b": 1}}),
        ("labels", {"a": 1}),
        ("labels", [[1]]),
        ("model", 3),
        ("n_features", "many"),
        ("prefero", None),
    ],
)
def test_an_ill_typed_header_is_refused(models, path, field, value):
    parts = TakenApart(models["ConsensusLabelRanker"])
    parts.header[field] = value
    refused(parts, path, "says nothing about a model")


def test_a_header_cannot_say_what_the_file_itself_says(models, path):
    parts = TakenApart(models["ConsensusLabelRanker"])
    honest = prefero.persistence.read_header(models["ConsensusLabelRanker"])
    parts.header |= {"format": 99, "sha256": "beef", "signed": True, "extra": "x"}
    parts.write(path)
    header = prefero.persistence.read_header(path)
    assert header.keys() == honest.keys()
    assert (header["format"], header["signed"]) == (1, False)
    assert header["sha256"] == path.read_bytes()[14:46].hex()
