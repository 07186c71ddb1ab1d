"""Words as features of trees and forests, and what they say to a sparse matrix."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix

from prefero import ForestLabelRanker, LogLinearLabelRanker, TreeLabelRanker, load, save

COLORS = ["red", "green", "blue", "red", "green", "blue"] * 5
RANKERS = [TreeLabelRanker(random_state=0), ForestLabelRanker(5, random_state=0)]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=lambda r: type(r).__name__)


def frame(colors=COLORS, **columns):
    numbers = np.linspace(0, 1, len(colors))
    return pd.DataFrame({"color": colors, "size": numbers, **columns})


def ranks(colors=COLORS):
    first = {"red": [1, 2, 3], "green": [2, 1, 3], "blue": [3, 2, 1]}
    return np.array([first[color] for color in colors])


def forms_of_words():
    words = frame()
    yield "object", words.astype({"color": object})
    yield "string", words.astype({"color": "string"})
    yield "array of objects", words.to_numpy(dtype=object)
    yield "list", words.to_numpy(dtype=object).tolist()
    yield "array of texts", words.to_numpy(dtype=str)


@every_ranker
@pytest.mark.parametrize(("form", "X"), list(forms_of_words()), ids=lambda part: str(part)[:16])
def test_words_are_categories_in_any_table(ranker, form, X):
    expected = ranker.fit(frame().astype({"color": "category"}), ranks())
    wanted = expected.decision_function(frame().astype({"color": "category"}))
    model = ranker.fit(X, ranks())
    assert model.nominal_features_.tolist() == [True, False], form
    assert_array_equal(model.decision_function(X), wanted)


@every_ranker
def test_missing_and_unknown_words_are_missing_values(ranker, tmp_path):
    X = frame([*COLORS[:24], None, np.nan, *COLORS[:4]]).astype({"color": object})
    Y = np.vstack([ranks(COLORS[:24]), [[1, 2, 3]] * 2, ranks(COLORS[:4])])
    model = ranker.fit(X, Y)
    assert model.categories_ == {0: ["blue", "green", "red"]}
    asked = frame(["violet", None, np.nan]).astype({"color": object})
    asked["size"] = 0.5
    scores = model.decision_function(asked)
    assert_array_equal(scores[0], scores[1])
    assert_array_equal(scores[0], scores[2])
    texts = frame(["violet", None]).astype({"color": "string"}).assign(size=0.5)
    assert_array_equal(model.decision_function(texts), scores[:2])
    save(model, tmp_path / "m.prefero")
    assert_array_equal(load(tmp_path / "m.prefero").decision_function(asked), scores)


def test_numbers_written_as_texts_stay_numbers():
    X = pd.DataFrame({"a": ["1", "2.5", "-3"], "b": [1, 2, 3]}, dtype=object)
    model = TreeLabelRanker().fit(X, [[1, 2], [1, 2], [2, 1]])
    assert not model.nominal_features_.any()
    assert_array_equal(model.predict(X), model.predict(X.astype(float)))


@pytest.mark.parametrize(
    "ranker", [TreeLabelRanker(categorical_features=None), LogLinearLabelRanker()]
)
def test_words_are_no_features_where_none_may_be(ranker):
    name = type(ranker).__name__
    with pytest.raises(ValueError, match=f"word 'red' in column 'color', row 0, and {name} takes"):
        ranker.fit(frame(), ranks())
    with pytest.raises(ValueError, match="word 'b' in column 1, row 1"):
        ranker.fit(np.array([["1", "2"], ["3", "b"]], dtype=object), [[1, 2], [2, 1]])


def test_too_many_words_are_refused_by_name():
    words = [f"prompt {number}" for number in range(300)]
    X = frame(words).rename(columns={"color": "prompt"})
    with pytest.raises(ValueError, match="Feature 'prompt' has 300 categories"):
        ForestLabelRanker(2).fit(X, ranks((COLORS * 10)[:300]))


@every_ranker
def test_a_sparse_matrix_is_refused_with_advice(ranker):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(TypeError, match=r"sparse matrix, which .*Ranker does not take.*toarray"):
        ranker.fit(csr_matrix(X), ranks())
    model = ranker.fit(X, ranks())
    with pytest.raises(TypeError, match="sparse matrix"):
        model.predict(csr_matrix(X))
