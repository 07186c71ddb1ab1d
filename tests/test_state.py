"""The declared state of estimators: what each kind of attribute refuses, and that all declare."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.preprocessing import StandardScaler

from model_files import fitted_models
from prefero import ConsensusLabelRanker, ForestLabelRanker
from prefero._state import (
    Array,
    Attribute,
    Count,
    Each,
    Flag,
    Model,
    Names,
    Number,
    Record,
    StateError,
    Word,
    check_state,
    fitted_state,
    made_on_use,
)
from prefero.base import copy_of
from prefero.checks import LABEL_RANKER_AXIOMS

MODELS = fitted_models()
OURS = {name: model for name, (model, _) in MODELS.items() if not hasattr(model, "steps")}


@pytest.mark.parametrize("name", OURS)
def test_every_attribute_of_a_fitted_estimator_is_declared(name):
    model = OURS[name]
    declared = fitted_state(type(model))
    check_state(name, declared, vars(model))
    known = declared.keys() | model.get_params(deep=False).keys() | made_on_use(type(model))
    assert vars(model).keys() <= known


@pytest.mark.parametrize("name", OURS)
def test_every_parameter_says_what_it_may_be(name):
    model = OURS[name]
    assert (
        model.get_params(deep=False).keys() <= getattr(model, "_parameter_constraints", {}).keys()
    )


@pytest.mark.parametrize("name", OURS)
def test_what_is_made_at_first_use_is_in_no_copy(name):
    model, X = MODELS[name]
    model.transform(X) if hasattr(model, "transform") else model.predict(X)
    made = made_on_use(type(model))
    assert not vars(pickle.loads(pickle.dumps(model))).keys() & made
    assert not vars(copy_of(model, anew=False)).keys() & made


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Number(0, 1), [0, 1.0, np.float64(0.5)], [2, -1e-9, np.nan, np.inf, "1", True, None]),
        (Number(nan=True), [np.nan, -5], [np.inf]),
        (Number(none=True), [None, 1], ["x"]),
        (Count(1, 5), [1, np.int64(5)], [0, 6, 1.0, True, 10**30]),
        (Flag(), [True, np.False_], [0, 1, None, "True"]),
        (Word(), ["", "x"], [3, None]),
        (Word("a", "b"), ["a"], ["c", ["a"]]),
        (Each(Count()), [[], [1, 2]], [(1,), [1, -1], None]),
        (Each(Count(), 2), [[1, 2]], [[1]]),
        (Record({"a": Count()}), [{"a": 1}], [{}, {"a": 1, "b": 2}, {"a": -1}, []]),
        (Names("n"), [np.array(["a", "b"]), np.array(["a", 1, None], dtype=object)],
         [np.array(["a", "a"]), np.array([[1]]), ["a"], np.array([[], {}], dtype=object),
          np.array(["\ud800"], dtype=object)]),
        (Array("f8", "n", 2), [np.zeros((3, 2))],
         [np.zeros((3, 1)), np.zeros(6), np.zeros((3, 2), "f4"), np.zeros((3, 2), ">f8"),
          np.full((1, 2), np.nan), np.full((1, 2), -np.inf), [[1.0, 2.0]],
          scipy.sparse.csr_matrix(np.zeros((3, 2))), np.ma.zeros((3, 2))]),
        (Array("f8", "n", nan=True, low=0), [np.array([np.nan, 1])],
         [np.array([np.nan, -1]), np.array([np.nan, np.inf])]),
        (Array("iu", "n", low=0, high=3), [np.array([0, 3]), np.array([1], "u1"), np.zeros(0, int)],
         [np.array([4]), np.array([-1]), np.array([1.0]), np.array([True])]),
        (Array("b", "n"), [np.array([True])], [np.array([1])]),
        (Model("predict", n_features=3), [MODELS["ConsensusLabelRanker"][0]],
         [ConsensusLabelRanker(), StandardScaler(), 3, None]),
        (Attribute(rule=("an even number", lambda value, _: value % 2 == 0)), [2], [1]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_kinds(kind, good, bad):
    for value in good:
        check_state("It", {"x_": kind}, {"x_": value})
    for value in bad:
        with pytest.raises(StateError, match="x_ of It"):
            check_state("It", {"x_": kind}, {"x_": value})


def test_a_name_means_one_size():
    declared = {"a_": Array("f8", "n"), "b_": Array("f8", "n + 1"), "c_": Count(0, "n - 1")}
    check_state("It", declared, {"a_": np.zeros(2), "b_": np.zeros(3), "c_": 1})
    with pytest.raises(StateError, match=r"b_ of It has shape \(2,\), expected \(n \+ 1\)"):
        check_state("It", declared, {"a_": np.zeros(2), "b_": np.zeros(2), "c_": 1})
    with pytest.raises(StateError, match="c_ of It is 2, expected 0 to 1"):
        check_state("It", declared, {"a_": np.zeros(2), "b_": np.zeros(3), "c_": 2})


def test_what_may_be_absent():
    declared = {
        "a_": Count(optional=True),
        "b_": Count(when={"kind": ("x", "y")}),
        "c_": Count(unless="d_"),
        "d_": Count(optional=True),
    }
    check_state("It", declared, {"kind": "z", "d_": 1})
    check_state("It", declared, {"kind": "x", "b_": 1, "c_": 1})
    with pytest.raises(StateError, match="It lacks its b_"):
        check_state("It", declared, {"kind": "y", "c_": 1})
    with pytest.raises(StateError, match="It lacks its c_"):
        check_state("It", declared, {"kind": "z"})
    with pytest.raises(StateError, match="both c_ and d_"):
        check_state("It", declared, {"kind": "z", "c_": 1, "d_": 1})


class Forgetful(ConsensusLabelRanker):
    """Declares what it does not keep."""

    def _fit(self, X, ranks, weight):
        super()._fit(X, ranks, weight)
        self.votes_ = self.votes_.tolist()


class Hoarder(ForestLabelRanker):
    """Pickles what it makes at first use."""

    def __getstate__(self):
        return dict(vars(self))


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (Forgetful(), "votes_ of Forgetful is a list"),
        (Hoarder(2), "made at first use, but pickled"),
    ],
)
def test_the_checks_find_a_state_that_is_not_as_declared(estimator, words):
    [axiom] = [axiom for axiom in LABEL_RANKER_AXIOMS if axiom.__name__ == "check_fitted_state"]
    with pytest.raises(AssertionError, match=words):
        axiom(estimator)
