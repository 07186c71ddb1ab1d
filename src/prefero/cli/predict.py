"""prefero predict: the order of the labels for new instances."""

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._pipelines import at_final_step, final_step
from prefero.cli.console import say
from prefero.cli.features import known_features, refuse_missing
from prefero.cli.models import (
    as_input,
    feature_names,
    load_ranker,
    prose_features,
    say_unseen,
    takes_missing,
    text_features,
    unseen_names,
)
from prefero.cli.options import (
    JsonOption,
    KeyFileOption,
    ModelFile,
    NewDataFile,
    OutOption,
    read_key,
)
from prefero.cli.tables import read_in_parts, writing

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.tables import Table

EXAMPLES = (
    "prefero predict model.prefero new.csv",
    "prefero predict model.prefero new.csv --output order --top 3 --reliability --keep id",
    "cat new.csv | prefero predict model.prefero - --output scores --json",
)


CHUNK_ROWS, CHUNK_PAIRS = 10_000, 2_000_000


class Form(StrEnum):
    """A form that predictions can be written in."""

    RANKS = "ranks"
    ORDER = "order"
    SCORES = "scores"
    PAIRS = "pairs"
    RELEVANT = "relevant"
    CALIBRATED = "calibrated"


_OF_SETS = (Form.RELEVANT, Form.CALIBRATED)


def predict(
    model: ModelFile,
    data: NewDataFile,
    form: Annotated[
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
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="Leave out all but the first K labels.")
    ] = None,
    reliability: Annotated[
        bool,
        typer.Option("--reliability", help="Add the Kendall tau to expect of each row."),
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Columns of NEW to copy into the output, as an id."),
    ] = None,
    out: OutOption = None,
    key_file: KeyFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Predict the order of the labels for new instances."""
    trained = load_ranker(model, read_key(key_file))
    ranker = final_step(trained)
    form = _form_for(ranker, form)
    if reliability and not hasattr(ranker, "predict_reliability"):
        raise typer.BadParameter(f"The model in {model} is not calibrated: train it again.")
    n_rows = 0
    unseen: dict[str, Counter[str]] = {}
    with writing(out or Path("-"), as_json=as_json) as write:
        for table in read_in_parts(data, _rows_at_a_time(ranker, form)):
            X = new_features(trained, table)
            for column, names in unseen_names(trained, X).items():
                unseen.setdefault(column, Counter()).update(names)
            write(_predictions(trained, X, table, form, top, keep, reliability))
            n_rows += len(table.frame)
    say_unseen(unseen)
    if form is Form.SCORES:
        say("Scores order the labels of a row; they are not in the unit of the training data.")
    if out is not None:
        say(f"Wrote the {form} of {n_rows} predictions to {out}.")


def _form_for(ranker: Any, asked: Form | None) -> Form:
    """Return the form asked for, or that in which a model says all it knows."""
    knows = hasattr(ranker, "predict_calibrated")
    if asked is None:
        return Form.CALIBRATED if knows else Form.RANKS
    if asked in _OF_SETS and not knows:
        raise typer.BadParameter(
            f"--output {asked}: the model does not know what is relevant; train it with "
            "--format relevance or calibrated."
        )
    return asked


def _rows_at_a_time(ranker: Any, form: Form) -> int:
    """Return how many rows to predict at a time: few if each has many pairs of labels."""
    if form is not Form.PAIRS:
        return CHUNK_ROWS
    return max(1, min(CHUNK_ROWS, CHUNK_PAIRS // len(ranker.labels_) ** 2))


def _predictions(
    trained: Any,
    X: Any,
    table: "Table",
    form: Form,
    top: int | None,
    keep: str | None,
    reliability: bool,
) -> "pd.DataFrame":
    """The lines of output for a part of the input."""
    kept = table.frame[table.columns(keep)] if keep else table.frame[[]]
    ranker, X = at_final_step(trained, X)
    predictions = _predicted(ranker, X, kept, form, top)
    if reliability:
        sure = ranker.predict_reliability(X)
        predictions["reliability"] = sure[predictions["row"]] if form is Form.PAIRS else sure
    if form is Form.PAIRS:
        predictions["row"] += table.first_row + 1
    return predictions


def new_features(model: Any, table: "Table", able: str = "a tree or a forest") -> Any:
    """Return the features of a table as a model takes them; ``able`` ones take missing values."""
    import numpy as np

    names = feature_names(model)
    X = known_features(
        table, names, model.n_features_in_, text_features(model), prose_features(model)
    )
    if not takes_missing(model):
        refuse_missing(table, X, np.arange(len(X)), type(final_step(model)).__name__, able)
    return X if names is None else as_input(model, X)


def _predicted(
    ranker: Any, X: Any, kept: "pd.DataFrame", form: Form, top: int | None
) -> "pd.DataFrame":
    import pandas

    ranks = ranker.predict_ranks(X) if hasattr(ranker, "predict_ranks") else ranker.predict(X)
    labels = [str(label) for label in ranker.labels_]
    if form is Form.PAIRS:
        pairs = _pairs(ranker, X, ranks, labels, top)
        return kept.iloc[pairs["row"]].reset_index(drop=True).join(pairs)
    if form is Form.ORDER:
        from prefero.rankings import format_order, orders_from_ranks

        orders = orders_from_ranks(ranks, labels, top=top)
        target = pandas.DataFrame({"order": [format_order(order) for order in orders]})
    elif form is Form.SCORES:
        scores = pandas.DataFrame(ranker.decision_function(X), columns=labels)
        target = scores if top is None else scores.where(ranks <= top)
    elif form in _OF_SETS:
        target = _sets(ranker.predict_calibrated(X), labels, form, ranks, top)
    else:
        target = pandas.DataFrame(ranks, columns=labels)
        target = target if top is None else target.where(ranks <= top).astype("Int64")
    clash = [name for name in kept.columns if name in target.columns]
    return kept.drop(columns=clash).join(target)


def _sets(
    calibrated: "NDArray[np.int64]", labels: list[str], form: Form, ranks: Any, top: int | None
) -> "pd.DataFrame":
    """Which labels are relevant: as columns, or as text with their order."""
    import numpy as np
    import pandas

    from prefero.rankings import text_from_calibrated

    shown = np.full(ranks.shape, True) if top is None else ranks <= top
    if form is Form.RELEVANT:
        relevant = calibrated[:, :-1] < calibrated[:, -1:]
        target = pandas.DataFrame(relevant.astype(np.int64), columns=labels)
        return target if top is None else target.where(shown).astype("Int64")
    known = np.column_stack([np.where(shown, calibrated[:, :-1], np.nan), calibrated[:, -1]])
    return pandas.DataFrame({"calibrated": text_from_calibrated(known, labels)})


def _pairs(
    ranker: Any, X: Any, ranks: "NDArray[np.int64]", labels: list[str], top: int | None
) -> "pd.DataFrame":
    """A line for each pair of labels, by their predicted order."""
    import numpy as np
    import pandas

    order = np.argsort(ranks, axis=1)
    first, second = np.triu_indices(ranks.shape[1], 1)
    wanted = first < (top or ranks.shape[1])
    preferred, other = order[:, first[wanted]], order[:, second[wanted]]
    row = np.repeat(np.arange(len(order)), wanted.sum())
    names = np.array(labels, dtype=object)
    pairs = {"row": row, "preferred": names[preferred.ravel()], "other": names[other.ravel()]}
    if hasattr(ranker, "predict_pairwise"):
        probability = ranker.predict_pairwise(X)  # of c + 1 labels if there is a zero point
        pairs["probability"] = probability[row, preferred.ravel(), other.ravel()]
    return pandas.DataFrame(pairs)
