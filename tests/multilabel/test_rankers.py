"""Every multilabel ranker: scikit-learn's checks, and where they put the virtual label."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from prefero import (
    BinaryRelevanceRanker,
    ConsensusMultilabelRanker,
    NeighborsMultilabelRanker,
    PairwiseMultilabelRanker,
)
from prefero.checks import (
    MULTILABEL_RANKER_AXIOMS,
    assert_valid_rankings,
    check_multilabel_ranker,
)
from prefero.consensus import borda, footrule_order, kemeny
from prefero.metrics import multilabel as metrics
from prefero.multilabel import mean_calibrated_ranks
from prefero.rankings import (
    calibrated_from_relevance,
    calibrated_from_scores,
    split_calibrated,
    strict_calibrated,
)
from strategies import calibrated_matrices

RANKERS = [
    NeighborsMultilabelRanker(),
    NeighborsMultilabelRanker("auto", gap_amplification="auto", weights="distance", loss="hamming"),
    PairwiseMultilabelRanker(),
    BinaryRelevanceRanker(),
    ConsensusMultilabelRanker(),
]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=lambda r: str(r).split("(")[0])
# All but the last, which does not look at the features.
every_learner = pytest.mark.parametrize("ranker", RANKERS[:-1], ids=lambda r: str(r).split("(")[0])


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
@pytest.mark.parametrize("axiom", MULTILABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
def test_axiom(ranker, axiom):
    axiom(ranker)


class HalfHeartedRanker(BinaryRelevanceRanker):
    """Breaks one promise: it leaves out the last relevant label, but ranks it as relevant."""

    def predict(self, X):
        relevant = super().predict(X)
        relevant[np.arange(len(relevant)), np.argmax(self.predict_ranks(X) * relevant, axis=1)] = 0
        return relevant


def test_a_broken_promise_is_found():
    with pytest.raises(AssertionError, match="its score is positive"):
        check_multilabel_ranker(HalfHeartedRanker())


@every_learner
def test_every_ranker_learns(ranker):
    X, relevance, ranks, _ = problem(n=300)
    fitted = clone(ranker).fit(X[:200], relevance[:200], ranks[:200])
    assert fitted.score(X[200:], relevance[200:], ranks[200:]) > 0.6
    chance = np.mean(relevance[200:] != relevance[:200].mean(axis=0).round())
    assert metrics.hamming_loss(relevance[200:], fitted.predict(X[200:])) < 0.8 * chance


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
def test_errors_name_labels(ranker):
    pd = pytest.importorskip("pandas")
    X, relevance, ranks, X_new = problem()
    table = pd.DataFrame(relevance, columns=["pol", "eco", "<script>", "NA"])
    with pytest.raises(NotFittedError):
        clone(ranker).predict_order(X_new)
    with pytest.raises(ValueError, match=r"ranks\[\d+\]: the relevant label '"):
        clone(ranker).fit(X, table, 5 - ranks)
    with pytest.raises(ValueError, match=r"y\[0\]: label 'pol' is 7"):
        clone(ranker).fit(X, table.assign(pol=7))


@every_learner
def test_pipelines_and_scorers(ranker):
    X, relevance, _, _ = problem()
    pipeline = make_pipeline(StandardScaler(), clone(ranker)).fit(X, relevance)
    scores, sets = pipeline.decision_function(X), pipeline.predict(X)
    assert metrics.hamming_scorer(pipeline, X, relevance) == -metrics.hamming_loss(relevance, sets)
    assert metrics.subset_scorer(pipeline, X, relevance) == -metrics.subset_loss(relevance, sets)
    for name in ("ranking", "one_error", "coverage", "average_precision"):
        measure = getattr(metrics, "ranking_loss" if name == "ranking" else name)
        sign = 1 if name == "average_precision" else -1
        scorer = getattr(metrics, f"{name}_scorer")
        assert scorer(pipeline, X, relevance) == sign * measure(relevance, scores)
    assert cross_val_score(pipeline, X, relevance, cv=3).mean() > 0.3


def test_ranks_are_routed_through_cross_validation():
    X, relevance, ranks, _ = problem()
    splits = list(KFold(4).split(X))
    with config_context(enable_metadata_routing=True):
        ranker = NeighborsMultilabelRanker(5).set_fit_request(ranks=True)
        ranker.set_score_request(ranks=True)
        found = cross_val_score(ranker, X, relevance, cv=splits, params={"ranks": ranks})
    expected = [
        NeighborsMultilabelRanker(5)
        .fit(X[train], relevance[train], ranks[train])
        .score(X[test], relevance[test], ranks[test])
        for train, test in splits
    ]
    assert_allclose(found, expected)


def test_search_over_gaps_finds_the_smallest_hamming_loss():
    X, relevance, _, _ = problem()
    gaps = [0.5, 8]
    search = GridSearchCV(
        NeighborsMultilabelRanker(),
        {"gap_amplification": gaps},
        scoring=metrics.hamming_scorer,
        cv=3,
    ).fit(X, relevance)
    of_gap = [
        cross_val_score(
            NeighborsMultilabelRanker(gap_amplification=gap),
            X,
            relevance,
            cv=3,
            scoring=metrics.hamming_scorer,
        ).mean()
        for gap in gaps
    ]
    assert of_gap[0] != of_gap[1]
    assert search.best_params_["gap_amplification"] == gaps[int(np.argmax(of_gap))]


def test_neighbors_give_mean_ranks():
    X, relevance, ranks, X_new = problem(missing=0.2)
    ranker = NeighborsMultilabelRanker(
        9, gap_amplification=3, weights="distance", threshold=None
    ).fit(X, relevance, ranks)
    why = ranker.explain_neighbors(X_new)
    scores = ranker.decision_function(X_new)
    for i, (cases, weights) in enumerate(zip(why.cases, why.weights, strict=True)):
        C = ranker.calibrated_[cases]
        means = mean_calibrated_ranks(C, 3, sample_weight=weights)
        assert_allclose(why.mean_ranks[i], means[:-1], atol=1e-8)
        assert_allclose(why.virtual_label[i], means[-1])
        assert_allclose(scores[i], means[-1] - means[:-1], atol=1e-8)
        assert_array_equal(why.relevance[i], split_calibrated(C)[0])


def test_a_wide_gap_is_the_majority_vote_of_scikit_learn():
    X, relevance, _, X_new = problem(n=120)
    ours = NeighborsMultilabelRanker(7, gap_amplification=1000, threshold=None).fit(X, relevance)
    theirs = KNeighborsClassifier(7).fit(X, relevance)
    assert_array_equal(ours.predict(X_new), theirs.predict(X_new))


def test_auto_chooses_the_smallest_loss_over_cases_left_out():
    X, relevance, ranks, _ = problem(n=60)
    ranker = NeighborsMultilabelRanker(
        "auto", gap_amplification="auto", loss="hamming", weights="distance", threshold=None
    )
    ranker.fit(X, relevance, ranks)
    losses = {
        (k, gap): loss for k, row in ranker.leave_one_out_.items() for gap, loss in row.items()
    }
    for (k, gap), loss in list(losses.items())[::17]:
        plain = clone(ranker).set_params(n_neighbors=k, gap_amplification=gap)
        predicted = []
        for i in range(len(X)):
            others = np.arange(len(X)) != i
            plain.fit(X[others], relevance[others], ranks[others])
            predicted.append(plain.predict(X[[i]])[0])
        assert_allclose(loss, metrics.hamming_loss(relevance, predicted))
    assert losses[ranker.n_neighbors_, ranker.gap_amplification_] == min(losses.values())


@pytest.mark.parametrize("weights", ["uniform", "distance", "dudani"])
@pytest.mark.parametrize("n_neighbors", [3, 10, "auto"])
@settings(max_examples=30)
@given(calibrated_matrices(rows=(4, 8), labels=(3, 3), missing=False), st.randoms())
def test_weight_two_is_the_case_twice(n_neighbors, weights, calibrated, chance):
    relevance, ranks = split_calibrated(calibrated)
    n = len(relevance)
    X, X_new = (np.array([[chance.randrange(4) for _ in "ab"] for _ in range(n)]) for _ in "XY")
    weight = [chance.randrange(1, 4) for _ in range(n)]
    ranker = NeighborsMultilabelRanker(n_neighbors, gap_amplification="auto", weights=weights)
    repeated = clone(ranker).fit(
        *(np.repeat(part, weight, axis=0) for part in (X, relevance, ranks))
    )
    ranker.fit(X, relevance, ranks, sample_weight=weight)
    assert (ranker.n_neighbors_, ranker.gap_amplification_) == (
        repeated.n_neighbors_,
        repeated.gap_amplification_,
    )
    for k, losses in ranker.leave_one_out_.items():
        assert losses == pytest.approx(repeated.leave_one_out_[k])
    assert_allclose(ranker.decision_function(X_new), repeated.decision_function(X_new), atol=1e-8)


LOSSES = {
    "spearman": lambda C, scores: -metrics.calibrated_rho(C, strict_calibrated(scores)),
    "subset": lambda C, scores: metrics.subset_loss(split_calibrated(C)[0], scores > 0),
    "ranking": lambda C, scores: metrics.ranking_loss(split_calibrated(C)[0], scores),
    "one_error": lambda C, scores: metrics.one_error(split_calibrated(C)[0], scores),
    "coverage": lambda C, scores: metrics.coverage(split_calibrated(C)[0], scores),
    "average_precision": lambda C, scores: (
        -metrics.average_precision(split_calibrated(C)[0], scores)
    ),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_that_of_the_cases_left_out(loss):
    X, relevance, ranks, _ = problem(n=40, missing=0.2)
    ranker = NeighborsMultilabelRanker("auto", loss=loss).fit(X, relevance, ranks)
    k = 3
    plain = NeighborsMultilabelRanker(k, threshold=None)
    scores = np.empty_like(relevance)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        plain.fit(X[others], relevance[others], ranks[others])
        scores[i] = plain.decision_function(X[[i]])[0]
    expected = LOSSES[loss](calibrated_from_relevance(relevance, ranks), scores)
    assert_allclose(ranker.leave_one_out_[k][1.0], expected)
    assert (
        min(ranker.leave_one_out_.values(), key=lambda row: row[1.0])
        == (ranker.leave_one_out_[ranker.n_neighbors_])
    )


@pytest.mark.parametrize("aggregation", [borda, kemeny, footrule_order])
def test_other_aggregations_plug_in(aggregation):
    X, relevance, ranks, X_new = problem()
    ranker = NeighborsMultilabelRanker(5, aggregation=aggregation).fit(X, relevance, ranks)
    cases = ranker.explain_neighbors(X_new).cases
    expected = [aggregation(ranker.calibrated_[rows]) for rows in cases]
    assert_array_equal(ranker.predict_calibrated(X_new), expected)
    with pytest.raises(ValueError, match="needs gap_amplification=1"):
        NeighborsMultilabelRanker(aggregation=aggregation, gap_amplification=2).fit(X, relevance)


@pytest.mark.parametrize("aggregation", ["mean", borda, kemeny])
def test_aggregations_agree_on_labels_that_no_neighbour_knows(aggregation):
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    for judged in (0, 1):
        relevance = [[1, np.nan], [0, np.nan], [0, judged], [1, judged]]
        ranker = NeighborsMultilabelRanker(2, aggregation=aggregation).fit(X, relevance)
        assert_array_equal(ranker.predict([[0.5]])[:, 1], [judged])


def test_weights_that_are_all_zero_leave_the_mean_of_all_cases():
    X, relevance, ranks, X_new = problem()
    ranker = NeighborsMultilabelRanker(5, weights=np.zeros_like, threshold=None).fit(
        X, relevance, ranks
    )
    means = mean_calibrated_ranks(ranker.calibrated_)
    why = ranker.explain_neighbors(X_new)
    assert_allclose(why.mean_ranks, np.tile(means[:-1], (len(X_new), 1)))
    assert_allclose(why.virtual_label, means[-1])
    assert_allclose(ranker.decision_function(X_new)[0], means[-1] - means[:-1], atol=1e-8)


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
    ranker = BinaryRelevanceRanker(LinearSVC(), threshold=None).fit(X, relevance)
    for j in range(4):
        model = LinearSVC().fit(X, relevance[:, j])
        assert_allclose(ranker.decision_function(X_new)[:, j], model.decision_function(X_new))


def test_pairwise_votes_against_the_virtual_label():
    X, relevance, ranks, X_new = problem()
    ranker = PairwiseMultilabelRanker(GaussianNB(), threshold=None).fit(X, relevance, ranks)
    votes = ranker.predict_pairwise(X_new).sum(axis=2)
    assert_allclose(ranker.decision_function(X_new), votes[:, :-1] - votes[:, -1:])
    with pytest.raises(ValueError, match="BinaryRelevanceRanker"):
        PairwiseMultilabelRanker(max_models=3).fit(X, relevance)
