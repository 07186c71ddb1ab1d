"""The close look at a label ranker: labels, pairs, costs, how sure it is, rows and features."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from prefero._names import without_common_start
from prefero._sklearn import safe_indexing
from prefero.evaluation._data import DataSet
from prefero.evaluation.costs import COST, SCORE, cost_curve, single_choices
from prefero.evaluation.table import Table
from prefero.inspection import AbstentionDisplay, CalibrationDisplay, CostCurveDisplay
from prefero.inspection.ranking_displays import pair_shares, rank_shares
from prefero.inspection.uncertainty_displays import first_telling, rejection_curve
from prefero.report.close_look import (
    MOST_ROWS,
    N_BINS,
    CloseLook,
    feature_importance,
    look_closely,
)
from prefero.report.rendering import Figures, listed_importance
from prefero.report.rows import picked_rows
from prefero.report.sections import (
    ClosePart,
    Costs,
    Importance,
    Strips,
    Trust,
    pair_strips,
    rank_strips,
)

# Strips of more labels than this are neither readable nor small.
_MOST_DRAWN_LABELS = 60
_LISTED_FEATURES = 20
_SQUARE = (4.6, 4.0)


def part_of_labels(
    data: DataSet, ranker: Any, dataset: str, figures: Figures, random_state: int
) -> ClosePart:
    """Cross-validate a label ranker on a data set and say what there is to see.

    Parameters
    ----------
    data : DataSet
        The data set.
    ranker : estimator
        A label ranker, or a pipeline that ends in one.
    dataset : str
        What the data set is called.
    figures : Figures
        What draws.
    random_state : int
        The seed of folds, rows, ranker and shuffling.

    Returns
    -------
    ClosePart
        What the page shows.
    """
    look = look_closely(data, ranker, random_state)
    start, names = without_common_start(look.labels)
    drawn = len(names) <= _MOST_DRAWN_LABELS
    rows = picked_rows(look, names)
    named = hasattr(look.X, "index")
    note = "Row names are those of the table." if named else "Rows are numbered from 1."
    rows |= {"title": "Rows", "note": note}
    return ClosePart(
        in_words=_in_words(look, dataset),
        about=f"{len(look.rows)} rows of {dataset}, each predicted by a model that was not "
        "trained on it",
        labels=names,
        start=start,
        costs=_costs(figures, data, names, ranker, random_state),
        ranks=_ranks(look, names) if drawn else None,
        pairs=_pairs(look, names) if drawn else None,
        trust=_trust(figures, look),
        rows=rows,
        importance=_importance(look, random_state),
        n_features=len(look.features),
    )


def _in_words(look: CloseLook, dataset: str) -> str:
    """Say what tau means to a person who has never met it."""
    tau = float(np.nanmean(look.tau)) if (~np.isnan(look.tau)).any() else float("nan")
    if np.isnan(tau):
        return f"No row of {dataset} orders any pair of labels."
    return (
        f"On rows of {dataset} that it has not seen, it puts about {50 + 50 * tau:.0f} of 100 "
        f"pairs of labels in the right order; guessing would put 50."
    )


def _ranks(look: CloseLook, names: list[str]) -> Strips:
    # Predicted ranks, too, are those among the labels that a row ranks.
    predicted = np.where(np.isnan(look.truth), np.nan, look.predicted)
    shares = {"in the data": rank_shares(look.truth), "predicted": rank_shares(predicted)}
    return rank_strips(shares, names)


def _pairs(look: CloseLook, names: list[str]) -> Strips:
    predicted = pair_shares(look.predicted)
    if look.pairwise is not None:
        predicted = look.pairwise.copy()
        np.fill_diagonal(predicted, np.nan)
    return pair_strips({"in the data": pair_shares(look.truth), "predicted": predicted}, names)


def _costs(
    figures: Figures, data: DataSet, names: list[str], ranker: Any, random_state: int
) -> Costs | None:
    """Quality against cost on some rows of a data set; None if nothing costs anything."""
    if not {SCORE, COST} <= data.values.keys() or data.scores is None:
        return None
    rows = np.arange(len(data.ranks))
    if len(rows) > MOST_ROWS:
        rows = np.sort(check_random_state(random_state).choice(rows, MOST_ROWS, replace=False))
    scores, costs = data.values[SCORE][rows], data.values[COST][rows]
    members = None if data.groups is None else data.groups[rows]
    X = safe_indexing(data.X, rows)
    curve = cost_curve(ranker, X, scores, costs, groups=members, random_state=random_state)
    singles = single_choices(names, scores, costs)
    figure = figures.draw(
        lambda ax: CostCurveDisplay.from_curve(curve, singles, ax=ax),
        "Mean score of the first choices against their mean cost",
        size=(4.6, 4.4),
    )
    # Weights may be tiny: they are written in digits that matter.
    written = Table({**row, "weight": f"{row['weight']:.3g}"} for row in curve)
    return Costs(figure, written, singles)


def _trust(figures: Figures, look: CloseLook) -> Trust | None:
    """Whether probabilities come true and what abstaining buys; None if the ranker says neither."""
    drawn, error, answered = [], float("nan"), []
    if look.calibration is not None:
        display = CalibrationDisplay(*look.calibration, N_BINS)
        error = display.error
        about = "The share of pairs that came true against their predicted probability."
        drawn.append((figures.draw(display.plot, about, size=_SQUARE), about))
    known = ~np.isnan(look.tau)
    sure = None if look.reliability is None else look.reliability[known]
    if sure is not None and len(sure) and np.ptp(sure) > 0:
        tau = look.tau[known]
        about = "Mean tau of the rows answered: what falls to the right says that abstaining pays."
        picture = figures.draw(
            lambda ax: AbstentionDisplay.from_predictions(sure, tau, ax=ax), about, size=_SQUARE
        )
        drawn.append((picture, about))
        answered = _answered(sure, tau)
    return Trust(drawn, error, answered) if drawn else None


def _answered(sure: Any, tau: Any) -> list[tuple[str, str]]:
    """Return the mean tau of the rows answered, for some shares of them."""
    answered, mean = rejection_curve(sure, tau)
    shares = np.array((1.0, 0.9, 0.75, 0.5, 0.25, 0.1))
    places = np.minimum(np.searchsorted(answered, shares - 1e-9), len(mean) - 1)
    return [
        (f"{share:.0%}", f"{mean[i]:.3f}")
        for share, i in zip(shares, places, strict=True)
        if i >= first_telling(len(mean))
    ]


def _importance(look: CloseLook, random_state: int) -> Importance:
    meaning, values = feature_importance(look, random_state)
    return listed_importance(meaning, look.features, values, _LISTED_FEATURES)
