"""prefero predict: the order of the labels for new instances."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from prefero._pipelines import at_final_step, final_step
from prefero._prediction import (
    OF_SETS,
    Form,
    Sureness,
    load_ranker,
    new_features,
    predictions,
    rows_at_a_time,
    unseen_names,
)
from prefero.cli.console import say
from prefero.cli.models import say_unseen
from prefero.cli.options import (
    JsonOption,
    KeyFileOption,
    LabelTableOption,
    ModelFile,
    NewDataFile,
    OutOption,
    read_key,
)
from prefero.cli.tables import read_in_parts, writing

EXAMPLES = (
    "prefero predict model.prefero new.csv",
    "prefero predict model.prefero new.csv --output order --top 3 --expected-tau --keep id",
    "cat new.csv | prefero predict model.prefero - --output scores --json",
)

FormOption = Annotated[
    Form | None,
    typer.Option(
        "--output",
        metavar="FORM",
        help="ranks (1 is best) or scores (larger is better), a column a label; order, text "
        "'b > a > c'; pairs, a line a pair, with its probability if the model has one. Of "
        "models that know what is relevant also relevant, 1 or 0 a label; and calibrated, "
        "text '[b > a][c]', the relevant first, which is their default; else ranks.",
        show_default=False,
    ),
]


def predict(
    model: ModelFile,
    data: NewDataFile,
    form: FormOption = None,
    top: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="Leave out all but the first K labels.")
    ] = None,
    expected_tau: Annotated[
        bool,
        typer.Option("--expected-tau", help="Add the Kendall tau to expect of each row."),
    ] = False,
    top_set: Annotated[
        float | None,
        typer.Option(
            "--top-set",
            min=0.001,
            max=0.999,
            metavar="ERROR",
            help="Add the labels that may be first, not more often wrong than this; of models "
            "that auto made.",
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Columns of NEW to copy into the output, as an id."),
    ] = None,
    label_table: LabelTableOption = None,
    out: OutOption = None,
    key_file: KeyFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Predict the order of the labels for new instances."""
    trained = load_ranker(model, read_key(key_file))
    ranker = final_step(trained)
    form = _form_for(ranker, form)
    sure = Sureness(expected_tau, top_set)
    asked = ranker if label_table is None else _of_other_labels(ranker, label_table)
    _refuse_unsure(asked, sure, model)
    n_rows = 0
    unseen: dict[str, Counter[str]] = {}
    with writing(out or Path("-"), as_json=as_json) as write:
        for table in read_in_parts(data, rows_at_a_time(asked, form)):
            X = new_features(trained, table)
            for column, names in unseen_names(trained, X).items():
                unseen.setdefault(column, Counter()).update(names)
            reaching = at_final_step(trained, X)[1]
            write(predictions(asked, reaching, table, form, top, keep, sure))
            n_rows += len(table.frame)
    say_unseen(unseen)
    if form is Form.SCORES:
        say("Scores order the labels of a row; they are not in the unit of the training data.")
    if out is not None:
        say(f"Wrote the {form} of {n_rows} predictions to {out}.")


def _of_other_labels(ranker: Any, table: Path) -> Any:
    """Return the ranker of the labels in a table; few commands name one."""
    from prefero.cli.label_tables import other_labels

    return other_labels(ranker, table)


def _refuse_unsure(ranker: Any, sure: Sureness, model: Path) -> None:
    """Refuse to say how sure a model is that does not know."""
    if sure.expected_tau and not hasattr(ranker, "predict_expected_tau"):
        raise typer.BadParameter(f"The model in {model} is not calibrated: train it again.")
    if sure.top_set is not None and not hasattr(ranker, "predict_top_set"):
        raise typer.BadParameter("--top-set needs a model that --model auto made.")


def _form_for(ranker: Any, asked: Form | None) -> Form:
    """Return the form asked for, or that in which a model says all it knows."""
    knows = hasattr(ranker, "predict_calibrated")
    if asked is None:
        return Form.CALIBRATED if knows else Form.RANKS
    if asked in OF_SETS and not knows:
        raise typer.BadParameter(
            f"--output {asked}: the model does not know what is relevant; train it with "
            "--format relevance or calibrated."
        )
    return asked
