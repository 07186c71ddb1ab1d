"""Every multilabel ranker: scikit-learn's checks, and a zero point that is where it should be."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from prefero import BinaryRelevanceRanker, NeighborsMultilabelRanker, PairwiseMultilabelRanker
from prefero.checks import assert_valid_rankings
from prefero.consensus import borda, footrule_order, kemeny
from prefero.multilabel import mean_calibrated_ranks, metrics
from prefero.rankings import (
    calibrated_from_relevance,
    calibrated_from_scores,
    ranks_from_scores,
    split_calibrated,
    strict_calibrated,
    strict_ranks,
)

RANKERS = [
    NeighborsMultilabelRanker(),
    NeighborsMultilabelRanker("auto", gap="auto", weights="distance", loss="hamming"),
    PairwiseMultilabelRanker(),
    BinaryRelevanceRanker(),
]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=lambda r: str(r).split("(")[0])


def problem(seed=0, n=80, labels=4, missing=0.0):
    """Features, relevance, ranks inside both parts; and new instances."""
    rng = np.random.default_rng(seed)
    X, X_new = rng.normal(size=(n, 3)), rng.normal(size=(25, 3))
    scores = X @ rng.normal(size=(3, labels)) + 0.4 * rng.normal(size=(n, labels))
    scores[:, 1:][rng.random((n, labels - 1)) < missing] = np.nan
    relevance, ranks = split_calibrated(calibrated_from_scores(scores))
    return X, relevance, ranks, X_new


@parametrize_with_checks(RANKERS)
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn(estimator, check):
    check(estimator)


@every_ranker
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_predictions_agree_with_each_other(ranker, missing):
    X, relevance, ranks, X_new = problem(missing=missing)
    fitted = clone(ranker).fit(X, relevance, ranks)
    scores = fitted.decision_function(X_new)
    calibrated = fitted.predict_calibrated(X_new)
    assert np.isfinite(scores).all()
    assert_array_equal(fitted.predict(X_new), scores > 0)
    assert_array_equal(fitted.predict_ranks(X_new), strict_ranks(scores))
    assert_array_equal(calibrated, strict_calibrated(scores))
    assert_valid_rankings(calibrated, 5)
    assert_array_equal(split_calibrated(calibrated)[0], fitted.predict(X_new))
    assert_array_equal(split_calibrated(calibrated)[1], fitted.predict_ranks(X_new))
    best = np.argmin(fitted.predict_ranks(X_new), axis=1)
    assert_array_equal(fitted.predict_order(X_new, top=1)[:, 0], best)


@every_ranker
def test_every_ranker_learns(ranker):
    X, relevance, ranks, _ = problem(n=300)
    fitted = clone(ranker).fit(X[:200], relevance[:200], ranks[:200])
    assert fitted.score(X[200:], relevance[200:], ranks[200:]) > 0.6
    chance = np.mean(relevance[200:] != relevance[:200].mean(axis=0).round())
    assert metrics.hamming_loss(relevance[200:], fitted.predict(X[200:])) < 0.8 * chance


@every_ranker
def test_score_is_the_generalized_spearman_correlation(ranker):
    X, relevance, ranks, _ = problem()
    fitted = clone(ranker).fit(X, relevance, ranks)
    weight = np.arange(len(X))
    truth = calibrated_from_relevance(relevance, ranks)
    expected = metrics.calibrated_rho(truth, fitted.predict_calibrated(X), sample_weight=weight)
    assert_allclose(fitted.score(X, relevance, ranks, sample_weight=weight), expected)


@every_ranker
def test_copies_and_jobs_change_nothing(ranker):
    X, relevance, ranks, X_new = problem(missing=0.2)
    fitted = clone(ranker).fit(X, relevance, ranks)
    expected = fitted.decision_function(X_new)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X_new), expected)
    two = clone(ranker).set_params(n_jobs=2).fit(X, relevance, ranks)
    assert_array_equal(two.decision_function(X_new), expected)


@every_ranker
def test_order_of_rows_and_labels_changes_nothing(ranker):
    X, relevance, ranks, X_new = problem(missing=0.2)
    expected = clone(ranker).fit(X, relevance, ranks).decision_function(X_new)
    rows, columns = (np.random.default_rng(1).permutation(n) for n in relevance.shape)
    shuffled = clone(ranker).fit(
        X[rows], relevance[rows][:, columns], ranks_of(ranks[rows][:, columns])
    )
    assert_allclose(shuffled.decision_function(X_new), expected[:, columns], rtol=1e-4, atol=1e-6)


def ranks_of(ranks):
    """The same order in other numbers: only the order counts."""
    return ranks_from_scores(-(ranks**2), higher_is_better=True)


@every_ranker
def test_unknown_rows_and_labels(ranker):
    X, relevance, _, X_new = problem()
    relevance[:10] = np.nan
    relevance[:, 2] = np.nan
    with (
        pytest.warns(UserWarning, match=r"10 of 80 rows of y judge no label"),
        pytest.warns(UserWarning, match="judged in no row of y and will be predicted last: 2"),
    ):
        fitted = clone(ranker).fit(X, relevance)
    assert (fitted.predict(X_new)[:, 2] == 0).all()
    assert (fitted.predict_ranks(X_new)[:, 2] == 4).all()
    with pytest.raises(ValueError, match="nothing to learn"):
        clone(ranker).fit(X, np.full_like(relevance, np.nan))


@every_ranker
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_relevance_is_learned(ranker, value):
    X, relevance, _, X_new = problem()
    predicted = clone(ranker).fit(X, np.full_like(relevance, value)).predict(X_new)
    assert (predicted == value).all()


@every_ranker
def test_names_and_contradictions(ranker):
    pd = pytest.importorskip("pandas")
    X, relevance, ranks, X_new = problem()
    table = pd.DataFrame(relevance, columns=["pol", "eco", "<script>", "NA"])
    fitted = clone(ranker).fit(X, table, ranks)
    assert set(fitted.predict_order(X_new).ravel()) == set(table.columns)
    with pytest.raises(ValueError, match=r"ranks\[\d+\]: the relevant label '"):
        clone(ranker).fit(X, table, 5 - ranks)
    with pytest.raises(ValueError, match=r"y\[0\]: label 'pol' is 7"):
        clone(ranker).fit(X, table.assign(pol=7))


@every_ranker
def test_tools_of_scikit_learn(ranker):
    X, relevance, _, _ = problem()
    pipeline = make_pipeline(StandardScaler(), clone(ranker))
    assert cross_val_score(pipeline, X, relevance, cv=3).mean() > 0.3
    for scorer in (metrics.hamming_scorer, metrics.ranking_scorer, metrics.one_error_scorer):
        assert (cross_val_score(pipeline, X, relevance, cv=3, scoring=scorer) <= 0).all()


def test_search_over_gaps():
    X, relevance, _, _ = problem()
    search = GridSearchCV(
        NeighborsMultilabelRanker(), {"gap": [1, 8]}, scoring=metrics.hamming_scorer, cv=3
    ).fit(X, relevance)
    assert search.best_params_["gap"] in (1, 8)


def test_neighbors_give_mean_ranks():
    X, relevance, ranks, X_new = problem(missing=0.3)
    ranker = NeighborsMultilabelRanker(7, gap=3, weights="distance").fit(X, relevance, ranks)
    why = ranker.explain_neighbors(X_new)
    scores = ranker.decision_function(X_new)
    for i, (cases, weights) in enumerate(zip(why.cases, why.weights, strict=True)):
        C = ranker.calibrated_[cases]
        if np.isnan(C).all(axis=0).any():
            continue
        means = mean_calibrated_ranks(C, 3, sample_weight=weights)
        assert_allclose(why.mean_ranks[i], means[:-1], atol=1e-8)
        assert_allclose(why.zero_point[i], means[-1])
        assert_allclose(scores[i], means[-1] - means[:-1], atol=1e-8)
        assert_array_equal(why.relevance[i], split_calibrated(C)[0])


def test_a_label_that_no_neighbour_knows_gets_what_all_cases_say():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    relevance = [[1, np.nan], [0, np.nan], [0, 1], [1, 1]]
    ranker = NeighborsMultilabelRanker(2).fit(X, relevance)
    assert_array_equal(ranker.predict([[0.5]])[:, 1], [1])


def test_a_wide_gap_is_the_majority_vote_of_scikit_learn():
    X, relevance, _, X_new = problem(n=120)
    ours = NeighborsMultilabelRanker(7, gap=1000).fit(X, relevance)
    theirs = KNeighborsClassifier(7).fit(X, relevance)
    assert_array_equal(ours.predict(X_new), theirs.predict(X_new))


def test_auto_chooses_the_smallest_loss_over_cases_left_out():
    X, relevance, ranks, _ = problem(n=60)
    ranker = NeighborsMultilabelRanker("auto", gap="auto", loss="hamming", weights="distance")
    ranker.fit(X, relevance, ranks)
    losses = {
        (k, gap): loss for k, row in ranker.leave_one_out_.items() for gap, loss in row.items()
    }
    for (k, gap), loss in list(losses.items())[::17]:
        plain = clone(ranker).set_params(n_neighbors=k, gap=gap)
        predicted = []
        for i in range(len(X)):
            others = np.arange(len(X)) != i
            plain.fit(X[others], relevance[others], ranks[others])
            predicted.append(plain.predict(X[[i]])[0])
        assert_allclose(loss, metrics.hamming_loss(relevance, predicted))
    assert losses[ranker.n_neighbors_, ranker.gap_] == min(losses.values())


@pytest.mark.parametrize(
    "loss", ["spearman", "subset", "ranking", "one_error", "coverage", "average_precision"]
)
def test_every_loss_can_be_chosen(loss):
    X, relevance, ranks, X_new = problem(missing=0.2)
    ranker = NeighborsMultilabelRanker("auto", loss=loss).fit(X, relevance, ranks)
    assert len(ranker.leave_one_out_) > 5
    assert len(ranker.predict(X_new)) == len(X_new)


@pytest.mark.parametrize("aggregation", [borda, kemeny, footrule_order])
def test_other_aggregations_plug_in(aggregation):
    X, relevance, ranks, X_new = problem()
    ranker = NeighborsMultilabelRanker(5, aggregation=aggregation).fit(X, relevance, ranks)
    cases = ranker.explain_neighbors(X_new).cases
    expected = [aggregation(ranker.calibrated_[rows]) for rows in cases]
    assert_array_equal(ranker.predict_calibrated(X_new), expected)
    with pytest.raises(ValueError, match="needs gap=1"):
        NeighborsMultilabelRanker(aggregation=aggregation, gap=2).fit(X, relevance)


@pytest.mark.parametrize(
    "estimator",
    [SVC(kernel="poly", coef0=1), LinearSVC(), GaussianNB(), LogisticRegression(C=0.1)],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("kind", [PairwiseMultilabelRanker, BinaryRelevanceRanker])
def test_any_binary_classifier(kind, estimator):
    X, relevance, ranks, X_new = problem(missing=0.2)
    ranker = kind(estimator).fit(X, relevance, ranks)
    assert_valid_rankings(ranker.predict_calibrated(X_new), 5)
    assert ranker.score(X, relevance, ranks) > 0.5


def test_binary_relevance_scores_are_those_of_the_models():
    X, relevance, _, X_new = problem()
    ranker = BinaryRelevanceRanker(LinearSVC()).fit(X, relevance)
    for j in range(4):
        model = LinearSVC().fit(X, relevance[:, j])
        assert_allclose(ranker.decision_function(X_new)[:, j], model.decision_function(X_new))


def test_pairwise_votes_against_the_zero_point():
    X, relevance, ranks, X_new = problem()
    ranker = PairwiseMultilabelRanker(GaussianNB()).fit(X, relevance, ranks)
    votes = ranker.predict_pairwise(X_new).sum(axis=2)
    assert_allclose(ranker.decision_function(X_new), votes[:, :-1] - votes[:, -1:])
    with pytest.raises(ValueError, match="BinaryRelevanceRanker"):
        PairwiseMultilabelRanker(max_models=3).fit(X, relevance)
