"""The detailed look at a label ranker: labels, pairs, costs, uncertainty, rows and features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from prefero._names import without_common_start
from prefero._sklearn import safe_indexing
from prefero._typing import Values
from prefero.evaluation.costs import COST, SCORE, cost_curve, single_choices
from prefero.evaluation.results import ResultTable
from prefero.inspection import AbstentionDisplay, CalibrationDisplay, CostCurveDisplay, explain
from prefero.inspection.explanation import Explanation
from prefero.inspection.ranking_displays import pair_shares, rank_shares
from prefero.inspection.uncertainty_displays import first_telling, rejection_curve
from prefero.report.predictions import (
    MOST_ROWS,
    N_BINS,
    Focus,
    LabelPredictions,
    predict_out_of_fold,
)
from prefero.report.rendering import Figures
from prefero.report.sections import (
    MOST_PICKED,
    CostSection,
    Details,
    UncertaintySection,
    explanation_values,
    listed_importance,
    pair_strips,
    picked_row,
    picked_rows,
    rank_strips,
    spread,
    spread_and_middle,
)

# Strips of more labels than this are neither readable nor small.
_MOST_DRAWN_LABELS = 60
_SQUARE = (4.6, 4.0)
# Rows that are explained: where effects can be read from the model, and where it has to be
# asked again for each feature.
_EXPLAINED_EXACTLY, _EXPLAINED_BY_ASKING = 40, 12


def label_details(focus: Focus, *, figures: Figures) -> Details:
    """Describe the out-of-fold predictions of a label ranker.

    Parameters
    ----------
    focus : Focus
        The ranker, the data set and the results.
    figures : Figures
        Draws the figures.

    Returns
    -------
    Details
        What the page shows.
    """
    found, data = predict_out_of_fold(focus), focus.data
    labels = LabelPredictions(found)
    start, names = without_common_start(data.labels)
    strips: dict[str, Any] = {}
    if len(names) <= _MOST_DRAWN_LABELS:
        ranks, pairs = _shares(labels)
        strips = {"ranks": rank_strips(ranks, names), "pairs": pair_strips(pairs, names)}
    return Details(
        in_words=_in_words(labels.tau, focus, found.rows),
        about=f"{len(found.rows)} rows of {focus.dataset}, each predicted by a model that was not "
        "trained on it",
        labels=names,
        start=start,
        costs=_costs(figures, focus, names),
        uncertainty=_uncertainty(figures, labels),
        rows=_rows(labels, names),
        importance=listed_importance(found, focus),
        n_features=len(found.features),
        **strips,
    )


def _in_words(tau: Values, focus: Focus, rows: NDArray[np.intp]) -> str:
    """Explain tau to a reader who does not know it, beside what the baseline reaches."""
    known = tau[~np.isnan(tau)]
    if not len(known):
        return f"No row of {focus.dataset} orders any pair of labels."
    text = (
        f"On unseen rows of {focus.dataset}, it puts {_pairs_right(known)} of 100 pairs of labels "
        "in the right order"
    )
    runs = focus.runs(focus.baseline)
    if focus.name == focus.baseline or not runs:
        return f"{text}."
    tested = np.concatenate([run.units for run in runs.values()])
    base = np.concatenate([run.metrics["tau"] for run in runs.values()])
    base = base[np.isin(tested, rows) & ~np.isnan(base)]
    return f"{text}; the baseline, {focus.baseline}, {_pairs_right(base)}."


def _pairs_right(tau: Values) -> str:
    return f"{50 + 50 * tau.mean():.1f}"


def _shares(labels: LabelPredictions) -> tuple[dict[str, Values], dict[str, Values]]:
    """How often labels take each rank, and come before each other: in the data, and predicted."""
    # Predicted ranks, too, are those among the labels that a row ranks.
    predicted = np.where(np.isnan(labels.truth), np.nan, labels.predicted)
    ranks = {"in the data": rank_shares(labels.truth), "predicted": rank_shares(predicted)}
    pairs = pair_shares(labels.predicted)
    if labels.pairwise is not None:
        pairs = labels.pairwise.copy()
        np.fill_diagonal(pairs, np.nan)
    return ranks, {"in the data": pair_shares(labels.truth), "predicted": pairs}


def _costs(figures: Figures, focus: Focus, names: list[str]) -> CostSection | None:
    """Quality against cost on some rows of a data set; None if there are no costs."""
    data = focus.data
    if not {SCORE, COST} <= data.values.keys() or data.scores is None:
        return None
    rows = np.arange(len(data.ranks))
    if len(rows) > MOST_ROWS:
        rows = np.sort(
            check_random_state(focus.random_state).choice(rows, MOST_ROWS, replace=False)
        )
    scores, costs = data.values[SCORE][rows], data.values[COST][rows]
    members = None if data.groups is None else data.groups[rows]
    X = safe_indexing(data.X, rows)
    curve = cost_curve(
        focus.ranker, X, scores, costs, groups=members, random_state=focus.random_state
    )
    singles = single_choices(names, scores, costs)
    figure = figures.draw(
        lambda ax: CostCurveDisplay.from_curve(curve, singles, ax=ax),
        "Mean score of the first choices against their mean cost",
        size=(4.6, 4.4),
    )
    # Weights may be tiny, so they are shown with significant digits.
    shown = ResultTable({**row, "weight": f"{row['weight']:.3g}"} for row in curve)
    return CostSection(figure, shown, singles)


def _uncertainty(figures: Figures, labels: LabelPredictions) -> UncertaintySection | None:
    """Calibration and the effect of abstaining; None if the ranker predicts neither."""
    drawn, error, answered = [], float("nan"), []
    if labels.calibration is not None:
        display = CalibrationDisplay(*labels.calibration, N_BINS)
        error = display.error
        about = "The share of pairs in the predicted order, by predicted probability."
        drawn.append((figures.draw(display.plot, about, size=_SQUARE), about))
    known = ~np.isnan(labels.tau)
    expected = None if labels.expected_tau is None else labels.expected_tau[known]
    if expected is not None and len(expected) and np.ptp(expected) > 0:
        tau = labels.tau[known]
        about = _what_abstaining_does(expected, tau)
        picture = figures.draw(
            lambda ax: AbstentionDisplay.from_predictions(expected, tau, ax=ax), about, size=_SQUARE
        )
        drawn.append((picture, about))
        answered = _answered(expected, tau)
    return UncertaintySection(drawn, error, answered) if drawn else None


def _what_abstaining_does(expected: Values, tau: Values) -> str:
    """Say whether answering only the rows that seem surest raises the mean tau."""
    _, mean = rejection_curve(expected, tau)
    half, whole = mean[len(mean) // 2], mean[-1]
    verb = "pays" if half > whole else "does not pay"
    return (
        f"Mean tau of the rows answered. Abstaining {verb} here: {half:.3f} for the half of the "
        f"rows that seems surest, {whole:.3f} for all."
    )


def _answered(expected: Values, tau: Values) -> list[tuple[str, str]]:
    """Return the mean tau of the rows answered, for some shares of them."""
    answered, mean = rejection_curve(expected, tau)
    shares = np.array((1.0, 0.9, 0.75, 0.5, 0.25, 0.1))
    places = np.minimum(np.searchsorted(answered, shares - 1e-9), len(mean) - 1)
    return [
        (f"{share:.0%}", f"{mean[i]:.3f}")
        for share, i in zip(shares, places, strict=True)
        if i >= first_telling(len(mean))
    ]


def _rows(labels: LabelPredictions, names: list[str]) -> dict[str, Any]:
    """Rows to choose from."""
    found = labels.found
    chosen = spread(labels.tau, MOST_PICKED)
    explained = _explained(labels, chosen, names)
    rows = [
        picked_row(
            found.name(i),
            labels.tau[i],
            labels.truth[i],
            labels.predicted[i],
            facts=_facts(labels, i),
            why=explained.get(i),
        )
        for i in chosen.tolist()
    ]
    named = hasattr(found.X, "index")
    note = "Row names are those of the table." if named else "Rows are numbered from 1."
    return picked_rows(rows, names, "tau", note)


def _facts(labels: LabelPredictions, i: int) -> list[list[str]]:
    truth = labels.truth[i]
    first = int(np.argmin(np.where(np.isnan(truth), np.inf, labels.predicted[i])))
    facts = [["first choice", "right" if truth[first] == np.nanmin(truth) else "wrong"]]
    expected = labels.expected_tau
    if expected is not None and np.ptp(expected) > 0:
        share = np.mean(expected < expected[i])
        facts.append(["certainty", f"higher than for {share:.0%} of the rows"])
    return facts


def _explained(
    labels: LabelPredictions, chosen: NDArray[np.intp], names: list[str]
) -> dict[int, dict[str, Any]]:
    """Explanations by row: of the typical row, the worst, the best, and others between."""
    if not len(chosen):
        return {}
    middle = int(chosen[len(chosen) // 2])
    exact = explain_row(labels, middle).base is not None
    most = _EXPLAINED_EXACTLY if exact else _EXPLAINED_BY_ASKING
    called = dict(zip(labels.labels.tolist(), names, strict=True))
    found = {}
    for i in sorted(spread_and_middle(chosen, most - 1)):
        why = explain_row(labels, i)
        found[i] = explanation_values(why, _words(labels, i, why, called), called)
    return found


def explain_row(labels: LabelPredictions, i: int) -> Explanation:
    """Explain the most telling pair of a row by the model that was not trained on it."""
    first, second = labels.telling_pairs[i]
    pair = labels.labels[first], labels.labels[second]
    return explain(labels.found.models[labels.found.fold[i]], labels.found.X, i, pair=pair)


def _words(labels: LabelPredictions, i: int, why: Explanation, called: dict[Any, str]) -> str:
    first, second = labels.telling_pairs[i]
    a, b = (called[labels.labels[place]] for place in (first, second))
    chance = "" if why.probability is None else f" (probability {why.probability:.2f})"
    wrong = labels.truth[i, first] > labels.truth[i, second]
    reverse = " The true order is the reverse." if wrong else ""
    return f"Why {a} is put before {b}{chance}.{reverse}"
