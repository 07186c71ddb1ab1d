"""prefero explain: why a model puts one label before another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prefero._pipelines import final_step
from prefero._prediction import load_ranker, new_features
from prefero.cli.console import print_json, say
from prefero.cli.options import (
    JsonOption,
    KeyFileOption,
    ListedOption,
    ModelFile,
    NewDataFile,
    read_key,
    writable,
)
from prefero.cli.tables import read

if TYPE_CHECKING:
    from prefero.study import Explanation
    from prefero.tables import DataTable

EXAMPLES = (
    "prefero explain model.prefero new.csv --row 17",
    "prefero explain model.prefero new.csv --row 17 --pair A,B --figure why.svg",
)


def explain(
    model: ModelFile,
    data: NewDataFile,
    row: Annotated[
        int, typer.Option(min=1, metavar="N", help="Which instance; the first of NEW is 1.")
    ] = 1,
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Two labels; by default the two predicted first. Of a model that knows what is "
            "relevant, also one label: why it is relevant, or not.",
        ),
    ] = None,
    top: ListedOption = 10,
    figure: Annotated[
        Path | None,
        typer.Option(
            callback=writable, metavar="FILE", help="Draw the effects too: .svg, .png or .pdf."
        ),
    ] = None,
    key_file: KeyFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why a model puts one label before another for one instance."""
    from prefero.study import ZERO_POINT
    from prefero.study import explain as explain_row

    ranker = load_ranker(model, read_key(key_file))
    table = read(data)
    X = new_features(ranker, table)
    _refuse_row(table, row)
    zero = ZERO_POINT if hasattr(final_step(ranker), "predict_calibrated") else None
    why = explain_row(ranker, X, row - 1, pair=_labels(pair, zero))
    if figure is not None:
        _draw(why, figure, top)
    tell(why, row, top, as_json)


def tell(why: "Explanation", row: int, top: int, as_json: bool) -> None:
    """Print an explanation of a row, which people count from 1."""
    if as_json:
        print_json({**why.to_dict(), "row": row})
    else:
        print(why.to_text(top).replace(f"Row {row - 1}:", f"Row {row}:", 1))


def _refuse_row(table: "DataTable", row: int) -> None:
    if row > len(table.frame):
        raise table.error(f"there are {len(table.frame)} rows, so --row cannot be {row}.")


def _labels(pair: str | None, zero: str | None) -> tuple[str, str] | None:
    if pair is None:
        return None
    names = tuple(name.strip() for name in pair.split(","))
    if len(names) == 1 and zero is not None:
        return names[0], zero
    if len(names) != 2:
        raise typer.BadParameter(f"--pair names two labels, such as A,B, not {pair!r}.")
    return names[0], names[1]


def _draw(why: object, path: Path, top: int) -> None:
    from prefero._optional import require

    require("matplotlib", extra="plot", purpose="Drawing").use("agg")
    why.plot(top=top).figure_.savefig(path)  # type: ignore[attr-defined]
    say(f"Drew {path}.")
