"""What the page says about the best ranker on one data set, whatever its task is."""

from dataclasses import dataclass, field
from typing import Any

from prefero.evaluation.table import Table
from prefero.report.strips import Strips

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
