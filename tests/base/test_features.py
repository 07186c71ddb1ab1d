"""Features that validation would return as they are: fewer questions, the same answers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

from prefero import ForestLabelRanker, NeighborsLabelRanker, PairwiseLabelRanker
from prefero.base import _features
from prefero.datasets import make_label_ranking
from prefero.rankings import _validation, check_ranks

X, Y = make_label_ranking(60, 3, 4, random_state=0)
NEW = X[:9]
GIVEN = {
    "plain": NEW,
    "one row": NEW[:1],
    "column after column": np.asfortranarray(NEW),
    "every other row": NEW[::2],
    "no row": NEW[:0],
    "one dimension": NEW[0],
    "too wide": np.hstack([NEW, NEW]),
    "whole numbers": NEW.astype(int),
    "single precision": NEW.astype(np.float32),
    "bytes the other way round": NEW.astype(">f8"),
    "missing": np.where(NEW > NEW.mean(), np.nan, NEW),
    "infinite": np.where(NEW > NEW.mean(), np.inf, NEW),
    "huge": np.where(NEW > NEW.mean(), 1e200, NEW),
    "objects": NEW.astype(object),
    "words": np.full(NEW.shape, "word"),
    "a list": NEW.tolist(),
    "a table": pd.DataFrame(NEW, columns=["a", "b", "c"]),
}


def answer(ranker, given):
    """Scores, or the error in their place, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = ranker.decision_function(given).tolist()
        except (ValueError, TypeError) as error:
            found = type(error).__name__, str(error)
    return found, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    "ranker",
    [ForestLabelRanker(5, random_state=0), NeighborsLabelRanker(), PairwiseLabelRanker(C=1.0)],
    ids=lambda ranker: type(ranker).__name__,
)
def test_the_answer_is_that_of_validation(ranker, named, monkeypatch):
    ranker.fit(pd.DataFrame(X, columns=["a", "b", "c"]) if named else X, Y)
    soon = {name: answer(ranker, given) for name, given in GIVEN.items()}
    monkeypatch.setattr(_features, "_is_plain", lambda *_, **__: False)
    assert soon == {name: answer(ranker, given) for name, given in GIVEN.items()}
    assert isinstance(soon["infinite"][0], tuple)
    assert isinstance(soon["plain"][0], list)


def test_only_what_is_plain_is_taken_as_it_is():
    forest = ForestLabelRanker(5, random_state=0).fit(X, Y)
    taken = {name for name, given in GIVEN.items() if _features._is_plain(forest, given)}
    assert taken == {"plain", "one row", "column after column", "every other row"}
    named = ForestLabelRanker(5, random_state=0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    assert not _features._is_plain(named, NEW)  # validation warns that the names are missing


def learned(ranker, features, ranks):
    """What a fit leaves behind, or its error, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fitted = vars(clone(ranker).fit(features, ranks))
            found = {name: str(value) for name, value in fitted.items() if name[0] != "_"}
        except (ValueError, TypeError) as error:
            found = type(error).__name__, str(error)
    return found, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    "ranker",
    [ForestLabelRanker(5, random_state=0), PairwiseLabelRanker(C=1.0)],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_fit_learns_what_it_learns_after_validation(ranker, monkeypatch):
    soon = {name: learned(ranker, given, Y[: len(given)]) for name, given in GIVEN.items()}
    monkeypatch.setattr(_features, "_is_plain", lambda *_, **__: False)
    assert soon == {name: learned(ranker, given, Y[: len(given)]) for name, given in GIVEN.items()}
    assert soon["plain"][0]["n_features_in_"] == "3"


def test_names_of_an_earlier_fit_are_forgotten():
    forest = ForestLabelRanker(5, random_state=0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    assert not hasattr(forest.fit(X, Y), "feature_names_in_")


RANKS = {
    "plain": Y,
    "unknown": np.where(Y == 2, np.nan, Y),
    "column after column": np.asfortranarray(Y),
    "whole numbers": Y.astype(int),
    "a list": Y.tolist(),
    "a table": pd.DataFrame(Y, columns=list("pqrs")),
    "no row": Y[:0],
    "one column": Y[:, :1],
    "one dimension": Y[0],
    "too large": Y + 1,
    "too small": Y - 1,
    "infinite": np.where(Y == 2, np.inf, Y),
    "words": np.full(Y.shape, "word"),
}


@pytest.mark.parametrize("n_labels", [None, 4, 5])
def test_ranks_get_the_answer_of_validation(n_labels, monkeypatch):
    def answers():
        found = {}
        for name, given in RANKS.items():
            try:
                found[name] = str(check_ranks(given, n_labels=n_labels))
            except ValueError as error:
                found[name] = type(error).__name__, str(error)
        return found

    soon = answers()
    monkeypatch.setattr(_validation, "_are_plain", lambda *_: False)
    assert soon == answers()
    assert (check_ranks(Y) is Y) == (Y.dtype == np.float64)


@pytest.mark.parametrize(
    "wrong", [{"n_estimators": 0}, {"shrinkage": "much"}, {"bootstrap": 3}, {"max_depth": 0.5}]
)
def test_parameters_are_refused_in_the_words_of_scikit_learn(wrong):
    forest = ForestLabelRanker(**wrong)
    with pytest.raises(ValueError, match="parameter of ForestLabelRanker") as found:
        forest.fit(X, Y)
    with pytest.raises(ValueError, match="parameter of ForestLabelRanker") as expected:
        BaseEstimator._validate_params(forest)
    assert str(found.value) == str(expected.value)
