"""The detailed part of the page: what it holds, and the values that its script reads."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefero._typing import Values
from prefero.evaluation.results import ResultTable
from prefero.inspection.explanation import Explanation
from prefero.report.predictions import Focus, OutOfFold, feature_importance

# Rows to choose from on the page, and those of them that are explained.
MOST_PICKED = 300
_LISTED_EFFECTS, _LISTED_EVIDENCE, _LISTED_FEATURES = 8, 12, 20
# Shades of a color.
_STEPS = 8
# A label that takes a rank so many times as often as by chance has the full color.
_FULL = 4
_NOT_EXPLAINED = "This row is not explained on the page; prefero explain can explain any row."


@dataclass(frozen=True)
class StripLine:
    """A label, with one strip and one note for each matrix."""

    name: str
    notes: list[str]
    strips: list[str]


@dataclass(frozen=True, eq=False)
class Strips:
    """Matrices of shares, side by side, as strips of colored cells: one row per label.

    Attributes
    ----------
    titles : list of str
        What each matrix is.
    ticks : list of int
        Numbers above the first, the middle and the last column.
    lines : list of StripLine
        From top to bottom.
    numbers : list of ndarray
        The matrices, with the rows in that order.
    numbered : bool
        Whether the columns are the labels again, identified by number.
    """

    titles: list[str]
    ticks: list[int]
    lines: list[StripLine]
    numbers: list[Values]
    numbered: bool

    @property
    def noted(self) -> bool:
        """Whether there is a note beside each strip."""
        return any(line.notes for line in self.lines)


def rank_strips(shares: dict[str, Values], names: list[str]) -> Strips:
    """Return which label takes which rank, the label with the best mean rank first."""
    matrices = list(shares.values())
    c = len(names)
    places = np.arange(1, c + 1)
    # A label without any rank comes last.
    order = np.argsort(matrices[0] @ places, kind="stable")
    # A single label that always takes one rank would leave all others pale.
    brightest = min(_FULL / c, max(float(np.nanmax(m, initial=0.0)) for m in matrices)) or 1.0
    lines = [
        StripLine(
            names[i],
            [_mean_rank(matrix[i] @ places) for matrix in matrices],
            [_strip(np.ceil(_STEPS * matrix[i] / brightest)) for matrix in matrices],
        )
        for i in order
    ]
    return Strips(list(shares), _ticks(c), lines, [matrix[order] for matrix in matrices], False)


def pair_strips(shares: dict[str, Values], names: list[str]) -> Strips:
    """Return which label comes before which, the label that wins most first."""
    matrices = list(shares.values())
    order = np.argsort(-np.nansum(matrices[0] - 0.5, axis=1), kind="stable")
    ordered = [matrix[np.ix_(order, order)] for matrix in matrices]
    steps = [2 * _STEPS * (matrix - 0.5) for matrix in ordered]
    away_from_half = [np.sign(values) * np.ceil(np.abs(values)) for values in steps]
    lines = [
        StripLine(names[i], [], [_strip(values[row]) for values in away_from_half])
        for row, i in enumerate(order)
    ]
    return Strips(list(shares), _ticks(len(names)), lines, ordered, True)


def _mean_rank(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"


def _ticks(c: int) -> list[int]:
    return sorted({1, (c + 1) // 2, c})


def _strip(steps: Values) -> str:
    """Draw a row of cells: one color above zero, another below, none for NaN and 0."""
    cells: dict[int, list[str]] = {}
    for at, step in enumerate(steps.tolist()):
        if step == step and step != 0:
            cells.setdefault(int(step), []).append(f"M{at} 0h1v1h-1z")
    paths = "".join(
        f'<path class="{"p" if step > 0 else "n"}{min(abs(step), _STEPS)}" d="{"".join(shapes)}"/>'
        for step, shapes in cells.items()
    )
    box = f'viewBox="0 0 {len(steps)} 1" preserveAspectRatio="none"'
    return f'<svg class="strip" {box} aria-hidden="true">{paths}</svg>'


# The meaning of importance; by feature its value and the width of its bar.
Importance = tuple[str, list[tuple[str, float, float]]]


def listed_importance(found: OutOfFold, focus: Focus) -> Importance:
    """Return the meaning of importance, and the most important features with their bars."""
    meaning, values = feature_importance(found, focus)
    largest = float(np.max(values, initial=0.0))
    order = np.argsort(-values, kind="stable")[:_LISTED_FEATURES]
    widths = np.clip(values / largest, 0, 1) if largest > 0 else np.zeros_like(values)
    names = found.features
    return meaning, [(names[j], float(values[j]), float(widths[j])) for j in order]


@dataclass(frozen=True)
class Section:
    """A section of the page with one table."""

    name: str
    title: str
    caption: str
    table: ResultTable


@dataclass(frozen=True)
class CostSection:
    """Quality against cost: the figure, the curve, and what each single label would get."""

    figure: str
    curve: ResultTable
    singles: ResultTable


@dataclass(frozen=True)
class UncertaintySection:
    """How certain the ranker is, and how well that holds.

    Attributes
    ----------
    figures : list of (str, str)
        Figures and their captions.
    error : float
        The expected calibration error; NaN if there are no probabilities.
    answered : list of (str, str)
        The mean tau of the rows answered, for some shares of them.
    """

    figures: list[tuple[str, str]]
    error: float
    answered: list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Details:
    """The detailed look at the best ranker; what is None or empty is not shown.

    Attributes
    ----------
    in_words : str
        A sentence on how well the ranker does on unseen rows.
    about : str
        The rows that were used.
    labels, start : list of str, str
        The names of the labels without their common start, and that start.
    """

    in_words: str
    about: str
    rows: dict[str, Any]
    importance: Importance
    n_features: int
    labels: list[str] = field(default_factory=list)
    start: str = ""
    costs: CostSection | None = None
    ranks: Strips | None = None
    pairs: Strips | None = None
    uncertainty: UncertaintySection | None = None
    sections: list[Section] = field(default_factory=list)


# Rows to choose from


def spread(values: Values, most: int) -> NDArray[np.intp]:
    """Return the places of at most so many values, evenly spread from the least to the greatest."""
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    if len(order) <= most:
        return order
    return order[np.unique(np.linspace(0, len(order) - 1, most).round().astype(np.intp))]


def spread_and_middle(chosen: NDArray[np.intp], most: int) -> set[int]:
    """Return so many of the chosen rows evenly spread, and the one in the middle."""
    if not len(chosen):
        return set()
    some = chosen[spread(np.arange(len(chosen), dtype=float), most)]
    return {int(chosen[len(chosen) // 2]), *some.tolist()}


def picked_rows(
    rows: list[dict[str, Any]], items: list[str], metric: str, note: str, noun: str = "Row"
) -> dict[str, Any]:
    """Return rows to choose from as the script of the page reads them, the worst first."""
    return {
        "noun": noun,
        "title": f"{noun}s",
        "note": note,
        "metric": metric,
        "items": items,
        "rows": rows,
        "unexplained": _NOT_EXPLAINED if items else None,
    }


def picked_row(
    name: str, value: float, true: Iterable[float], predicted: Values, **more: Any
) -> dict[str, Any]:
    """Return a row to choose: its metric, its true and its predicted ranks."""
    return {
        "name": name,
        "value": round(float(value), 3),
        "true": [None if np.isnan(rank) else float(rank) for rank in true],
        "predicted": predicted.tolist(),
        "why": None,
        **more,
    }


def explanation_values(why: Explanation, words: str, called: dict[Any, str]) -> dict[str, Any]:
    """Return an explanation as values that JSON can write, with the page's names of labels."""
    table = why.effect_table(_LISTED_EFFECTS)
    values: dict[str, Any] = {
        "words": words,
        "pair": [called.get(label, str(label)) for label in why.pair],
        "how": why.how.rstrip(":") + ".",
        "effects": [[row["feature"], row["value"], float(f"{row['effect']:.3g}")] for row in table],
    }
    if why.evidence is not None and len(why.evidence):
        values["evidence"] = {
            "title": why.title.rstrip(":") + ".",
            "columns": list(why.evidence.columns),
            "rows": [
                [f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()]
                for row in why.evidence[:_LISTED_EVIDENCE]
            ],
        }
    return values
