"""Parameters meet kinds of input: every pair of them is honoured, or refused in one sentence."""

import inspect
import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from covering import covering
from model_files import estimators_of, small
from prefero.rankings import ranks_from_scores

N, LABELS = 36, list("abcd")
INPUTS = ("dense", "float32", "sparse", "pandas", "polars", "words", "polars words")
OPTIONS = {
    "input": INPUTS,
    "gaps": (False, True),
    "target": ("complete", "incomplete", "tied"),
    "frame": (False, True),
    "weights": (False, True),
    "scores": (False, True),
    "groups": (False, True),
    "n_jobs": (None, 2),
    "calibrate": (True, False),
}
ORDERING = {name: OPTIONS[name] for name in ("input", "gaps", "weights", "n_jobs")}
SETS = {**ORDERING, "target": ("complete", "incomplete"), "frame": (False, True)}


def test_every_pair_of_values_is_a_case():
    cases = list(covering(OPTIONS))
    assert len(cases) < 40
    for one, other in combinations(OPTIONS, 2):
        found = {(case[one], case[other]) for case in cases}
        assert found == set(product(OPTIONS[one], OPTIONS[other]))


def features(kind, gaps, X):
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X) if gaps else X
    soil = np.where(X[:, 0] > 0, "clay", "sand")
    table = {"rain": X[:, 0], "sun": X[:, 1], "wind": X[:, 2]}
    return {
        "dense": lambda: X,
        "float32": lambda: X.astype(np.float32),
        "sparse": lambda: csr_array(X),
        "pandas": lambda: pd.DataFrame(table),
        "polars": lambda: pl.DataFrame(table),
        "words": lambda: pd.DataFrame({**table, "soil": soil}),
        "polars words": lambda: pl.DataFrame({**table, "soil": soil}),
    }[kind]()


def label_problem(case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    scores = X @ rng.normal(size=(3, 4)) + 0.3 * rng.normal(size=(N, 4))
    if case.get("target") == "tied":
        scores = scores.round()
    if case.get("target") == "incomplete":
        scores[rng.random(scores.shape) < 0.2] = np.nan
        scores[:, 0] = 0.0  # no row is empty
    ranks = ranks_from_scores(scores, higher_is_better=True)
    given = {"y": pd.DataFrame(ranks, columns=LABELS) if case.get("frame") else ranks}
    if case.get("weights"):
        given["sample_weight"] = rng.integers(1, 6, N)
    if case.get("scores"):
        # What is at stake differs from row to row, so that it counts.
        given["scores"] = scores * rng.exponential(size=(N, 1))
    if case.get("groups"):
        given["groups"] = np.arange(N) // 2
    return features(case["input"], case["gaps"], X), given


def set_problem(case):
    X, given = label_problem({**case, "target": "complete"})
    relevance = (np.asarray(given["y"]) < 3).astype(float)
    if case["target"] == "incomplete":
        relevance[np.random.default_rng(2).random(relevance.shape) < 0.2] = np.nan
    given["y"] = pd.DataFrame(relevance, columns=LABELS) if case["frame"] else relevance
    return X, given


def object_problem(case):
    X, given = label_problem({**case, "target": "complete", "frame": False})
    qid = np.arange(N) // 4
    ranks = [
        1 + int(np.sum(given["y"][qid == q, 0] < own))
        for q, own in zip(qid, given["y"][:, 0], strict=True)
    ]
    return X, {**given, "y": ranks, "qid": qid}


def takes(estimator):
    """What fit may be given."""
    return inspect.signature(estimator.fit).parameters


def answer(estimator, case, problem):
    """What a fitted copy says of its training rows, or the sentence that refuses the case."""
    known = estimator.get_params()
    model = clone(estimator).set_params(
        **{name: case[name] for name in ("n_jobs", "calibrate") if name in known and name in case}
    )
    X, given = problem(case)
    given = {name: value for name, value in given.items() if name in takes(model)}
    filters = list(warnings.filters)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, **given)
            asked = [X, given["qid"]] if not hasattr(model, "decision_function") else [X]
            ask = getattr(model, "decision_function", getattr(model, "predict", None))
            said = model.transform(X) if ask is None else ask(*asked)
            assert hasattr(model, "predict_pairwise") or not case.get("calibrate", False)
    except (TypeError, ValueError) as error:
        return str(error)
    assert warnings.filters == filters
    return np.asarray(said)


def honoured(estimator, case, problem):
    """Assert that a case is answered as its parts demand, or refused in a sentence."""
    said = answer(estimator, case, problem)
    if isinstance(said, str):
        assert said
        assert "\n" not in said.strip(), said
        return
    assert np.isfinite(said).all()
    if "n_jobs" in estimator.get_params():
        other = answer(
            estimator, {**case, "n_jobs": 2 if case["n_jobs"] is None else None}, problem
        )
        np.testing.assert_array_equal(said, other)
    for name, argument in (("weights", "sample_weight"), ("scores", "scores")):
        if case.get(name) and argument in takes(estimator):
            without = answer(estimator, {**case, name: False}, problem)
            assert not np.array_equal(said, without), f"{name} are without effect"


def named(package):
    """Estimators with few trees, whose leaves are small enough for a few rows."""
    found = estimators_of(package)
    for one in found:
        if "min_samples_leaf" in one.get_params():
            one.set_params(min_samples_leaf=2)
    return [pytest.param(small(one), id=type(one).__name__) for one in found]


def quick(package):
    return [one for one in named(package) if not one.id.startswith("Auto")]


@pytest.mark.parametrize("ranker", named("label_ranking"))
def test_label_rankers(ranker):
    for case in covering(OPTIONS):
        honoured(ranker, case, label_problem)


@pytest.mark.parametrize("ranker", quick("multilabel"))
def test_multilabel_rankers(ranker):
    for case in covering(SETS):
        honoured(ranker, case, set_problem)


@pytest.mark.parametrize("orderer", quick("ordering"))
def test_orderers(orderer):
    for case in covering(ORDERING):
        honoured(orderer, case, object_problem)


@pytest.mark.parametrize("ranker", [one for one in named("automatic") if "Ranker" in one.id])
def test_automatic_rankers(ranker):
    few = {name: OPTIONS[name] for name in ("target", "weights", "groups", "n_jobs")}
    if not hasattr(ranker, "scoring"):  # those that have it look at scores for regret alone
        few["scores"] = OPTIONS["scores"]
    for case in covering({**few, "input": ("dense", "words"), "gaps": (False,)}):
        honoured(ranker, case, label_problem)
