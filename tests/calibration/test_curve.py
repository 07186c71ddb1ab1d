"""Margins into probabilities, and what every ranker makes of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.isotonic import IsotonicRegression

import oracles
import prefero
from prefero import ConsensusLabelRanker, ConstraintLabelRanker, LogLinearLabelRanker, _core
from prefero.base import BaseLabelRanker
from prefero.calibration import (
    all_pairs,
    bucket_ranks,
    calibration_pairs,
    calibration_rows,
    expected_tau,
    learn_calibration,
    pair_numbers,
    pair_outcomes,
    probability_ahead,
    probability_tied,
    square,
)
from prefero.calibration._curve import _group_ends
from prefero.metrics import kendall_tau, pairwise_calibration_error
from prefero.preferences import PreferenceGraphs
from prefero.rankings import ranks_from_scores, strict_ranks
from strategies import edge_lists, noisy_linear_problem, rank_matrices

MARGINS = arrays(np.float64, (20, 3), elements=st.integers(-4, 4).map(float))
OUTCOMES = arrays(np.float64, (20, 3), elements=st.sampled_from([0.0, 0.5, 1.0, np.nan]))


def drawn_pairs(n, seed=0, slope=1.0, tied=0.0):
    """Margins, and outcomes that are right with probability 1/(1 + exp(-slope margin))."""
    rng = np.random.default_rng(seed)
    margins = 2 * rng.normal(size=(n, 3))
    came = np.where(rng.random((n, 3)) < 1 / (1 + np.exp(-slope * margins)), 1.0, 0.0)
    came[rng.random((n, 3)) < tied * np.exp(-np.abs(margins))] = 0.5
    return margins, came


@given(margins=MARGINS, outcomes=OUTCOMES, weight=arrays(float, 20, elements=st.integers(1, 3)))
def test_a_calibration_is_symmetric_and_never_turns_an_order_round(margins, outcomes, weight):
    calibration = learn_calibration(margins, outcomes, weight.astype(float))
    asked = np.arange(-60, 61) / 10
    before, tied = probability_ahead(calibration, asked), probability_tied(calibration, asked)
    assert_allclose(before + before[::-1], 1)
    assert_array_equal(tied, tied[::-1])
    assert (np.diff(before) >= 0).all()
    assert ((before >= 0) & (before <= 1) & (tied >= 0)).all()
    assert (tied <= 2 * np.minimum(before, 1 - before) + 1e-12).all()
    if not np.isnan(outcomes).all() and np.any(margins[~np.isnan(outcomes)]):
        assert_array_equal(np.sign(before - 0.5), np.sign(asked))
        inside = np.abs(asked) <= np.abs(margins[~np.isnan(outcomes)]).max()
        assert (np.diff(before[inside]) > 0).all()


def test_margins_apart_by_rounding_stay_in_order():
    rng = np.random.default_rng(0)
    margins = 1 + 1e-15 * rng.integers(0, 9, size=(200, 3))
    calibration = learn_calibration(margins, np.ones((200, 3)), rng.random(200))
    assert (np.diff(calibration[:, 0]) >= 0).all()


def test_many_rows_follow_the_symmetric_isotonic_regression():
    margins, outcomes = drawn_pairs(20000)
    margins = margins.round(1)
    both = np.concatenate([margins, -margins]).ravel(), np.concatenate([outcomes, 1 - outcomes])
    oracle = IsotonicRegression(out_of_bounds="clip").fit(both[0], both[1].ravel())
    asked = np.arange(-40, 41) / 10
    learned = probability_ahead(learn_calibration(margins, outcomes, np.ones(20000)), asked)
    assert_allclose(learned, oracle.predict(asked), atol=0.01)


@pytest.mark.parametrize("slope", [0.2, 1.0, 3.0])
def test_few_rows_are_enough_for_a_slope(slope):
    margins, outcomes = drawn_pairs(60, slope=slope)
    asked = np.array([0.5, 1.0, 2.0])
    learned = probability_ahead(learn_calibration(margins, outcomes, np.ones(60)), asked)
    assert_allclose(learned, 1 / (1 + np.exp(-slope * asked)), atol=0.1)


def test_what_never_failed_is_not_certain():
    margins = np.linspace(0.1, 1, 30)[:, None]
    calibration = learn_calibration(margins, np.ones((30, 1)), np.ones(30))
    assert 0.9 < calibration[-1, 1] < 0.999


def test_a_ranker_that_is_worse_than_chance_is_given_one_half():
    margins, outcomes = drawn_pairs(500, slope=-1.0)
    calibration = learn_calibration(margins, outcomes, np.ones(500))
    assert_allclose(calibration[:, 1], 0.5, atol=1e-3)


def test_a_weight_counts_like_so_many_rows():
    margins, outcomes = drawn_pairs(300, tied=0.8)
    weight = np.where(np.arange(300) % 2, 3.0, 1.0)
    asked = np.linspace(0, 3, 13)
    one = learn_calibration(margins, outcomes, weight)
    rows = np.repeat(np.arange(300), weight.astype(int))
    other = learn_calibration(margins[rows], outcomes[rows], np.ones(len(rows)))
    for read in (probability_ahead, probability_tied):
        assert_allclose(read(one, asked), read(other, asked), atol=0.03)


def test_ties_are_learned_where_there_are_any():
    margins, outcomes = drawn_pairs(20000, tied=0.8)
    asked = np.array([0.1, 0.5, 1.0, 2.0])
    tied = probability_tied(learn_calibration(margins, outcomes, np.ones(20000)), asked)
    assert_allclose(tied, 0.8 * np.exp(-asked), atol=0.04)
    outcomes[outcomes == 0.5] = 1
    assert not learn_calibration(margins, outcomes, np.ones(20000))[:, 2].any()


def test_without_pairs_nothing_is_known():
    empty = np.full((4, 3), np.nan)
    assert_array_equal(learn_calibration(empty, empty, np.ones(4)), [[0, 0.5, 0]])
    zero = learn_calibration(np.zeros((4, 3)), np.full((4, 3), 0.5), np.ones(4))
    assert_array_equal(zero, [[0, 0.5, 1]])


@given(rank_matrices(labels=(2, 5)))
def test_outcomes_of_ranks(Y):
    first, second = all_pairs(Y.shape[1])
    found = pair_outcomes(Y, all_pairs(Y.shape[1]))
    for row, outcomes in zip(Y, found, strict=True):
        for i, j, outcome in zip(first, second, outcomes, strict=True):
            known = not np.isnan(row[[i, j]]).any()
            expected = (1 + (row[i] < row[j]) - (row[i] > row[j])) / 2 if known else np.nan
            assert_array_equal(outcome, expected)


@given(edge_lists())
def test_outcomes_of_graphs(case):
    lists, n_labels = case
    indptr = np.cumsum([0, *map(len, lists)])
    graphs = PreferenceGraphs(indptr, [edge for edges in lists for edge in edges], n_labels)
    first, second = all_pairs(n_labels)
    found = pair_outcomes(graphs, all_pairs(n_labels))
    for edges, outcomes in zip(lists, found, strict=True):
        for i, j, outcome in zip(first, second, outcomes, strict=True):
            expected = 1 if (i, j) in edges else 0 if (j, i) in edges else np.nan
            assert_array_equal(outcome, expected)


def test_the_pairs_of_many_labels_are_a_fixed_draw():
    pairs = calibration_pairs(1000)
    assert len(pairs.first) == 2048
    assert (pairs.first < pairs.second).all()
    assert_array_equal(pairs, calibration_pairs(1000))
    assert_array_equal(np.column_stack(all_pairs(1000))[pair_numbers(pairs, 1000)].T, pairs)
    assert_array_equal(calibration_pairs(5), all_pairs(5))


@given(
    ends=st.lists(st.floats(0, 4), min_size=1, max_size=300, unique=True).map(sorted),
    margins=MARGINS,
    outcomes=OUTCOMES,
    weight=arrays(float, 20, elements=st.integers(1, 3)),
    hidden=arrays(bool, (20, 3)),
)
def test_groups_add_up_the_pairs_of_their_margins(ends, margins, outcomes, weight, hidden):
    ends, margins = np.array(ends), np.where(hidden, np.nan, margins / 3)
    expected = np.zeros((len(ends), 4))
    for (row, pair), margin in np.ndenumerate(margins):
        came = outcomes[row, pair]
        if not np.isnan(margin) and not np.isnan(came):
            group = min(np.searchsorted(ends, abs(margin)), len(ends) - 1)
            first = 1 - came if margin < 0 else came
            expected[group] += weight[row] * np.array([1, abs(margin), first, came == 0.5])
    assert_array_equal(_core.sum_groups(margins, outcomes, weight, ends), expected)


def test_many_pairs_are_grouped_as_those_that_are_sorted():
    size = np.abs(np.random.default_rng(0).normal(size=50_000))
    ends = _group_ends(size)
    assert ends[0] == size.min()
    assert ends[-1] == size.max()
    counts = np.bincount(np.searchsorted(ends, size))
    assert counts[0] == 1
    assert len(counts) == len(ends)
    # A group holds sixteen of the pairs that were sorted.
    assert_allclose(counts[1:-1], 50_000 / 256, rtol=1.5)


def test_rows_are_spread_over_the_data():
    assert_array_equal(calibration_rows(10, 3), np.arange(10))
    rows = calibration_rows(100_000, 45)
    assert len(rows) == 4096
    assert rows[0] == 0
    assert rows[-1] == 99_999
    assert len(calibration_rows(100_000, 2048)) == 512


PROBLEMS = st.integers(1, 4).flatmap(
    lambda c: st.tuples(
        st.permutations(range(1, c + 1)),
        arrays(np.float64, (1, c * (c - 1) // 2), elements=st.floats(0, 1)),
        arrays(np.float64, (1, c * (c - 1) // 2), elements=st.floats(0, 1)),
    )
)


def pair_tau_x(a, b):
    """Emond and Mason's correlation of two rankings of two labels."""
    first, second = ([1 if r[0] <= r[1] else -1, 1 if r[1] <= r[0] else -1] for r in (a, b))
    return (first[0] * second[0] + first[1] * second[1]) / 2


def expected_tau_x(ranks, before, tied):
    """Sum over the true orders of every pair of their probability times their tau-x."""
    total = 0.0
    for n, (i, j) in enumerate(zip(*all_pairs(len(ranks)), strict=True)):
        truths = {(1, 2): before[n] - tied[n] / 2, (2, 1): 1 - before[n] - tied[n] / 2}
        truths[1, 1] = tied[n]
        total += sum(p * pair_tau_x(truth, (ranks[i], ranks[j])) for truth, p in truths.items())
    return total


@given(PROBLEMS)
def test_buckets_have_the_greatest_expected_tau_x_of_all_that_keep_the_order(problem):
    order, before, tied = problem
    ranks = np.array([order])
    tied = np.minimum(tied, 2 * np.minimum(before, 1 - before))
    c = len(order)
    keeping = [
        buckets
        for buckets in product(range(1, c + 1), repeat=c)
        if all(buckets[i] <= buckets[j] for i in range(c) for j in range(c) if order[i] < order[j])
    ]
    best = max(expected_tau_x(buckets, before[0], tied[0]) for buckets in keeping)
    found = bucket_ranks(ranks, before, tied)[0]
    assert expected_tau_x(found, before[0], tied[0]) == pytest.approx(best, abs=1e-6)
    assert_array_equal(found, [1 + sum(found < rank) for rank in found])


def test_no_ties_without_reason():
    before, none = np.array([[0.5, 0.5, 0.5]]), np.zeros((1, 3))
    assert_array_equal(bucket_ranks(np.array([[2, 1, 3]]), before, none), [[2, 1, 3]])


@given(PROBLEMS)
def test_reliability_is_the_mean_tau_of_the_rankings_expected(problem):
    order, before, _ = problem
    c = len(order)
    matrix = square(before, 1 - before, 0.5)[0]
    agreement = [2 * matrix[i, j] - 1 for i in range(c) for j in range(c) if order[i] < order[j]]
    expected = np.mean(agreement) if agreement else 0.0
    assert_allclose(expected_tau(np.array([order]), before), expected, atol=1e-12)


class Linear(BaseLabelRanker):
    """Scores are features; what was seen in training is remembered too well."""

    calibrate = True

    def __init__(self, warm_start=False):
        self.warm_start = warm_start

    def _fit(self, X, ranks, weight):
        self.seen_ = {tuple(row): ranks for row, ranks in zip(X, ranks, strict=True)}

    def _decision(self, X):
        known = [self.seen_.get(tuple(row)) for row in X]
        return np.array(
            [row if ranks is None else -100 * ranks for row, ranks in zip(X, known, strict=True)]
        )


def noisy_scores(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, strict_ranks(X + rng.gumbel(size=(n, 4)))


@pytest.mark.parametrize("n", [500, 4000])
def test_probabilities_come_from_rows_that_were_not_seen(n):
    X, Y = noisy_scores(n)
    X_new, Y_new = noisy_scores(2000, seed=1)
    probability = Linear().fit(X, Y).predict_pairwise(X_new)
    assert pairwise_calibration_error(Y_new, probability) < 0.03
    margins = X_new[:, :, None] - X_new[:, None, :]
    assert_allclose(probability, 1 / (1 + np.exp(-margins)), atol=0.08)


class Free(Linear):
    """Tells what it would have said of unseen rows, and hands something over to do so."""

    def _fit(self, X, ranks, weight):
        super()._fit(X, ranks, weight)
        self._held_out = X
        self.fits_ = getattr(self, "fits_", 0) + 1

    def _held_out_scores(self, X, target, weight, rows):
        return self._held_out[rows]


class OwnMargins(Linear):
    """Has margins of its own, twice the difference of the scores."""

    def _margins(self, X):
        first, second = all_pairs(4)
        scores = self._decision(X)
        return 2 * (scores[:, first] - scores[:, second])

    def _held_out_margins(self, X, target, weight, rows):
        first, second = all_pairs(4)
        return 2 * (X[rows][:, first] - X[rows][:, second])


def test_scores_and_margins_at_hand_are_used():
    X, Y = noisy_scores(600)
    X_new = noisy_scores(50, seed=1)[0]
    free = Free().fit(X, Y)
    assert free.fits_ == 1
    assert "_held_out" not in vars(free)
    own = OwnMargins().fit(X, Y)
    assert_allclose(own.predict_pairwise(X_new), free.predict_pairwise(X_new), atol=1e-6)


class Tying(Free):
    """Has a model of ties that knows only of the first pair."""

    def _tie_shares(self, X):
        return np.tile([1.0, 0, 0, 0, 0, 0], (len(X), 1))


def test_a_model_of_ties_takes_the_place_of_margins():
    X, Y = noisy_scores(300)
    Y[::3, 3] = Y[::3, 2]  # without a tie in training none is predicted
    ranker = Tying().fit(X, Y)
    near, far = [1.0, 1.01, -3.0, -6.0], [1.0, 9.0, -3.0, -6.0]
    assert_array_equal(ranker.predict_buckets([near, far]), [[1, 1, 3, 4], [2, 1, 3, 4]])
    tied = ranker.predict_ties([near])[0]
    assert_array_equal(tied > 0.9, np.eye(4) + np.eye(4)[[1, 0, 2, 3]] * (np.arange(4) < 2) > 0)


def test_a_ranker_that_goes_on_is_calibrated_on_rows_left_out():
    X, Y = noisy_scores(400)
    ranker = Linear(warm_start=True).fit(X, Y)
    probability = ranker.fit(X, Y).predict_pairwise(noisy_scores(50, seed=1)[0])
    assert probability.max() < 0.995


class Unsure(Linear):
    calibrate = False


def test_without_calibration_there_are_no_probabilities():
    X, Y = noisy_scores(20)
    ranker = Unsure().fit(X, Y)
    assert not hasattr(ranker, "calibration_")
    for name in ("pairwise", "ties", "buckets", "expected_tau", "partial"):
        with pytest.raises(AttributeError, match=f"no predict_{name}, .* set calibrate=True and"):
            getattr(ranker, f"predict_{name}")
    assert "how likely" in Unsure.predict_pairwise.__doc__
    bare = Linear().fit(X, Y)
    del bare.calibration_
    with pytest.raises(AttributeError, match="not calibrated: fit it again"):
        bare.predict_buckets  # noqa: B018
    assert hasattr(Linear(), "predict_buckets")


def test_a_single_row_and_a_single_label_leave_all_open():
    one = ConsensusLabelRanker().fit([[0.0]], [[1, 2]])
    assert_array_equal(one.predict_pairwise([[0.0]]), np.full((1, 2, 2), 0.5))
    assert_array_equal(one.predict_expected_tau([[0.0]]), [0])
    assert_array_equal(one.predict_buckets([[0.0]]), [[1, 2]])
    label = ConsensusLabelRanker().fit([[0.0], [1.0]], [[1], [1]])
    assert_array_equal(label.predict_pairwise([[0.0]]), [[[0.5]]])
    assert_array_equal(label.predict_buckets([[0.0]]), [[1]])


def test_labels_never_seen_are_even_with_all():
    X = np.zeros((6, 1))
    Y = np.array([[1, 2, np.nan]] * 6)
    with pytest.warns(UserWarning, match="ranked in no row"):
        ranker = ConsensusLabelRanker().fit(X, Y)
    probability = ranker.predict_pairwise(X[:1])[0]
    assert probability[0, 1] > 0.5
    assert_array_equal(probability[2], 0.5)
    assert_array_equal(ranker.predict(X[:1]), [[1, 2, 3]])


@pytest.mark.parametrize("make", [ConstraintLabelRanker, LogLinearLabelRanker])
def test_a_ranker_of_graphs_learns_ties_from_ranks(make):
    X, Y = noisy_linear_problem(80, 3, 4)
    tied = np.ceil(np.asarray(Y) / 2)
    ranker = make().fit(X, tied)
    assert ranker.predict_ties(X)[:, 0, 1].max() > 0.4
    assert np.mean(ranker.predict_buckets(X).sum(axis=1) < 10) > 0.5
    graphs = make().fit(X, PreferenceGraphs.from_ranks(tied))
    assert not graphs.predict_ties(X)[:, 0, 1].any()
    assert graphs.predict_expected_tau(X).mean() > 0.5


def test_buckets_never_turn_the_predicted_order_round():
    X, Y = noisy_linear_problem(200, 3, 5)
    utilities = X @ np.random.default_rng(1).normal(size=(3, 5))
    tied = ranks_from_scores(utilities.round(), higher_is_better=True)
    for ranks, least_gain in ((Y, 0.0), (tied, 0.1)):
        ranker = LogLinearLabelRanker().fit(X[:100], ranks[:100])
        strict, buckets = ranker.predict(X[100:]), ranker.predict_buckets(X[100:])
        assert not any(oracles.pair_counts(*rows)[1] for rows in zip(strict, buckets, strict=True))
        before, after = (kendall_tau(ranks[100:], p, variant="x") for p in (strict, buckets))
        assert after >= before + least_gain
    assert_array_equal(np.unique(strict), np.arange(1, 6))


@pytest.mark.parametrize("name", [name for name in prefero._PUBLIC if name.endswith("LabelRanker")])
def test_every_label_ranker_may_do_without_probabilities(name):
    if name.startswith(("Auto", "Stacking")):
        pytest.skip("A stack is made of out-of-fold margins: it is calibrated without more fits.")
    X, Y = noisy_linear_problem(30, 2, 3)
    ranker = getattr(prefero, name)(calibrate=False)
    assert not hasattr(ranker.fit(X, Y), "predict_pairwise")
    assert hasattr(getattr(prefero, name)().fit(X, Y), "predict_pairwise")
