"""Expected scores in the user's unit, with what has been seen of their errors."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression, nnls
from sklearn.utils import gen_batches

from prefero._sampling import evenly_spaced
from prefero._typing import Indices, Values

# Rows that are kept to tell of errors, and how many of them are like a new row: a share, within
# bounds.
_MOST_ROWS, _SHARE, _FEWEST, _MOST = 2000, 0.1, 30, 100
# The least error of a label among rows like its own, as a share of that among all rows.
_LEAST_ERROR = 0.1
# Rows and halvings by which the share of errors that tells labels apart is found.
_SPREAD_ROWS, _SPREAD_STEPS = 300, 8
# Scores this close, relative to their size, are equal.
_EQUAL = 1e-9
# Entries of the arrays (instances x rows x labels) that one step may hold.
_BLOCK_ENTRIES = 2**22


class ScoreModel(NamedTuple):
    """How what models say becomes expected scores, and the errors of that on unseen rows.

    Attributes
    ----------
    means : ndarray of shape (n_models + 1, n_labels)
        The mean score of each label, and of what each model says of it.
    weights : ndarray of shape (n_models,)
        What a step of each model is worth in the unit of the scores.
    predictions, errors : ndarray of shape (n_rows, n_labels)
        Expected scores of unseen rows, and the true ones less those; NaN where unknown.
    nonconformity : ndarray of shape (n_known,)
        The errors over the mean error of rows like their own, upwards or downwards, ascending.
    spread : float
        The share of the errors that tells labels of a row apart: with it the expected regret of
        unseen rows is, on average, what it was.

    Examples
    --------
    >>> said = np.tile([[0.0, 1.0], [1.0, 0.0]], (50, 1))
    >>> model = learn_scores([said], said, 10 * said, np.ones(100), None)
    >>> model.weights
    array([10.])
    """

    means: Values
    weights: Values
    predictions: Values
    errors: Values
    nonconformity: Values
    spread: float = 1.0


def learn_scores(
    models: list[Values], order: Values, scores: Values, weight: Values, groups: Indices | None
) -> ScoreModel:
    """Learn expected scores from what models said of rows that they had not seen.

    Parameters
    ----------
    models : list of ndarray of shape (n_samples, n_labels)
        What each model said; NaN where nothing.
    order : ndarray of shape (n_samples, n_labels)
        Values whose descending order expected scores must not contradict.
    scores : ndarray of shape (n_samples, n_labels)
        The true scores, NaN where unknown.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    groups : ndarray of shape (n_samples,), optional
        The group of each row: the errors of its own group tell nothing of a row.

    Returns
    -------
    ScoreModel
        Weights that are not negative, by least squares, and errors.

    Examples
    --------
    >>> said, truth = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 3.0], [3.0, 1.0]])
    >>> found = learn_scores([said], said, truth, np.ones(2), None)
    >>> found.means[0], found.weights, found.predictions.tolist()
    (array([2., 2.]), array([2.]), [[1.0, 3.0], [3.0, 1.0]])
    """
    used = np.all([~np.isnan(said).any(axis=1) for said in models], axis=0)
    used &= ~np.isnan(scores).all(axis=1)
    parts = [part[used] for part in (scores, *models)]
    order, weight = order[used], weight[used]
    known = ~np.isnan(parts[0])
    mass = weight[:, None] * known
    means = np.array([_means(part, mass) for part in parts])
    scores, *steps = (part - mean for part, mean in zip(parts, means, strict=True))
    root = np.sqrt(mass[known])
    columns = np.column_stack([step[known] * root for step in steps])
    factors = nnls(columns, scores[known] * root)[0] if known.any() else np.zeros(len(models))
    predictions = _monotone(means[0] + np.tensordot(factors, steps, 1), order)
    some = evenly_spaced(len(predictions), _MOST_ROWS)
    predictions, errors = predictions[some], (parts[0] - predictions)[some]
    found = ScoreModel(means, factors, predictions, errors, np.empty(0))
    own = np.arange(len(some)) if groups is None else groups[used][some]
    found = found._replace(nonconformity=_nonconformity(found, own))
    return found._replace(spread=_spread(found, order[some], own))


def _means(values: Values, mass: Values) -> Values:
    total = mass.sum(axis=0)
    sums = (mass * np.nan_to_num(values)).sum(axis=0)
    # A label that no row knows is as bad as the worst.
    means = np.divide(sums, total, out=np.full(len(sums), np.inf), where=total > 0)
    return np.where(np.isinf(means), means.min(initial=np.inf), means)


def expected_scores(model: ScoreModel, said: list[Values], order: Values) -> Values:
    """Return the expected scores of some rows, in the unit of the true ones.

    Parameters
    ----------
    model : ScoreModel
        From `learn_scores`.
    said : list of ndarray of shape (n_samples, n_labels)
        What each model says.
    order : ndarray of shape (n_samples, n_labels)
        Values whose descending order they do not contradict.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Expected scores.

    Examples
    --------
    >>> said = np.tile([[0.0, 1.0], [1.0, 0.0]], (50, 1))
    >>> model = learn_scores([said], said, 10 * said, np.ones(100), None)
    >>> expected_scores(model, [np.array([[2.0, 1.0]])], np.array([[2.0, 1.0]]))
    array([[20., 10.]])
    """
    steps = [part - mean for part, mean in zip(said, model.means[1:], strict=True)]
    return _monotone(model.means[0] + np.tensordot(model.weights, steps, 1), order)


def _monotone(expected: Values, order: Values) -> Values:
    """The nearest scores, by least squares, that do not contradict an order."""
    places = np.argsort(-order, axis=1, kind="stable")
    sorted_scores = np.take_along_axis(expected, places, axis=1)
    for row in np.flatnonzero((np.diff(sorted_scores, axis=1) > 0).any(axis=1)):
        sorted_scores[row] = isotonic_regression(sorted_scores[row], increasing=False).x
    monotone = np.empty_like(expected)
    np.put_along_axis(monotone, places, sorted_scores, axis=1)
    return monotone


class Expectation(NamedTuple):
    """What to expect of the scores of some rows.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Expected scores.
    intervals : ndarray of shape (n_samples, n_labels, 2)
        The ends of intervals that hold the true ones, but for a share of them; infinite if too few
        rows were seen to tell.
    best : ndarray of shape (n_samples, n_labels)
        How likely each label is the best; labels that are best together share the probability.
    regret : ndarray of shape (n_samples,)
        The expected loss of the chosen label against the best.

    Examples
    --------
    >>> said = np.tile([[0.0, 1.0], [1.0, 0.0]], (50, 1))
    >>> model = learn_scores([said], said, 10 * said, np.ones(100), None)
    >>> expected_outcome(model, model.predictions[:1], np.array([1]), 0.1).best
    array([[0., 1.]])
    """

    scores: Values
    intervals: Values
    best: Values
    regret: Values


def expected_outcome(
    model: ScoreModel, expected: Values, choice: Indices, error: float
) -> Expectation:
    """Return intervals, chances and losses, from the errors of rows with similar expected scores.

    An interval is as wide, upwards and downwards, as those errors were. The scores of a row may be
    the expected ones plus the errors of any row like it.

    Parameters
    ----------
    model : ScoreModel
        From `learn_scores`.
    expected : ndarray of shape (n_samples, n_labels)
        Expected scores.
    choice : ndarray of shape (n_samples,)
        The label that is chosen in each row.
    error : float
        How often a score may lie outside its interval.

    Returns
    -------
    Expectation
        All of it.

    Examples
    --------
    >>> said = np.tile([[0.0, 1.0], [1.0, 0.0]], (50, 1))
    >>> truth = said + np.tile([[0.1, -0.1], [0.0, 0.0]], (50, 1))
    >>> model = learn_scores([said], said, truth, np.ones(100), None)
    >>> expectation = expected_outcome(model, model.predictions[:1], np.array([1]), 0.1)
    >>> expectation.best, bool(expectation.regret[0] < 0.01)
    (array([[0., 1.]]), True)
    """
    count = len(model.nonconformity)
    place = int(np.ceil((1 - error) * (count + 1)))
    limit = model.nonconformity[place - 1] if place <= count else np.inf
    intervals, best = np.empty((*expected.shape, 2)), np.empty(expected.shape)
    lost = np.empty(len(expected))
    for rows in _blocks(model, len(expected)):
        errors = model.errors[_like(model, expected[rows])]
        down, up = _mean_errors(model, errors)
        ends = expected[rows] - limit * down, expected[rows] + limit * up
        intervals[rows] = np.stack(ends, axis=2)
        drawn = expected[rows][:, None] + model.spread * np.nan_to_num(errors)
        most = drawn.max(axis=2, keepdims=True)
        first = drawn >= most - _EQUAL * np.abs(most)
        best[rows] = (first / first.sum(axis=2, keepdims=True)).mean(axis=1)
        lost[rows] = _mean_lost(drawn, choice[rows])
    return Expectation(expected, intervals, best, lost)


def _mean_lost(drawn: Values, choice: Indices) -> Values:
    """What labels lose on average over drawn scores (instances x draws x labels)."""
    chosen = np.take_along_axis(drawn, choice[:, None, None], axis=2)[:, :, 0]
    return (drawn.max(axis=2) - chosen).mean(axis=1)


def _spread(model: ScoreModel, order: Values, groups: Indices) -> float:
    """The share of the errors by which unseen rows lose what they lost; at most all of them."""
    known = ~np.isnan(model.errors)
    some = evenly_spaced(len(order), _SPREAD_ROWS)
    truth = np.where(known, model.predictions + model.errors, -np.inf)[some]
    choice = np.where(known, order, -np.inf)[some].argmax(axis=1)
    rows = np.arange(len(some))
    if not len(some):
        return 1.0
    true = float((truth.max(axis=1) - truth[rows, choice]).mean())
    expected = np.where(known, model.predictions, -np.inf)[some]
    near = _like(model, model.predictions[some], (groups[some], groups))
    errors = np.nan_to_num(model.errors[near])
    low, high = 0.0, 1.0
    for _ in range(_SPREAD_STEPS):
        middle = (low + high) / 2
        lost = _mean_lost(expected[:, None] + middle * errors, choice).mean()
        low, high = (middle, high) if lost < true else (low, middle)
    return high


def _like(
    model: ScoreModel, expected: Values, groups: tuple[Indices, Indices] | None = None
) -> Indices:
    """The kept rows whose expected scores are most like those of each instance.

    With the groups of the instances and of the kept rows, those of another group.
    """
    n = len(model.predictions)
    count = min(int(np.clip(_SHARE * n, _FEWEST, _MOST)), n)
    here, there = expected - model.means[0], model.predictions - model.means[0]
    distance = (there**2).sum(axis=1) - 2 * here @ there.T
    if groups is not None:
        distance = np.where(groups[0][:, None] == groups[1], np.inf, distance)
    return (
        np.argpartition(distance, count - 1, axis=1)[:, :count]
        if n
        else np.empty((len(here), 0), np.int64)
    )


def _mean_errors(model: ScoreModel, errors: Values) -> tuple[Values, Values]:
    """The mean of errors (instances x rows x labels) downwards and upwards, never nearly none."""
    known = ~np.isnan(errors)
    whole = ~np.isnan(model.errors)
    sizes = np.abs(np.nan_to_num(model.errors)).sum(axis=0) / np.maximum(whole.sum(axis=0), 1)
    least = _LEAST_ERROR * sizes + np.finfo(float).tiny
    count = np.maximum(known.sum(axis=1), 1)
    sums = [np.where(known, np.maximum(part, 0), 0).sum(axis=1) for part in (-errors, errors)]
    return np.maximum(sums[0] / count, least), np.maximum(sums[1] / count, least)


def _nonconformity(model: ScoreModel, groups: Indices) -> Values:
    parts = []
    for rows in _blocks(model, len(model.predictions)):
        near = _like(model, model.predictions[rows], (groups[rows], groups))
        down, up = _mean_errors(model, model.errors[near])
        own = model.errors[rows]
        parts.append((np.abs(own) / np.where(own < 0, down, up))[~np.isnan(own)])
    return np.sort(np.concatenate(parts)) if parts else np.empty(0)


def _blocks(model: ScoreModel, n: int) -> list[slice]:
    """Rows in parts, for each of which what is like them fits into memory."""
    each = len(model.predictions) + _MOST * model.predictions.shape[1]
    return [] if n == 0 else list(gen_batches(n, max(1, _BLOCK_ENTRIES // max(1, each))))
