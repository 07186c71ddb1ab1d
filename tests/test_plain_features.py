"""Features that validation would return as they are: fewer questions, the same answers."""

import warnings

import numpy as np
import pandas as pd
import pytest

from prefero import ForestLabelRanker, NeighborsLabelRanker, PairwiseLabelRanker
from prefero.base import _features
from prefero.datasets import make_label_ranking

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
    monkeypatch.setattr(_features, "_is_plain", lambda *_: False)
    assert soon == {name: answer(ranker, given) for name, given in GIVEN.items()}
    assert isinstance(soon["infinite"][0], tuple)
    assert isinstance(soon["plain"][0], list)


def test_only_what_is_plain_is_taken_as_it_is():
    forest = ForestLabelRanker(5, random_state=0).fit(X, Y)
    taken = {name for name, given in GIVEN.items() if _features._is_plain(forest, given)}
    assert taken == {"plain", "one row", "column after column", "every other row"}
    named = ForestLabelRanker(5, random_state=0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    assert not _features._is_plain(named, NEW)  # validation warns that the names are missing
