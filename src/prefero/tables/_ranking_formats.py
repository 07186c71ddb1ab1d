"""The formats of rankings in columns: a new one is one function and one line here."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np

from prefero._typing import Indices, Values
from prefero._warnings import warn_user
from prefero.exceptions import RowError
from prefero.metrics import penalized_run_times
from prefero.rankings import (
    calibrated_from_relevance,
    calibrated_from_scores,
    calibrated_from_text,
    check_ranks,
    ranks_from_best_worst,
    ranks_from_long,
    ranks_from_orders,
    ranks_from_pairs,
    ranks_from_scores,
    split_calibrated,
)
from prefero.tables._table import DataTable, names_of, need, numbers_of, refuse_sparse


@dataclass(frozen=True)
class ReadOptions:
    """How to read the columns, as in `read_rankings`."""

    higher_is_better: bool = False
    unranked: Literal["unknown", "below"] = "unknown"
    instance: str | None = None
    letters: bool = False
    missing_score: float | None = None
    cutoff: float | None = None


@dataclass(frozen=True)
class ParsedRankings:
    """Rankings as read; ``rows`` are the first of each ranking in the table, by default all."""

    ranks: Values
    labels: list[Any]
    rows: Indices | None = None
    scores: Values | None = None
    calibrated: Values | None = None


def _from_ranks(table: DataTable, columns: list[str], options: ReadOptions) -> ParsedRankings:
    values = table.numbers(columns)
    _refuse_relevance(values)
    ranks = need("pandas").DataFrame(values, columns=columns)
    return ParsedRankings(check_ranks(ranks, name="ranks"), columns)


def _refuse_relevance(values: Values) -> None:
    """Refuse columns that hold only 0, 1 and gaps: they say which labels are relevant."""
    zero = values == 0
    if zero.any() and (zero | (values == 1) | np.isnan(values)).all():
        row = int(np.argmax(zero.any(axis=1)))
        problem = "all cells are 0 or 1, but ranks start at 1, the best"
        raise RowError(f"{problem}: if 1 is a relevant label, try format='relevance'.", "", row)


def _from_relevance(table: DataTable, columns: list[str], options: ReadOptions) -> ParsedRankings:
    relevance = need("pandas").DataFrame(table.numbers(columns), columns=columns)
    return _of_calibrated(calibrated_from_relevance(relevance), columns)


def _from_calibrated(table: DataTable, columns: list[str], options: ReadOptions) -> ParsedRankings:
    """One column of texts with brackets, or signed scores, with the virtual label at 0."""
    if len(columns) == 1 and len(numbers_of(table.frame[columns[0]])[1]):
        texts = [text or "[][]" for text in names_of(table.frame[columns[0]])]
        calibrated, labels = calibrated_from_text(texts)
        return _of_calibrated(calibrated, list(labels))
    values = table.numbers(columns)
    return _of_calibrated(calibrated_from_scores(values), columns, values)


def _of_calibrated(
    calibrated: Values, labels: list[Any], scores: Values | None = None
) -> ParsedRankings:
    if not labels:
        return ParsedRankings(calibrated[:, :-1], labels)
    return ParsedRankings(
        split_calibrated(calibrated)[1], labels, scores=scores, calibrated=calibrated
    )


def _from_scores(table: DataTable, columns: list[str], options: ReadOptions) -> ParsedRankings:
    values = table.numbers(columns)
    if options.missing_score is not None:
        values[values == options.missing_score] = np.nan
    if options.cutoff is not None:
        values = penalized_run_times(values, options.cutoff)
    higher = options.higher_is_better
    ranks = ranks_from_scores(values, higher_is_better=higher)
    return ParsedRankings(ranks, columns, scores=values if higher else -values)


def _from_orders(table: DataTable, columns: list[str], options: ReadOptions) -> ParsedRankings:
    positions = [names_of(table.frame[column]) for column in columns]
    orders: list[Any] = positions[0] if len(columns) == 1 else list(zip(*positions, strict=True))
    if options.letters and len(columns) > 1:
        raise table.error("letters are read from one column of orders.")
    cells = set(chain.from_iterable(positions))
    names = cells - {None} if len(columns) > 1 else _labels_in(cells)
    if options.letters or (len(columns) == 1 and _are_letters(table, names)):
        orders = [_tied_letters(text) for text in orders]
    n_labels = len(names)
    refuse_sparse(sum(map(len, filter(None, positions[0]))), len(table), n_labels)
    ranks, labels = ranks_from_orders(orders, unranked=options.unranked)
    return ParsedRankings(ranks, list(labels))


def _are_letters(table: DataTable, names: set[Any]) -> bool:
    """Whether names of several letters are tied labels, written without a mark; warn of others."""
    joined = sorted(name for name in names if len(name) > 1 and _is_joined(name, names))
    if not joined:
        return False
    tied = " ~ ".join(joined[0])
    if {name for name in names if len(name) > 1} == set(joined) and set("".join(joined)) <= names:
        warn_user(
            f"{table.source}: names such as {joined[0]!r} are made of labels of one letter, and "
            f"are read as ties: {tied}."
        )
        return True
    warn_user(
        f"{table.source}: the label {joined[0]!r} is made of the names of other labels. Ties are "
        "written with ~ between the names."
    )
    return False


def _is_joined(name: str, names: set[Any]) -> bool:
    """Whether a name can be cut into other names."""
    ends = {0}
    for end in range(1, len(name) + 1):
        parts = (name[start:end] for start in ends)
        if any(part in names for part in parts if part != name):
            ends.add(end)
    return len(name) in ends


def _from_pairs(table: DataTable, columns: list[str], options: ReadOptions) -> ParsedRankings:
    preferred, other = _two(table, columns, "the preferred and the other label")
    groups, rows = _instances(table, options)
    pairs: list[list[tuple[str, str]]] = [[] for _ in rows]
    names = names_of(table.frame[preferred]), names_of(table.frame[other])
    n_labels = len(set(chain(*names)))
    refuse_sparse(len(table), max(len(rows), n_labels), n_labels)  # of one ranking, all pairs
    lines = zip(*names, strict=True)
    for row, (group, pair) in enumerate(zip(groups, lines, strict=True)):
        if None in pair:
            raise RowError("a label of the pair is missing.", "pairs", row)
        pairs[group].append(pair)
    try:
        ranks, labels = ranks_from_pairs(pairs)
    except RowError as error:
        raise RowError(error.problem, error.name, int(rows[error.row])) from error
    return ParsedRankings(ranks, list(labels), rows)


def _from_best_worst(table: DataTable, columns: list[str], options: ReadOptions) -> ParsedRankings:
    if len(columns) < 2:
        raise table.error("best-worst needs the columns shown, then the best, then the worst.")
    *shown, best, worst = (names_of(table.frame[column]) for column in columns)
    ranks, labels = ranks_from_best_worst(
        best, worst, list(zip(*shown, strict=True)) if shown else None
    )
    return ParsedRankings(ranks, list(labels))


def _from_long(table: DataTable, columns: list[str], options: ReadOptions) -> ParsedRankings:
    label, value = _two(table, columns, "the label and its value")
    if options.instance is None:
        raise table.error("a long table needs instance='COLUMN', which names the instance.")
    names = names_of(table.frame[label])
    if None in names:
        raise RowError("the label is missing.", "names", names.index(None))
    groups, rows = _instances(table, options)
    refuse_sparse(len(table), len(rows), len(set(names)))
    ranks, labels = ranks_from_long(
        groups.tolist(),
        names,
        table.numbers([value])[:, 0],
        higher_is_better=options.higher_is_better,
    )
    return ParsedRankings(ranks, list(labels), rows)


Reader = Callable[[DataTable, list[str], ReadOptions], ParsedRankings]

RANKING_FORMATS: dict[str, Reader] = {
    "ranks": _from_ranks,
    "scores": _from_scores,
    "orders": _from_orders,
    "pairs": _from_pairs,
    "best-worst": _from_best_worst,
    "long": _from_long,
    "relevance": _from_relevance,
    "calibrated": _from_calibrated,
}
DIRECTED = ("scores", "long")


def _two(table: DataTable, columns: list[str], what: str) -> tuple[str, str]:
    if len(columns) != 2:
        raise table.error(f"labels must name two columns: {what}; it means {columns}.")
    return columns[0], columns[1]


def _instances(table: DataTable, options: ReadOptions) -> tuple[Indices, Indices]:
    """The instance that each row is part of, counted from 0, and the first row of each."""
    if options.instance is None:
        every = np.arange(len(table))
        return every, every
    groups, _ = need("pandas").factorize(table.frame[options.instance].astype(str))
    return groups, np.unique(groups, return_index=True)[1]


def _labels_in(texts: set[str | None]) -> set[str]:
    """The labels in texts of orders, more or less: a quoted one may be two."""
    return {label.strip() for text in texts if text for label in re.split("[>~]", text)}


def _tied_letters(text: str | None) -> list[Any]:
    """An order of labels of one letter each, in which letters written together are tied."""
    return [] if text is None else [tuple(place.strip()) for place in text.split(">")]
