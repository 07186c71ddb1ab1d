"""prefero info: what a model file holds."""

from typing import Any

from prefero.cli.console import page, plain_table, print_json
from prefero.cli.options import JsonOption, ModelFile

EXAMPLES = ("prefero info model.prefero", "prefero info model.prefero --json")

_MOST_NAMES = 30


def info(model: ModelFile, as_json: JsonOption = False) -> None:
    """Say what a model file holds. Nothing in it is run."""
    from prefero.persistence import read_header

    header = read_header(model)
    if as_json:
        print_json({"file": str(model), "bytes": model.stat().st_size, **header})
        return
    console = page()
    table = plain_table("", "", numeric=False)
    table.show_header = False
    for name, value in _lines(header, model.stat().st_size):
        table.add_row(name, value)
    console.print(f"{model}\n")
    console.print(table)


def _lines(header: dict[str, Any], size: int) -> list[tuple[str, str]]:
    parameters = header.get("parameters") or {}
    return [
        ("model", str(header["model"])),
        ("labels", _listed(header.get("labels"))),
        ("features", _listed(header.get("features"), header.get("n_features"))),
        ("parameters", ", ".join(f"{name}={value!r}" for name, value in parameters.items())),
        ("written by", f"prefero {header.get('prefero')}, format {header['format']}"),
        ("scikit-learn", str(header.get("scikit-learn"))),
        ("size", f"{size:,} bytes"),
        ("sha256", str(header["sha256"])),
    ]


def _listed(names: Any, count: Any = None) -> str:
    if not isinstance(names, list):
        return f"{count} without names" if count is not None else "none"
    shown = ", ".join(str(name) for name in names[:_MOST_NAMES])
    more = f", ... and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{len(names)}: {shown}{more}"
