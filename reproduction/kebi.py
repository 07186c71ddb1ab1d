"""The papers' protocol on the sixteen KEBI sets: run rankers, print ours beside theirs.

A script of this folder that makes a table of a paper writes down its rankers and leaves the rest to
`run_kebi` and `beside`. Run by itself, this one compares every ranker of Prefero, with its
default parameters, with the best results published for each set::

    prefero reproduce kebi --quick --jobs 2

The data are read from the folder that ``--data`` or the environment variable PREFERO_DATA names;
``--data openml`` downloads those sets, by name, whose rankings were uploaded there. The published
tables are in the folder ``published`` beside this file, with their sources.
"""

import argparse
import csv
import inspect
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from joblib import Memory
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

import prefero
from prefero._files import write_beside
from prefero._typing import Values
from prefero.datasets import benchmark_path, benchmarks_folder, fetch_benchmark
from prefero.evaluation import ResultTable, run_experiment, summarize
from prefero.evaluation._run_store import all_code
from prefero.evaluation.experiment import Details
from prefero.tables import read_rankings

SMALL_SETS = (
    *("authorship", "bodyfat", "glass", "housing", "iris", "segment"),
    *("stock", "vehicle", "vowel", "wine", "wisconsin"),
)
LARGE_SETS = ("calhousing", "cpu-small", "elevators", "fried", "pendigits")
ALL_SETS = tuple(sorted(SMALL_SETS + LARGE_SETS))
OPENML = "openml"
ON_OPENML = (*("authorship", "glass", "iris", "pendigits", "segment", "vehicle", "vowel", "wine"),)
PUBLISHED_TABLES = Path(__file__).parent / "published"
N_FOLDS = 10

READING = """
Every ranker has its default parameters and gets the features as they are. The same
folds and the same missing labels for all. The best figures of others are taken set by set from
whatever method had them.
"""

# Options that change no figure: folders and files, which differ from reader to reader, and workers.
_ASIDE = ("--data", "--folder", "--jobs", "--output", "--store")

Published = dict[tuple[str, float], float]

_ITEM = ("of the paper", "ours", "met", "why")


def file_of(name: str) -> str:
    """Return where a set lies in the folder of the data."""
    return f"kebi/{'cpu' if name == 'cpu-small' else name}.csv"


def read_set(name: str) -> tuple[Values, Values]:
    """Read X and Y of one set by the name the papers give it."""
    if _by_name():
        found = fetch_benchmark(name, exact=True)
        return np.asarray(found.data), np.asarray(found.target)
    data = read_rankings(benchmark_path(file_of(name)))
    return data.X.to_numpy(), data.ranks


def _by_name() -> bool:
    return os.environ.get("PREFERO_DATA") == OPENML


def need(names: Iterable[str]) -> None:
    """Stop before any run if files of the data are missing, with one sentence."""
    folder = benchmarks_folder()
    missing = [name for name in names if folder is None or not (folder / name).exists()]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        named = folder or os.environ.get("PREFERO_DATA")
        where = f" in {named}" if named else ""
        raise FileNotFoundError(
            f"The data are not there: {missing[0]}{more} cannot be found{where}; name the folder "
            "that holds them by --data or PREFERO_DATA."
        )


def sets_to_run(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the sets that the options ask for, all of which are there."""
    there = ON_OPENML if _by_name() else SMALL_SETS if options.quick else ALL_SETS
    sets = tuple(options.sets or there)
    if not _by_name():
        need(map(file_of, sets))
    return sets


def run_kebi(
    rankers: Mapping[str, BaseEstimator],
    options: argparse.Namespace,
    *,
    sets: Sequence[str],
    missing: Sequence[float] = (0.0,),
    details: Details | None = None,
) -> ResultTable:
    """Run repetitions of ten folds, on large sets one or its first folds alone."""

    def run(chosen: Sequence[str], **folds: Any) -> ResultTable:
        data = {name: partial(read_set, name) for name in chosen}
        return run_experiment(
            rankers,
            data,
            missing=missing,
            n_jobs=options.jobs,
            folder=options.folder,
            details=details,
            **folds,
        )

    results = ResultTable([])
    if small := [name for name in sets if name not in LARGE_SETS]:
        results += run(small, n_splits=N_FOLDS, n_repeats=repetitions(options))
    for name in sets:
        if name in LARGE_SETS:
            splits = KFold(N_FOLDS, shuffle=True, random_state=0).split(read_set(name)[0])
            results += run([name], cv=list(splits)[: options.large_folds])
    return results


def repetitions(options: argparse.Namespace) -> int:
    """Return the repetitions on small sets."""
    return 1 if options.quick else options.repetitions


def protocol(options: argparse.Namespace) -> str:
    """Say in a sentence which folds were run."""
    times = repetitions(options)
    text = f"{times} repetition{'s' * (times > 1)} of ten folds on sets of up to 3000 rows"
    part = "ten folds" if options.large_folds >= N_FOLDS else f"the first {options.large_folds}"
    part += "" if options.large_folds >= N_FOLDS else " of ten folds"
    return f"{text}, {part} on larger ones."


def published_rows(file: str) -> list[dict[str, str]]:
    """Read a published table."""
    with (PUBLISHED_TABLES / file).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def published(file: str, *, column: str = "tau", **where: str) -> Published:
    """Read one method's results from a published table, by data set and missing rate.

    ``published("cheng2009_table2.csv", method="IBLR")`` are the figures of IBLR.
    """
    return {
        (row["dataset"], float(row.get("missing") or 0) / 100): float(row[column])
        for row in published_rows(file)
        if row[column] and all(row[name] == value for name, value in where.items())
    }


def beside(
    results: ResultTable,
    theirs: Mapping[str, Published],
    *,
    missing: float = 0.0,
    scoring: str = "tau",
) -> ResultTable:
    """Put our means beside published figures: one row per data set, the means last.

    ``theirs`` maps the head of a column to its figures. A head that is also the name of one
    of our rankers stands right of it.
    """
    ours = {
        (row["dataset"], row["ranker"]): row[scoring]
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
    return ResultTable(rows) + _means(rows)


def agreement(table: ResultTable, head: str, near: float = 0.01) -> tuple[str, str]:
    """Say whether a column of `beside` meets the published one, and how far apart they are.

    It is met if the figures are no more than ``near`` apart on average of the sets, in part if
    no more than three times that.
    """
    gaps = {
        row["dataset"]: row[head] - row[f"{head} (published)"]
        for row in table
        if not row["dataset"].startswith("mean of")
    }
    gaps = {name: gap for name, gap in gaps.items() if not np.isnan(gap)}
    mean = float(np.mean(np.abs(list(gaps.values()))))
    farthest = max(gaps, key=lambda name: abs(gaps[name]))
    words = f"{head}: {mean:.3f} apart on average of {len(gaps)} sets, farthest on {farthest} "
    met = "yes" if mean <= near else "partly" if mean <= 3 * near else "no"
    return met, f"{words}({gaps[farthest]:+.3f})"


def item(place: str, ours: str, *found: tuple[str, str]) -> tuple[str, str, str, str]:
    """Put what was found of several columns into one row of the last table of a page."""
    verdicts = {met for met, _ in found}
    met = verdicts.pop() if len(verdicts) == 1 else "partly"
    return place, ours, met, "; ".join(words for _, words in found)


def _of_rate(figures: Published, missing: float) -> dict[str, float]:
    return {name: value for (name, rate), value in figures.items() if np.isclose(rate, missing)}


def _means(rows: list[dict[str, Any]]) -> ResultTable:
    """Return the means over all sets, where a column has them, and over those that all have."""
    heads = [head for head in rows[0] if head != "dataset"]
    whole = [row for row in rows if not any(np.isnan(row[head]) for head in heads)]
    parts = [rows] if len(whole) == len(rows) else [rows, whole] if whole else [rows]
    means = [
        {"dataset": f"mean of {len(part)}"}
        | {head: float(np.mean([row[head] for row in part])) for head in heads}
        for part in parts
    ]
    return ResultTable(means)


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


def kebi_arguments(description: str) -> argparse.ArgumentParser:
    """Return the same with the options of scripts that run the KEBI sets."""
    parser = arguments(description)
    parser.add_argument("--large-folds", type=int, default=N_FOLDS, help="folds of larger sets")
    parser.add_argument("--sets", nargs="+", choices=ALL_SETS, help="some sets; else all")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line; ``--data`` takes the place of PREFERO_DATA, files of windows."""
    options = parser.parse_args()
    if options.data is not None:
        os.environ["PREFERO_DATA"] = options.data
    matplotlib.use("agg")
    return options


def cached(function: Callable[..., Any], folder: Path | None) -> Callable[..., Any]:
    """Keep what a function returns in a folder, if there is one, for the code of today."""
    if folder is None:
        return function
    code = all_code(Path(inspect.getfile(function)))
    return Memory(folder / code[:16], verbose=0).cache(function)


def publish(
    title: str,
    tables: Mapping[str, ResultTable],
    output: Path | None,
    *,
    figures: Mapping[str, Any] | None = None,
    reading: str = "",
    of_the_paper: Iterable[tuple[str, str, str, str]] = (),
) -> None:
    """Print tables under their headings with the command, the date and the version.

    With ``output``, say ``X.md``, the same page is written there, each table, with all its
    digits, to a file ``X/HEADING.csv``, and each figure (of matplotlib, by its heading) to
    ``X-HEADING.svg``, shown after the tables. ``reading`` is Markdown that follows: what the
    tables say and how they came about, kept in the script, so that no page needs to be edited
    by hand. It must be true of the run at hand, whatever its options. ``of_the_paper`` ends the
    page: every table and figure of the paper, where ours is, whether it was met, and why.
    """
    text = f"# {title}\n\n    {command()}\n\nPrefero {version()}, {date.today()}.\n"
    text += "".join(f"\n## {head}\n\n{table.to_text()}\n" for head, table in tables.items())
    ending = f"\n{cleandoc(reading)}\n" if reading else ""
    if items := [dict(zip(_ITEM, item, strict=True)) for item in of_the_paper]:
        ending += f"\n## Every table and figure of the paper\n\n{ResultTable(items).to_text()}\n"
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


def version() -> str:
    """Return the version of Prefero, in a checkout with the commit and whether it was changed."""
    checkout = Path(__file__).parents[1]
    if not (checkout / ".git").exists() or not shutil.which("git"):
        return prefero.__version__
    words = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude", "*"]
    commit = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    return f"{prefero.__version__} (commit {commit})"


def file_name(heading: str) -> str:
    """Return the words of a heading as the name of a file: "tau, 30%" becomes "tau-30"."""
    plain = unicodedata.normalize("NFKD", heading.replace("'", "")).encode("ascii", "ignore")
    return re.sub("[^a-z0-9]+", "-", plain.decode().lower()).strip("-")


def command() -> str:
    """Return the command as typed, without what changes no figure."""
    words = ["prefero", "reproduce", Path(sys.argv[0]).stem]
    follows = False
    for word in sys.argv[1:]:
        aside = word.partition("=")[0] in _ASIDE
        if not aside and not follows:
            words.append(word)
        follows = aside and "=" not in word
    return " ".join(words)


def default_rankers() -> dict[str, BaseEstimator]:
    """Return every label ranker of Prefero with its default parameters."""
    from prefero import label_ranking

    names = [name for name in label_ranking.__all__ if name.endswith("LabelRanker")]
    return {name.removesuffix("LabelRanker"): getattr(label_ranking, name)() for name in names}


def main() -> None:
    """Compare all rankers with the best published results."""
    parser = kebi_arguments("Compare all rankers with the best results published for each set.")
    parser.add_argument("--missing", type=float, nargs="+", default=[0.0, 0.3, 0.6])
    rankers = default_rankers()
    parser.add_argument("--rankers", nargs="+", choices=rankers, default=list(rankers))
    options = parse(parser)
    sets = sets_to_run(options)
    # The consensus order stands beside every figure.
    chosen = {name: rankers[name] for name in rankers if name in (*options.rankers, "Consensus")}
    results = run_kebi(chosen, options, sets=sets, missing=options.missing)
    best = {
        "best in a paper": published("best_known.csv", column="best_tau_printed_paper"),
        "best anywhere": published("best_known.csv", column="best_tau_any"),
    }
    tables = {
        f"Kendall's tau, {rate:.0%} of the labels missing": beside(results, best, missing=rate)
        for rate in options.missing
    }
    reading = f"{protocol(options)} {READING.lstrip()}"
    publish("All rankers on the KEBI sets", tables, options.output, reading=reading)


if __name__ == "__main__":
    main()
