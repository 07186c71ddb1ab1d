"""Explanations: their parts sum up, and they name what decided."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from prefero import (
    ConsensusLabelRanker,
    ConstraintLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    TreeLabelRanker,
)
from prefero.inspection import explain
from prefero.rankings import drop_labels

LABELS = ["P", "Q", "R"]
RANKERS = {
    "tree": TreeLabelRanker(max_depth=4),
    "forest": ForestLabelRanker(20, random_state=0),
    "loglinear": make_pipeline(StandardScaler(), LogLinearLabelRanker()),
    "constraint": ConstraintLabelRanker(random_state=0),
    "pairwise": PairwiseLabelRanker(),
    "neighbors": NeighborsLabelRanker(7),
    "consensus": ConsensusLabelRanker(),
}
EXACT = ["tree", "forest", "loglinear", "constraint", "pairwise"]


@pytest.fixture(scope="module")
def data():
    """Only ``x`` decides between P and Q; ``z`` moves R alone."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=80), "z": rng.normal(size=80)})
    scores = np.column_stack([X.x, -X.x, 0.3 * X.z])
    return X, pd.DataFrame(scores, columns=LABELS).rank(axis=1, ascending=False)


@pytest.fixture(scope="module", params=RANKERS)
def explained(request, data):
    X, Y = data
    row = int(np.argmax(X.x))
    model = RANKERS[request.param].fit(X, Y)
    return request.param, model, row, explain(model, X, row, pair=("P", "Q"))


def test_the_deciding_feature_comes_first(explained):
    name, _, _, why = explained
    if name == "consensus":
        assert why.effects == []
    else:
        assert why.effects[0].feature == "x"
        assert why.effects[0].amount > 0
        assert why.margin > 0
        assert "P is ahead of Q" in why.summary()


def test_the_parts_sum_up_to_the_margin(explained, data):
    name, model, row, why = explained
    scores = model.decision_function(data[0])[row]
    if name != "pairwise":
        assert why.margin == pytest.approx(scores[0] - scores[1])
    if name in EXACT:
        assert why.base + sum(e.amount for e in why.effects) == pytest.approx(why.margin)
    else:
        assert why.base is None


def test_log_odds_are_those_of_the_model_and_side_with_the_probability(data):
    X, Y = data
    model = RANKERS["pairwise"].fit(X, Y)
    for pair in (("P", "Q"), ("Q", "P"), ("R", "P")):
        why = explain(model, X, 5, pair=pair)
        a, b = (list(Y.columns).index(label) for label in pair)
        own = model._pairwise_matrix(X.to_numpy())[5, a, b]
        assert why.margin == pytest.approx(np.log(own / (1 - own)))
        assert (why.margin > 0) == (why.probability > 0.5)


def test_a_swapped_pair_turns_everything_round(explained, data):
    _, model, row, why = explained
    other = explain(model, data[0], row, pair=("Q", "P"))
    assert other.margin == pytest.approx(-why.margin)
    assert other.summary() == why.summary()
    assert [e.feature for e in other.effects] == [e.feature for e in why.effects]


def test_the_default_pair_is_the_first_two(explained, data):
    _, model, row, _ = explained
    why = explain(model, data[0], row)
    assert list(why.pair) == why.order[:2]
    assert why.margin >= 0


def test_text_and_dict_hold_the_same(explained):
    name, _model, row, why = explained
    read = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert read["pair"] == ["P", "Q"]
    assert read["row"] == row
    assert len(read["effects"]) == len(why.effects)
    text = why.to_text()
    assert why.summary() in text
    assert (read["evidence"] is not None) == (name in ("tree", "forest", "neighbors"))


def test_evidence_of_each_kind(data):
    X, Y = data
    path = explain(RANKERS["tree"].fit(X, Y), X, 3, pair=("P", "Q")).evidence
    assert path[0]["test"] == "(all)"
    assert path[0]["rows"] == len(X)
    assert all(path["rows"][1:] < path["rows"][:-1])
    forest = explain(RANKERS["forest"].fit(X, Y), X, 3, pair=("P", "Q"))
    assert forest.evidence["share of trees"].sum() == pytest.approx(1)
    assert forest.evidence[0]["share of trees"] == pytest.approx(1.0)
    assert 0.5 < forest.probability < 1
    neighbors = explain(RANKERS["neighbors"].fit(X, Y), X, 3, pair=("P", "Q")).evidence
    assert neighbors[0]["case"] == 3
    assert list(neighbors["distance"]) == sorted(neighbors["distance"])


@pytest.mark.parametrize("missing", [0, 0.4])
@pytest.mark.parametrize("ranker", [TreeLabelRanker(), ForestLabelRanker(15, random_state=1)])
def test_effects_of_trees_are_the_decision_function(ranker, missing):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    X["kind"] = pd.Categorical(rng.choice(["u", "v", "w"], 90))
    X.loc[::7, "a"] = np.nan
    Y = drop_labels(np.argsort(rng.normal(size=(90, 4)), axis=1) + 1.0, missing, random_state=0)
    Y = Y[~np.isnan(Y).all(axis=1)]
    model = ranker.fit(X[: len(Y)], Y)
    base, effects = model.explain_scores(X)
    assert effects.shape == (90, 4, 4)
    np.testing.assert_allclose(base + effects.sum(axis=1), model.decision_function(X), atol=1e-6)


def test_columns_of_words_are_one_feature(data):
    X, Y = data
    X = X.assign(size=np.where(X.x > 0, "large", "small")).drop(columns="x")
    columns = ColumnTransformer(
        [("text", OneHotEncoder(sparse_output=False), ["size"]), ("z", StandardScaler(), ["z"])],
        verbose_feature_names_out=False,
    )
    model = Pipeline([("columns", columns), ("ranker", PairwiseLabelRanker())]).fit(X, Y)
    why = explain(model, X, 0, pair=("P", "Q"))
    assert [e.feature for e in why.effects] == ["size", "z"]
    assert why.effects[0].value == X["size"].iloc[0]


def test_names_and_arrays(data):
    X, Y = data
    why = explain(TreeLabelRanker().fit(X.to_numpy(), Y.to_numpy()), X.to_numpy().tolist(), -1)
    assert {e.feature for e in why.effects} <= {"x0", "x1"}
    assert why.row == len(X) - 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"row": 80}, "row must be one of 0..79"),
        ({"pair": ("P", "S")}, "no label 'S'; there are P, Q, R"),
        ({"pair": ("P", "P")}, "two labels, got 'P' twice"),
    ],
)
def test_what_cannot_be_explained(data, options, sentence):
    X, Y = data
    model = ConsensusLabelRanker().fit(X, Y)
    with pytest.raises(ValueError, match=sentence):
        explain(model, X, **options)


def test_display(data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    X, Y = data
    why = explain(RANKERS["forest"].fit(X, Y), X, 3, pair=("P", "Q"))
    display = why.plot(top=1)
    assert len(display.amounts) == 3  # the feature, one more, and the base
    assert sum(display.amounts) == pytest.approx(why.margin)
    assert next(text.get_text() for text in display.ax_.get_yticklabels()).startswith("x = ")
    matplotlib.pyplot.close(display.figure_)
