"""prefero evaluate: a saved model on rows with known rankings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._model_inputs import new_features
from prefero._pipelines import final_step
from prefero._prediction import kind_of
from prefero.cli import options
from prefero.cli.console import number, page, plain_table, print_json, say
from prefero.cli.order import ObjectColumns, read_objects
from prefero.cli.tables import read_training_data
from prefero.exceptions import DataError

if TYPE_CHECKING:
    from prefero.evaluation import ResultTable

EXAMPLES = (
    "prefero evaluate m.prefero test.csv --labels 'y_*' --format scores --higher-is-better",
    "prefero evaluate m.prefero ranks.csv --labels a,b,c --groups person --json",
    "prefero evaluate orderer.prefero graded.csv --group query --grade relevance",
)

_TITLES = {
    "pair_calibration_error": "calibration error of pairs",
    "pair_log_loss": "log-loss of pairs",
    "top_set_coverage": "coverage of 90% top sets",
    "top_set_size": "labels in a top set",
}
TestFile = Annotated[
    Path,
    typer.Argument(metavar="TEST", help="Rows with known rankings; - is stdin."),
]


@options.with_option_groups
def evaluate(
    model: options.ModelFile,
    data: TestFile,
    *,
    meaning: options.Meaning,
    objects: ObjectColumns,
    groups: options.GroupsOption = None,
    reading: options.Reading,
    key_file: options.KeyFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Measure a saved model on rows with known rankings."""
    from prefero.evaluation import evaluate as measured
    from prefero.persistence import load

    trained = load(model, key=options.read_key(key_file))
    if kind_of(trained) != "orderer":
        options.refuse_together("a model that ranks labels", {"--group": objects.group})
        parts = _labelled(trained, data, reading, groups)
    else:
        options.refuse_together("a model that orders objects", {"--labels": reading.labels})
        sample = read_objects(data, objects, options.FeatureColumns())
        X = new_features(trained, sample.table)
        parts = {"X": X, "y": sample.target, "scores": sample.scores, "groups": sample.groups}
    found = measured(trained, **parts)
    summary = _summary(found, len(parts["y"]), by_value=parts["scores"] is not None)
    if as_json:
        print_json({"summary": summary, "rows": len(parts["y"]), "metrics": list(found)})
        return
    _show(found)
    say(summary)


def _labelled(trained: Any, data: Path, reading: Any, groups: str | None) -> dict[str, Any]:
    """Read rows with rankings of the labels that a model knows, in its order."""
    table = read_training_data(data, reading, None, None, groups)
    rankings = table.rankings
    known = list(map(str, final_step(trained).labels_))
    if set(rankings.labels) != set(known):
        odd = sorted(set(rankings.labels) ^ set(known))[0]
        where = "the table has no such label" if odd in known else "the model knows no such label"
        raise DataError(f"label {odd!r}: {where}; the model ranks {', '.join(known)}.", str(data))
    order = [rankings.labels.index(name) for name in known]
    if hasattr(final_step(trained), "predict_calibrated"):
        if rankings.calibrated is None:
            raise DataError(
                "the model predicts relevant labels: give --format relevance or calibrated.",
                str(data),
            )
        order = [*order, len(known)]
    target = rankings.ranks if rankings.calibrated is None else rankings.calibrated
    scores = rankings.scores if rankings.calibrated is None else None
    X = new_features(trained, rankings.table)
    X = X.iloc[rankings.rows] if hasattr(X, "iloc") else X[rankings.rows]
    return {
        "X": X,
        "y": target[:, order],
        "scores": None if scores is None else scores[:, order],
        "groups": table.groups,
    }


def _summary(found: "ResultTable", rows: int, by_value: bool) -> str:
    """Say first whether the model beats the baseline on these rows."""
    names = list(found["metric"])
    by = "regret" if by_value and "regret" in names else names[0]
    line = found[names.index(by)]
    baseline = "the single best label" if by == "regret" else "the same order for everyone"
    verb = "beats" if line["better_low"] > 0 else "is not shown to beat"
    if line["better_high"] < 0:
        verb = "is worse than"
    return (
        f"On these {rows} rows the model {verb} {baseline}: {by} {number(line['value'])} against "
        f"{number(line['baseline'])}, better by {number(line['better_low'])} to "
        f"{number(line['better_high'])} (95% interval). The baseline is chosen on these very rows."
    )


def _show(found: "ResultTable") -> None:
    table = plain_table("metric", "value", "95% interval", "baseline", "better by")
    for row in found:
        ends = _ends(row["low"], row["high"])
        better = _ends(row["better_low"], row["better_high"]) or number(row["better_by"])
        title = _TITLES.get(row["metric"], row["metric"].replace("_", " "))
        table.add_row(title, number(row["value"]), ends, number(row["baseline"]), better)
    page().print(table)


def _ends(low: float, high: float) -> str:
    return "" if low != low else f"{number(low)} to {number(high)}"
