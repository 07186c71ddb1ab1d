"""The parts of the page about the best ranker on one data set, whatever its task is."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prefero._typing import Values
from prefero.evaluation.table import Table

# Steps of a colour, from a trace to full.
_STEPS = 8
# Ranks have the full colour that a label takes so many times as often as by chance.
_FULL = 4


@dataclass(frozen=True)
class Line:
    """A label, with one strip and one note on it for each matrix."""

    name: str
    notes: list[str]
    strips: list[str]


@dataclass(frozen=True, eq=False)
class Strips:
    """Matrices with the same rows beside each other.

    Attributes
    ----------
    titles : list of str
        What each matrix is.
    ticks : list of int
        Numbers to stand above the first, the middle and the last column.
    lines : list of Line
        From top to bottom.
    numbers : list of ndarray
        The matrices in percent, with the rows in that order.
    numbered : bool
        Whether the columns are the labels again, known by their numbers.
    """

    titles: list[str]
    ticks: list[int]
    lines: list[Line]
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
    # A label without any rank stands last.
    order = np.argsort(matrices[0] @ places, kind="stable")
    # One label that always takes one rank would leave all others pale.
    brightest = min(_FULL / c, max(float(np.nanmax(m, initial=0.0)) for m in matrices)) or 1.0
    lines = [
        Line(
            names[i],
            [_mean_rank(matrix[i] @ places) for matrix in matrices],
            [_strip(np.ceil(_STEPS * matrix[i] / brightest)) for matrix in matrices],
        )
        for i in order
    ]
    return Strips(list(shares), _ticks(c), lines, [matrix[order] for matrix in matrices], False)


def pair_strips(shares: dict[str, Values], names: list[str]) -> Strips:
    """Return which label stands before which, the label that wins most first."""
    matrices = list(shares.values())
    order = np.argsort(-np.nansum(matrices[0] - 0.5, axis=1), kind="stable")
    square = np.ix_(order, order)
    ordered = [matrix[square] for matrix in matrices]
    lines = [
        Line(names[i], [], [_strip(_rounded_out(2 * _STEPS * (m[row] - 0.5))) for m in ordered])
        for row, i in enumerate(order)
    ]
    return Strips(list(shares), _ticks(len(names)), lines, ordered, True)


def _rounded_out(values: Values) -> Values:
    return np.sign(values) * np.ceil(np.abs(values))


def _mean_rank(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"


def _ticks(c: int) -> list[int]:
    return sorted({1, (c + 1) // 2, c})


def _strip(steps: Values) -> str:
    """Draw a row of cells: steps above zero in one colour, below in another, NaN and 0 in none."""
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


# What importance means, and by feature its value and the width of its bar.
Importance = tuple[str, list[tuple[str, float, float]]]


@dataclass(frozen=True)
class Section:
    """A part of a page that words and tables make."""

    name: str
    title: str
    words: list[str] = field(default_factory=list)
    tables: list[tuple[str, Table]] = field(default_factory=list)


@dataclass(frozen=True)
class Costs:
    """Quality against cost: the picture, the curve, and what each label alone would get."""

    figure: str
    curve: Table
    singles: Table


@dataclass(frozen=True)
class Trust:
    """How sure the ranker is, and how far that can be trusted.

    Attributes
    ----------
    figures : list of (str, str)
        Pictures and what they show.
    error : float
        The expected calibration error; NaN if there are no probabilities.
    answered : list of (str, str)
        The mean tau of the rows answered, for some shares of them.
    """

    figures: list[tuple[str, str]]
    error: float
    answered: list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class ClosePart:
    """The close look, as the template shows it; what is None or empty is not shown.

    Attributes
    ----------
    in_words : str
        A sentence on what the ranker does for rows that it has not seen.
    about : str
        What was looked at.
    labels, start : list of str, str
        The names of the labels without what all of them begin with, and that.
    """

    in_words: str
    about: str
    rows: dict[str, Any]
    importance: Importance
    n_features: int
    labels: list[str] = field(default_factory=list)
    start: str = ""
    costs: Costs | None = None
    ranks: Strips | None = None
    pairs: Strips | None = None
    trust: Trust | None = None
    sections: list[Section] = field(default_factory=list)
