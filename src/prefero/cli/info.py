"""prefero info: what a model file holds."""

from typing import Any

from prefero.cli.console import page, plain_table, print_json, printable
from prefero.cli.options import JsonOption, KeyFileOption, ModelFile, read_key

EXAMPLES = ("prefero info model.prefero", "prefero info model.prefero --json")

_MOST_NAMES = 30


def info(model: ModelFile, key_file: KeyFileOption = None, as_json: JsonOption = False) -> None:
    """Describe a model file. Nothing in it is run."""
    from prefero.persistence import read_header

    header = read_header(model, key=read_key(key_file))
    if as_json:
        print_json({**header, "file": str(model), "bytes": model.stat().st_size})
        return
    console = page()
    table = plain_table("", "", numeric=False)
    table.show_header = False
    for name, value in _lines(header, model.stat().st_size):
        table.add_row(name, printable(value))
    console.print(printable(f"{model}\n"))
    console.print(table)


def _lines(header: dict[str, Any], size: int) -> list[tuple[str, str]]:
    parameters, signed = header["parameters"], header["signed"]
    return [
        ("model", header["model"]),
        ("labels", _listed(header["labels"])),
        ("features", _listed(header["features"], header["n_features"])),
        ("parameters", ", ".join(f"{name}={value!r}" for name, value in parameters.items())),
        ("written by", f"prefero {header['prefero']}, format {header['format']}"),
        ("scikit-learn", header["scikit-learn"]),
        ("size", f"{size:,} bytes"),
        ("sha256", header["sha256"]),
        ("signed", "yes; give its key by --key-file to check it" if signed else "no"),
    ]


def _listed(names: Any, count: Any = None) -> str:
    if not isinstance(names, list):
        return f"{count} without names" if count is not None else "none"
    shown = ", ".join(str(name).replace("\n", "\\n") for name in names[:_MOST_NAMES])
    more = f", ... and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{len(names)}: {shown}{more}"
