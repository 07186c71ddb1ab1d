"""Comparisons as commands hand them out: results in a file, a page, JSON or a table."""

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero.cli.console import number, print_json, say
from prefero.cli.options import Results
from prefero.cli.tables import write
from prefero.cli.trials import Plan, Trials

if TYPE_CHECKING:
    from prefero.evaluation import Comparison
    from prefero.evaluation import ResultTable as Table


@dataclass(frozen=True)
class Pictured:
    """What a page of a comparison looks at more closely."""

    title: str
    focus: str
    models: Mapping[str, Any]
    sources: Mapping[str, tuple[Any, ...]]
    groups: Mapping[str, Any]


def hand_out(
    results: Results,
    trials: Trials,
    found: "Comparison",
    plan: Plan,
    pictured: Callable[[], Pictured],
    show: Callable[[], None],
) -> None:
    """Write what was asked for; print JSON, or show the comparison to a person."""
    if results.out is not None:
        write(trials.results.to_frame(), results.out)
    if results.report is not None:
        _write_page(results.report, trials, found, pictured(), plan)
    if results.as_json:
        print_json(_report(trials, found, plan))
    else:
        show()


def say_failures(trials: Trials) -> None:
    """Say who has no result on what, and why."""
    for (name, dataset), reason in trials.failed.items():
        say(f"{name} has no result on {dataset}: {reason}")


def _write_page(
    path: Path, trials: Trials, found: "Comparison", pictured: Pictured, plan: Plan
) -> None:
    from prefero.report import write_report

    write_report(
        path,
        trials.results,
        pictured.sources,
        pictured.models,
        groups=pictured.groups,
        focus=pictured.focus,
        scoring=found.scoring,
        title=pictured.title,
        command=shlex.join(["prefero", *sys.argv[1:]]),
        random_state=plan.seed,
    )
    say(f"Wrote {path}.")


def _report(trials: Trials, found: "Comparison", plan: Plan) -> dict[str, Any]:
    from prefero.evaluation import summarize

    return {
        "verdict": found.verdict(),
        "metric": found.scoring.replace("_", "-"),
        "best": found.best,
        "not_told_apart": found.alike(),
        "folds": plan.folds,
        "repeats": plan.repeats,
        "summary": list(summarize(trials.results, by=("dataset", "ranker"))),
        "rankers": found.rankers,
        "datasets": found.datasets,
        "average_ranks": found.average_ranks.tolist(),
        "test": found.test,
        "p_value": found.p_value,
        "posthoc": found.posthoc,
        "pair_p_values": found.pair_p_values.tolist(),
        "critical_difference": found.critical_difference,
        "left_out": found.left_out,
        "over_folds": list(found.over_folds),
        "failed": [
            {trials.noun: name, "dataset": dataset, "reason": reason}
            for (name, dataset), reason in trials.failed.items()
        ],
    }


def by_place(results: "Table", found: "Comparison") -> list[dict[str, Any]]:
    """Return the summary of each ranker, the best first."""
    from prefero.evaluation import summarize

    place = {found.rankers[i]: n for n, i in enumerate(found.order)}
    return sorted(
        summarize(results, by=("ranker",)), key=lambda row: place.get(row["ranker"], len(place))
    )


def cell(row: Mapping[str, Any], metric: str, *, deviation: bool = True) -> str:
    """Return a mean for a person, with its standard deviation if there is one."""
    shown, spread = number(row[metric]), number(row[f"{metric}_sd"], 2)
    return f"{shown} ±{spread}" if deviation and spread else shown
