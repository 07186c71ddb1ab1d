"""prefero demo: a tour on data that ships with scikit-learn."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

from prefero._progress import reporting
from prefero.cli.console import page, plain_table, print_json, section
from prefero.cli.models import BASELINE, RANKERS, RankerChoice
from prefero.cli.options import JsonOption

if TYPE_CHECKING:
    from rich.console import RenderableType

EXAMPLES = ("prefero demo",)

# Name, number of instances used, and a description.
_SETS = (
    ("wine", 178, "cultivars by their probability"),
    ("digits", 300, "digits by likeness"),
    ("diabetes", 442, "blood measurements by size"),
)
_FOLDS = 3

# From a table to predictions; a checkout holds an example table.
_EXAMPLE_FILE = Path("examples") / "yields.csv"
_EXAMPLE_OPTIONS = "--labels 'yield *' --format scores --higher-is-better"
_NEXT = (
    "{prefero} check {data} {options}",
    "{prefero} compare {data} {options}{ignore} --report page.html",
    "{prefero} train {data} -o model.prefero {options}{ignore}",
    "{prefero} predict model.prefero {data} --output order --top 3",
)
_EXAMPLE = """\
>>> from prefero import {estimator}
>>> from prefero.datasets import load_dataset
>>> wine = load_dataset("wine", as_frame=True)
>>> ranker = {estimator}().fit(wine.data, wine.target)
>>> ranker.predict_order(wine.data[:3])"""


@dataclass
class _Result:
    """One ranker on one set: the mean tau, and the order it predicts for one new instance."""

    data: str
    ranker: RankerChoice
    tau: float
    true: list[str]
    predicted: list[str]


def demo(as_json: JsonOption = False) -> None:
    """Show what Prefero does, on three small data sets.

    Parameters
    ----------
    as_json
        Print the figures as JSON.
    """
    data = {name: _load(name, size) for name, size, _ in _SETS}
    runs = [(name, choice) for name in data for choice in RANKERS]
    results = []
    with reporting("auto", len(runs), what="Cross-validating") as advance:
        for name, choice in runs:
            results.append(_run(name, data[name], choice))
            advance()
    if as_json:
        print_json([{**vars(result), "ranker": result.ranker.name} for result in results])
        return
    console = page()
    for part in _sections(data, results):
        # Commands are to be copied: they are not wrapped.
        console.print(part, soft_wrap=True)
        console.print()


def _load(name: str, size: int) -> Any:
    from sklearn.utils import shuffle

    from prefero.datasets import load_dataset

    data = load_dataset(name)
    data.data, data.target = shuffle(data.data, data.target, random_state=0, n_samples=size)
    return data


def _run(name: str, data: Any, choice: RankerChoice) -> _Result:
    import numpy as np
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.preprocessing import StandardScaler

    from prefero.metrics import kendall_tau
    from prefero.pipeline import make_ranking_pipeline

    model = make_ranking_pipeline(StandardScaler(), choice.make())
    predicted = cross_val_predict(model, data.data, data.target, cv=KFold(_FOLDS))
    labels = np.asarray(data.label_names)
    return _Result(
        data=name,
        ranker=choice,
        tau=float(kendall_tau(data.target, predicted)),
        true=labels[np.argsort(data.target[0])].tolist(),
        predicted=labels[np.argsort(predicted[0])].tolist(),
    )


def _sections(data: dict[str, Any], results: list[_Result]) -> list["RenderableType"]:
    from rich.text import Text

    best = {
        name: max((r for r in results if r.data == name), key=lambda result: result.tau)
        for name in data
    }
    learned = [r.ranker for r in best.values() if r.ranker is not BASELINE]
    favourite = max(learned, key=learned.count, default=BASELINE)
    purpose = " learns to order: features in, the order of a set of labels out."
    return [
        Text.assemble(("Prefero", "bold"), purpose),
        _sets_table(data),
        _tau_table(list(data), results, best),
        _orders_table(best),
        _explanation(),
        _next_steps(favourite),
    ]


def _sets_table(data: dict[str, Any]) -> "RenderableType":
    table = plain_table("set", "instances", "features", "labels")
    table.add_column("to be ordered")
    for name, _, about in _SETS:
        n, features = data[name].data.shape
        table.add_row(name, str(n), str(features), str(len(data[name].label_names)), about)
    return section("Three data sets made from data that ships with scikit-learn", table)


def _tau_table(
    names: list[str], results: list[_Result], best: dict[str, _Result]
) -> "RenderableType":
    from rich.text import Text

    table = plain_table("ranker", *names)
    for choice in RANKERS:
        row = {r.data: r for r in results if r.ranker == choice}
        cells = [
            Text(f"{row[name].tau:.3f}", style="bold green" if row[name] is best[name] else "")
            for name in names
        ]
        table.add_row(choice.title, *cells)
    title = f"Kendall tau in {_FOLDS}-fold cross-validation: 1 is every pair right, 0 is chance"
    return section(title, table)


def _orders_table(best: dict[str, _Result]) -> "RenderableType":
    table = plain_table("set", "", "order", numeric=False)
    for name, result in best.items():
        table.add_row(name, "predicted", _order(result.predicted))
        table.add_row("", "true", _order(result.true), end_section=True)
    return section("Three instances that the best ranker had not seen", table)


def _explanation() -> "RenderableType":
    """Explain the order of one wine, by a forest trained on every other one."""
    from rich.console import Group

    from prefero import ForestLabelRanker
    from prefero.datasets import load_dataset
    from prefero.inspection import explain

    wine = load_dataset("wine", as_frame=True)
    forest = ForestLabelRanker(random_state=0).fit(wine.data[::2], wine.target[::2])
    unseen = wine.data[1::2]
    why = explain(forest, unseen, 0)
    tau = forest.predict_expected_tau(unseen)
    table = plain_table("feature", "value", "effect", "speaks for")
    for row in why.effect_table(3):
        cells = [row["feature"], row["value"], f"{row['effect']:.2f}", row["speaks for"]]
        table.add_row(*map(str, cells))
    certainty = (
        f"It is more certain of this order than of {(tau < tau[0]).mean():.0%} of such wines."
    )
    return section(
        "How certain a forest is about a wine that it has not seen, and why",
        Group(why.summary(), certainty, "", table),
    )


def _next_steps(favourite: RankerChoice) -> "RenderableType":
    here = _EXAMPLE_FILE.is_file()
    words = {
        "prefero": "prefero" if which("prefero") else os.path.relpath(sys.argv[0]),
        "data": str(_EXAMPLE_FILE) if here else "data.csv",
        "options": _EXAMPLE_OPTIONS if here else "--labels 'y_*'",
        "ignore": " --ignore substrate" if here else "",
    }
    commands = [line.format(**words) for line in _NEXT]
    python = _EXAMPLE.format(estimator=favourite.estimator).splitlines()
    steps = "\n".join(f"  {line}" for line in [*commands, "", "python", *python])
    return section("What to type next", steps)


def _order(labels: list[str], longest: int = 4) -> str:
    from prefero.rankings import format_order

    return format_order(labels[:longest]) + (" > ..." if len(labels) > longest else "")
