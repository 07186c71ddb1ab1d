"""The papers' protocol on the sixteen KEBI sets: run rankers, print ours beside theirs.

A script of this folder that makes a table of a paper writes down its rankers and leaves the rest to
`run_kebi` and `beside`. Run by itself, this one compares every ranker of Prefero, with its
default parameters, with the best results published for each set::

    python reproduction/kebi.py --quick --jobs 2

The data are read from the folder that the environment variable PREFERO_DATA names, the
published tables from the folder ``published`` beside it.
"""

import argparse
import csv
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from joblib import Memory
from sklearn.base import BaseEstimator

import prefero
from prefero._files import write_beside
from prefero._typing import Values
from prefero.datasets import benchmark_path
from prefero.study import Table, run_experiment, summarize
from prefero.study.experiment import Details
from prefero.tables import read_rankings

SMALL_SETS = (
    *("authorship", "bodyfat", "glass", "housing", "iris", "segment"),
    *("stock", "vehicle", "vowel", "wine", "wisconsin"),
)
LARGE_SETS = ("calhousing", "cpu-small", "elevators", "fried", "pendigits")
ALL_SETS = tuple(sorted(SMALL_SETS + LARGE_SETS))

READING = """
Every ranker has its default parameters and gets the features as they are. The same
folds and the same missing labels for all. The best figures of others are taken set by set from
whatever method had them.
"""

# Options that name folders and files, which differ from reader to reader.
_FOLDERS = ("--data", "--folder", "--output", "--store")

Published = dict[tuple[str, float], float]


def read_set(name: str) -> tuple[Values, Values]:
    """Read X and Y of one set by the name the papers give it."""
    data = read_rankings(benchmark_path(f"kebi/{'cpu' if name == 'cpu-small' else name}.csv"))
    return data.X.to_numpy(), data.ranks


def run_kebi(
    rankers: Mapping[str, BaseEstimator],
    *,
    sets: Sequence[str] = ALL_SETS,
    missing: Sequence[float] = (0.0,),
    quick: bool = False,
    n_repeats: int = 5,
    n_jobs: int | None = None,
    folder: Path | None = None,
    details: Details | None = None,
) -> Table:
    """Run five repetitions of ten folds, one on sets of more than 3000 rows.

    ``quick`` means one repetition, and small sets only.
    """

    def run(chosen: Sequence[str], n_repeats: int) -> Table:
        data = {name: partial(read_set, name) for name in chosen if name in sets}
        if not data:
            return Table([])
        return run_experiment(
            rankers,
            data,
            n_repeats=n_repeats,
            missing=missing,
            n_jobs=n_jobs,
            folder=folder,
            details=details,
        )

    return run(SMALL_SETS, 1) if quick else run(SMALL_SETS, n_repeats) + run(LARGE_SETS, 1)


def published(file: str, *, column: str = "tau", **where: str) -> Published:
    """Read one method's results from a published table, by data set and missing rate.

    ``published("cheng2009_table2.csv", method="IBLR")`` are the figures of IBLR.
    """
    path = benchmark_path(".").parent / "published" / file
    with path.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row[column]]
    return {
        (row["dataset"], float(row.get("missing") or 0) / 100): float(row[column])
        for row in rows
        if all(row[name] == value for name, value in where.items())
    }


def beside(
    results: Table, theirs: Mapping[str, Published], *, missing: float = 0.0, measure: str = "tau"
) -> Table:
    """Put our means beside published figures: one row a data set, the means last.

    ``theirs`` maps the head of a column to its figures. A head that is also the name of one
    of our rankers stands right of it.
    """
    ours = {
        (row["dataset"], row["ranker"]): row[measure]
        for row in summarize(results.where(missing=missing))
    }
    columns: dict[str, dict[str, float]] = {}
    for ranker in dict.fromkeys(ranker for _, ranker in ours):
        columns[ranker] = {name: ours[name, who] for name, who in ours if who == ranker}
        if ranker in theirs:
            columns[f"{ranker} (published)"] = _of_rate(theirs[ranker], missing)
    for head in theirs:
        if head not in columns:
            columns[head] = _of_rate(theirs[head], missing)
    names = sorted({name for name, _ in ours})
    rows = [
        {"dataset": name} | {head: values.get(name, np.nan) for head, values in columns.items()}
        for name in names
    ]
    return Table(rows) + _means(rows)


def _of_rate(figures: Published, missing: float) -> dict[str, float]:
    return {name: value for (name, rate), value in figures.items() if np.isclose(rate, missing)}


def _means(rows: list[dict[str, Any]]) -> Table:
    """Return the means over the sets for which every column has a figure."""
    heads = [head for head in rows[0] if head != "dataset"]
    whole = [row for row in rows if not any(np.isnan(row[head]) for head in heads)]
    if not whole:
        return Table([])
    means = {head: float(np.mean([row[head] for row in whole])) for head in heads}
    return Table([{"dataset": f"mean of {len(whole)}"} | means])


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser of the options that all scripts of this folder share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="one repetition, small sets only")
    parser.add_argument("--data", help="the folder of the data; else PREFERO_DATA")
    parser.add_argument("--repetitions", type=int, default=5, help="on sets up to 3000 rows")
    parser.add_argument("--jobs", type=int, help="cells to run at a time")
    parser.add_argument("--folder", type=Path, help="keep finished cells here, to go on later")
    parser.add_argument("--output", type=Path, help="write a page to X.md, tables to X/*.csv")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line; ``--data`` takes the place of PREFERO_DATA, files of windows."""
    options = parser.parse_args()
    if options.data is not None:
        os.environ["PREFERO_DATA"] = options.data
    matplotlib.use("agg")
    return options


def cached(function: Callable[..., Any], folder: Path | None) -> Callable[..., Any]:
    """Keep what a function returns in a folder, if there is one."""
    return function if folder is None else Memory(folder, verbose=0).cache(function)


def publish(
    title: str,
    tables: Mapping[str, Table],
    output: Path | None,
    *,
    figures: Mapping[str, Any] | None = None,
    reading: str = "",
) -> None:
    """Print tables under their headings with the command, the date and the version.

    With ``output``, say ``X.md``, the same page is written there, each table, with all its
    digits, to a file ``X/HEADING.csv``, and each figure (of matplotlib, by its heading) to
    ``X-HEADING.svg``, shown at the end of the page. ``reading`` is Markdown for the very end:
    what the tables say and how they came about, kept in the script, so that no page needs to
    be edited by hand. It must be true of the run at hand, whatever its options.
    """
    text = f"# {title}\n\n    {command()}\n\nPrefero {prefero.__version__}, {date.today()}.\n"
    text += "".join(f"\n## {head}\n\n{table.to_text()}\n" for head, table in tables.items())
    ending = f"\n{cleandoc(reading)}\n" if reading else ""
    print(text + ending)
    if output is None:
        return
    folder = output.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for head, table in tables.items():
        content = table.to_frame().to_csv(index=False, lineterminator="\n")
        write_beside(folder / f"{file_name(head)}.csv", content.encode())
    for head, figure in (figures or {}).items():
        name = f"{output.stem}-{file_name(head)}.svg"
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "prefero"}):
            figure.savefig(output.with_name(name), metadata={"Date": None})
        text += f"\n![{head}]({name})\n"
    write_beside(output, (text + ending).encode())
    print(f"Written: {output}, and each table as CSV in {folder}.", file=sys.stderr)


def file_name(heading: str) -> str:
    """Return the words of a heading as the name of a file: "tau, 30%" becomes "tau-30"."""
    plain = unicodedata.normalize("NFKD", heading.replace("'", "")).encode("ascii", "ignore")
    return re.sub("[^a-z0-9]+", "-", plain.decode().lower()).strip("-")


def command() -> str:
    """Return the command as typed, without the folders, which differ from reader to reader."""
    words = ["python", f"reproduction/{Path(sys.argv[0]).name}"]
    follows_folder = False
    for word in sys.argv[1:]:
        names_folder = word.partition("=")[0] in _FOLDERS
        if not names_folder and not follows_folder:
            words.append(word)
        follows_folder = names_folder and "=" not in word
    return " ".join(words)


def default_rankers() -> dict[str, BaseEstimator]:
    """Return every label ranker of Prefero with its default parameters."""
    from prefero import label_ranking

    names = [name for name in label_ranking.__all__ if name.endswith("LabelRanker")]
    return {name.removesuffix("LabelRanker"): getattr(label_ranking, name)() for name in names}


def main() -> None:
    """Compare all rankers with the best published results."""
    parser = arguments("Compare all rankers with the best results published for each set.")
    parser.add_argument("--missing", type=float, nargs="+", default=[0.0, 0.3, 0.6])
    options = parse(parser)
    results = run_kebi(
        default_rankers(),
        missing=options.missing,
        quick=options.quick,
        n_repeats=options.repetitions,
        n_jobs=options.jobs,
        folder=options.folder,
    )
    best = {
        "best in a paper": published("best_known.csv", column="best_tau_printed_paper"),
        "best anywhere": published("best_known.csv", column="best_tau_any"),
    }
    tables = {
        f"Kendall's tau, {rate:.0%} of the labels missing": beside(results, best, missing=rate)
        for rate in options.missing
    }
    publish("All rankers on the KEBI sets", tables, options.output, reading=READING)


if __name__ == "__main__":
    main()
