"""Checks that a label ranker keeps its promises, for this package and for third parties.

``check_label_ranker(MyRanker())`` runs scikit-learn's own suite and then the axioms of
ranking on real rank matrices. With pytest, one test an axiom::

    @pytest.mark.parametrize("axiom", LABEL_RANKER_AXIOMS, ids=lambda axiom: axiom.__name__)
    def test_axiom(axiom):
        axiom(MyRanker())
"""

import pickle
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from prefero.metrics import kendall_tau
from prefero.rankings import bucket_positions, drop_labels, ranks_from_scores

__all__ = ["LABEL_RANKER_AXIOMS", "assert_valid_rankings", "check_label_ranker"]

Axiom = Callable[[Any], None]

LABEL_RANKER_AXIOMS: list[Axiom] = []


def _axiom(function: Axiom) -> Axiom:
    LABEL_RANKER_AXIOMS.append(function)
    return function


def check_label_ranker(
    estimator: Any, expected_failed_checks: Mapping[str, str] | None = None
) -> None:
    """Run scikit-learn's checks in full and every ranking axiom on an estimator.

    Parameters
    ----------
    estimator : label ranker
        An unfitted instance.
    expected_failed_checks : mapping of str to str, optional
        Checks the estimator cannot pass by its nature, with the reason. An axiom named here
        must fail.

    Raises
    ------
    AssertionError
        The first promise that is broken, or an expected failure that did not happen.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> check_label_ranker(ConsensusLabelRanker())
    """
    expected = dict(expected_failed_checks or {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
        for axiom in LABEL_RANKER_AXIOMS:
            _run(axiom, estimator, expected_to_fail=axiom.__name__ in expected)


def _run(axiom: Axiom, estimator: Any, *, expected_to_fail: bool) -> None:
    try:
        axiom(estimator)
    except AssertionError:
        if not expected_to_fail:
            raise
        return
    if expected_to_fail:
        raise AssertionError(f"{axiom.__name__} holds, but was expected to fail.")


def assert_valid_rankings(ranks: NDArray[Any], n_labels: int) -> None:
    """Assert that every row is a permutation of 1..n_labels in an integer array.

    Parameters
    ----------
    ranks : ndarray of shape (n_samples, n_labels)
        Predicted ranks.
    n_labels : int
        The number of labels.

    Examples
    --------
    >>> assert_valid_rankings(np.array([[2, 1, 3]]), 3)
    """
    assert ranks.dtype.kind == "i", f"predicted ranks have dtype {ranks.dtype}, not an integer one"
    assert_array_equal(np.sort(ranks, axis=1), np.tile(np.arange(1, n_labels + 1), (len(ranks), 1)))


class _Problem(NamedTuple):
    X: NDArray[np.float64]
    Y: NDArray[np.float64]
    X_new: NDArray[np.float64]


def _problem(seed: int = 0, n: int = 60, labels: int = 5) -> _Problem:
    """A noisy linear label ranking problem with no structure any ranker could abuse."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    utilities = X @ rng.normal(size=(4, labels)) + 0.5 * rng.normal(size=(n, labels))
    return _Problem(
        X, ranks_from_scores(utilities, higher_is_better=True), rng.normal(size=(20, 4))
    )


def _prepared(estimator: Any) -> Any:
    """A copy with a fixed seed, whose solver leaves no slack that an axiom could mistake."""
    copy = clone(estimator)
    wanted = {"random_state": 0, "tol": 1e-9}
    known = copy.get_params()
    return copy.set_params(**{name: value for name, value in wanted.items() if name in known})


def _fit(estimator: Any, X: Any, Y: Any, **fit_params: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _prepared(estimator).fit(X, Y, **fit_params)


def _assert_same_scores(first: Any, second: Any, X: NDArray[np.float64], message: str) -> None:
    assert_allclose(
        first.decision_function(X),
        second.decision_function(X),
        rtol=1e-4,
        atol=1e-6,
        err_msg=message,
    )


@_axiom
def check_permutations(estimator: Any) -> None:
    """Predicted ranks are permutations and the order of the scores."""
    X, Y, X_new = _problem()
    ranker = _fit(estimator, X, Y)
    ranks, scores = ranker.predict(X_new), ranker.decision_function(X_new)
    assert_valid_rankings(ranks, Y.shape[1])
    assert scores.shape == ranks.shape
    assert np.isfinite(scores).all(), "decision_function is not finite"
    in_order = np.take_along_axis(scores, np.argsort(ranks, axis=1), axis=1)
    assert (np.diff(in_order, axis=1) <= 0).all(), "predict and decision_function disagree"


@_axiom
def check_score(estimator: Any) -> None:
    """The score is the mean Kendall tau, weighted if asked."""
    X, Y, _ = _problem()
    ranker = _fit(estimator, X, Y)
    weight = np.arange(len(X), dtype=float)
    expected = kendall_tau(Y, ranker.predict(X), sample_weight=weight)
    assert_allclose(ranker.score(X, Y, sample_weight=weight), expected)


@_axiom
def check_label_renaming(estimator: Any) -> None:
    """Reordering the labels reorders the predictions and nothing else."""
    X, Y, X_new = _problem()
    permutation = np.random.default_rng(1).permutation(Y.shape[1])
    plain, renamed = _fit(estimator, X, Y), _fit(estimator, X, Y[:, permutation])
    assert_allclose(
        renamed.decision_function(X_new),
        plain.decision_function(X_new)[:, permutation],
        rtol=1e-4,
        atol=1e-6,
        err_msg="the order of the label columns changes the scores",
    )


@_axiom
def check_sample_order(estimator: Any) -> None:
    """The order of the training rows does not matter."""
    X, Y, X_new = _problem()
    shuffled = np.random.default_rng(1).permutation(len(X))
    _assert_same_scores(
        _fit(estimator, X, Y),
        _fit(estimator, X[shuffled], Y[shuffled]),
        X_new,
        "the order of the training rows changes the scores",
    )


@_axiom
def check_only_order_counts(estimator: Any) -> None:
    """Gaps and average ranks mean the same as dense ranks: only the order in a row counts."""
    X, Y, X_new = _problem()
    Y = np.where(Y == 4, 3, Y)
    missing = drop_labels(Y, 0.2, random_state=0)
    _assert_same_scores(
        _fit(estimator, X, missing),
        _fit(estimator, X, bucket_positions(missing)),
        X_new,
        "ranks with gaps give other scores than average ranks of the same order",
    )


@_axiom
def check_weight_two_is_twice(estimator: Any) -> None:
    """A row of weight two counts as the row given twice."""
    X, Y, X_new = _problem()
    weight = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    _assert_same_scores(
        _fit(estimator, X, Y, sample_weight=weight),
        _fit(estimator, X[repeated], Y[repeated]),
        X_new,
        "weight 2 is not the row twice",
    )


@_axiom
def check_weight_zero_is_absent(estimator: Any) -> None:
    """A row of weight zero is as good as absent; bad weights are refused."""
    X, Y, X_new = _problem()
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    _assert_same_scores(
        _fit(estimator, X, Y, sample_weight=weight),
        _fit(estimator, X[weight > 0], Y[weight > 0]),
        X_new,
        "weight 0 is not the same as no row",
    )
    for bad in (-1.0, np.nan):
        _assert_refused(estimator, X, Y, "", sample_weight=np.where(weight > 0, 1.0, bad))


@_axiom
def check_ties_and_missing_labels(estimator: Any) -> None:
    """Ties and missing labels are legal in any mixture, down to one label a row."""
    X, Y, X_new = _problem()
    for rate in (0.0, 0.3, 0.6):
        Y_rate = drop_labels(np.ceil(Y / 2), rate, random_state=0)
        assert_valid_rankings(_fit(estimator, X, Y_rate).predict(X_new), Y.shape[1])


@_axiom
def check_empty_rows_are_ignored(estimator: Any) -> None:
    """Rows that rank nothing change nothing, warn once, and are refused if there is no other."""
    X, Y, X_new = _problem()
    holes = Y.copy()
    holes[::7] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = _prepared(estimator).fit(X, holes)
    assert any("rank no label" in str(warning.message) for warning in caught)
    kept = ~np.isnan(holes).all(axis=1)
    _assert_same_scores(
        ranker, _fit(estimator, X[kept], holes[kept]), X_new, "an empty row changes the scores"
    )
    _assert_refused(estimator, X, np.full_like(Y, np.nan), "nothing to learn")


@_axiom
def check_unseen_labels_come_last(estimator: Any) -> None:
    """A label that no training row ranks is predicted last."""
    X, Y, X_new = _problem()
    Y = Y.copy()
    Y[:, 1] = np.nan
    assert (_fit(estimator, X, Y).predict(X_new)[:, 1] == Y.shape[1]).all()


@_axiom
def check_bad_ranks_are_refused(estimator: Any) -> None:
    """Scores given as ranks and infinite values stop with a sentence that says what to do."""
    X, Y, _ = _problem()
    _assert_refused(estimator, X, Y * 100, "ranks_from_scores")
    _assert_refused(estimator, X, np.where(Y == 1, np.inf, Y), "infinity")
    _assert_refused(estimator, X, Y[:-1], "inconsistent numbers of samples")


@_axiom
def check_degenerate_data(estimator: Any) -> None:
    """One label, few samples, constant features and constant rankings do not crash."""
    X, Y, X_new = _problem()
    for X_fit, Y_fit in [
        (X, Y[:, :1]),
        (np.ones_like(X), Y),
        (X, np.tile(Y[0], (len(Y), 1))),
        (X, np.ones_like(Y)),
        (X[:3], Y[:3]),
    ]:
        assert_valid_rankings(_fit(estimator, X_fit, Y_fit).predict(X_new), Y_fit.shape[1])


@_axiom
def check_names(estimator: Any) -> None:
    """Column names of a pandas or polars table become label names of the predicted order."""
    X, Y, X_new = _problem()
    names = ["b", "a", "<script>", "NA", "ä ö"]
    for table in _tables(Y, names):
        ranker = _fit(estimator, X, table)
        assert_array_equal(ranker.labels_, np.array(names, dtype=object))
        order = ranker.predict_order(X_new, top=2)
        assert order.shape == (len(X_new), 2)
        best = np.argmin(ranker.predict(X_new), axis=1)
        assert_array_equal(order[:, 0], np.array(names, dtype=object)[best])


def _tables(Y: NDArray[np.float64], names: list[str]) -> list[Any]:
    """Y as a table of every installed kind."""
    tables = []
    for module in ("pandas", "polars"):
        try:
            library = __import__(module)
        except ImportError:
            continue
        tables.append(library.DataFrame(dict(zip(names, Y.T, strict=True))))
    return tables


@_axiom
def check_copies(estimator: Any) -> None:
    """Pickled and refitted clones predict the same."""
    X, Y, X_new = _problem()
    ranker = _fit(estimator, X, Y)
    expected = ranker.decision_function(X_new)
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).decision_function(X_new), expected)
    assert_array_equal(_fit(ranker, X, Y).decision_function(X_new), expected)


@_axiom
def check_parallelism(estimator: Any) -> None:
    """Scores are bit-identical for any n_jobs and from many threads at once."""
    X, Y, X_new = _problem()
    ranker = _fit(estimator, X, Y)
    expected = ranker.decision_function(X_new)
    if "n_jobs" in estimator.get_params():
        two = _fit(clone(estimator).set_params(n_jobs=2), X, Y)
        assert_array_equal(two.decision_function(X_new), expected)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(ranker.decision_function, [X_new] * 8):
            assert_array_equal(scores, expected)


@_axiom
def check_pair_probabilities(estimator: Any) -> None:
    """Pair probabilities are complementary, and thresholding them gives a strict relation."""
    if not hasattr(estimator, "predict_pairwise"):
        return
    X, Y, X_new = _problem()
    ranker = _fit(estimator, X, drop_labels(Y, 0.2, random_state=0))
    probability = ranker.predict_pairwise(X_new)
    c = Y.shape[1]
    assert probability.shape == (len(X_new), c, c)
    off_diagonal = ~np.eye(c, dtype=bool)
    total = probability + probability.transpose(0, 2, 1)
    assert_allclose(total[:, off_diagonal], 1.0, atol=1e-9)
    assert (probability >= 0).all()
    for threshold in (0.5, 0.9):
        before = ranker.predict_partial(X_new, threshold)
        assert not (before & before.transpose(0, 2, 1)).any()
        assert not before[:, ~off_diagonal].any()


@_axiom
def check_reliability(estimator: Any) -> None:
    """Reliability is one number an instance, never NaN."""
    if not hasattr(estimator, "predict_reliability"):
        return
    X, Y, X_new = _problem()
    reliability = _fit(estimator, X, Y).predict_reliability(X_new)
    assert reliability.shape == (len(X_new),)
    assert not np.isnan(reliability).any()


def _assert_refused(estimator: Any, X: Any, Y: Any, words: str, **fit_params: Any) -> None:
    """Assert that fitting raises a ValueError whose sentence holds the given words."""
    try:
        _fit(estimator, X, Y, **fit_params)
    except ValueError as error:
        if words not in str(error):
            raise AssertionError(f"the error does not say {words!r}: {error}") from error
    else:
        raise AssertionError(f"fit accepted what it should refuse ({words or fit_params})")
