"""prefero explain: why a model puts one label before another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prefero._model_inputs import new_features
from prefero._pipelines import final_step
from prefero._prediction import load_ranker
from prefero.cli import options
from prefero.cli.console import count, print_json, say
from prefero.cli.tables import read

if TYPE_CHECKING:
    from prefero.inspection import Explanation
    from prefero.tables import DataTable

EXAMPLES = (
    "prefero explain model.prefero new.csv --row 17",
    "prefero explain model.prefero new.csv --row 17 --pair A,B --figure why.svg",
)


def explain(
    model: options.ModelFile,
    data: options.NewDataFile,
    row: Annotated[int, typer.Option(min=1)] = 1,
    pair: str | None = None,
    top: options.ListedOption = 10,
    figure: Annotated[Path | None, typer.Option(callback=options.writable)] = None,
    key_file: options.KeyFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Explain why a model puts one label before another.

    Parameters
    ----------
    row : N
        Which instance; the first of NEW is 1.
    pair : A,B
        Two labels; by default the two predicted first. With a model that predicts relevant labels
        also one label: why it is relevant, or not.
    figure : FILE
        Plot the effects: .svg, .png or .pdf.
    """
    from prefero.inspection import VIRTUAL_LABEL
    from prefero.inspection import explain as explain_row

    ranker = load_ranker(model, options.read_key(key_file))
    table = read(data)
    X = new_features(ranker, table)
    check_row(table, row)
    multilabel = hasattr(final_step(ranker), "predict_calibrated")
    why = explain_row(ranker, X, row - 1, pair=_labels(pair, VIRTUAL_LABEL if multilabel else None))
    if figure is not None:
        _draw(why, figure, top)
    show_explanation(why, row, top, as_json)


def show_explanation(why: "Explanation", row: int, top: int, as_json: bool) -> None:
    """Print an explanation of a row, counted from 1."""
    if as_json:
        print_json({**why.to_dict(), "row": row})
    else:
        print(why.to_text(top).replace(f"Row {row - 1}:", f"Row {row}:", 1))


def check_row(table: "DataTable", row: int, option: str = "--row") -> None:
    """Refuse a row that a table does not have."""
    if row > len(table.frame):
        rows = count(len(table.frame), "row")
        raise table.error(f"there are {rows}, so {option} cannot be {row}.")


def _labels(pair: str | None, virtual_label: str | None) -> tuple[str, str] | None:
    if pair is None:
        return None
    names = tuple(name.strip() for name in pair.split(","))
    if len(names) == 1 and virtual_label is not None:
        return names[0], virtual_label
    if len(names) != 2:
        raise typer.BadParameter(f"--pair takes two labels, such as A,B, not {pair!r}.")
    return names[0], names[1]


def _draw(why: object, path: Path, top: int) -> None:
    from prefero._optional import require

    require("matplotlib", extra="plot", purpose="Drawing").use("agg")
    why.plot(top=top).figure_.savefig(path)  # type: ignore[attr-defined]
    say(f"Drew {path}.")
