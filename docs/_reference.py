"""Writes the reference of the site: one page per package, and the commands."""

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import prefero

REFERENCE = Path(__file__).parent / "reference"
# Packages in the order of a reader, with their titles.
PACKAGES = {
    "label_ranking": "Label rankers",
    "automatic": "Automatic rankers and stacks",
    "multilabel": "Multilabel rankers",
    "ordering": "Orderers of objects",
    "pipeline": "Pipelines",
    "text": "Text",
    "rankings": "Rankings",
    "preferences": "Preference graphs",
    "tables": "Tables",
    "datasets": "Data sets",
    "metrics": "Metrics",
    "metrics.multilabel": "Metrics of label sets",
    "metrics.ordering": "Metrics of orders in groups",
    "consensus": "Consensus",
    "mallows": "Mallows distributions",
    "plackett_luce": "Plackett-Luce distributions",
    "calibration": "Calibration",
    "evaluation": "Evaluation",
    "inspection": "Explanations and displays",
    "report": "Report page",
    "persistence": "Model files",
    "serve": "Service",
    "distributed": "More than one machine",
    "base": "Base classes",
    "checks": "Checks of estimators",
    "exceptions": "Exceptions",
}


def public_names(package: ModuleType) -> list[str]:
    """Return the public names of a package that are not modules."""
    return [name for name in package.__all__ if not isinstance(getattr(package, name), ModuleType)]


def write_reference() -> None:
    """Write docs/reference anew."""
    (REFERENCE / "names").mkdir(parents=True, exist_ok=True)
    missing = set(prefero._PACKAGES) - set(PACKAGES)
    if missing:
        raise ValueError(
            f"docs/_reference.py does not say what the packages {sorted(missing)} are for."
        )
    pages = []
    for name, title in PACKAGES.items():
        package = import_module(f"prefero.{name}")
        heading = f"{title}\n{'=' * len(title)}\n\n"
        about = f".. currentmodule:: prefero.{name}\n\n.. automodule:: prefero.{name}\n\n"
        listed = "".join(f"   {public}\n" for public in public_names(package))
        summary = f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{listed}"
        (REFERENCE / f"{name}.rst").write_text(heading + about + summary)
        for public in public_names(package):
            page = REFERENCE / "names" / f"prefero.{name}.{public}.rst"
            page.write_text(_page(package, public))
        pages.append(name)
    (REFERENCE / "commands.md").write_text(_commands())
    title = "Reference"
    tree = "".join(f"   {name}\n" for name in [*pages, "commands"])
    (REFERENCE / "index.rst").write_text(
        f"{title}\n{'=' * len(title)}\n\nPublic names by package, and every command.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{tree}"
    )


def _page(package: ModuleType, public: str) -> str:
    """The page of a name: what its docstring says and, of a class, those of its methods."""
    thing = getattr(package, public)
    kind = "class" if inspect.isclass(thing) else "function" if callable(thing) else "data"
    kind = "data" if not hasattr(thing, "__qualname__") else kind
    heading = f"{public}\n{'=' * len(public)}\n\n.. currentmodule:: {package.__name__}\n\n"
    methods = own_methods(thing) if inspect.isclass(thing) else []
    listed = "".join(f"\n   .. automethod:: {name}\n" for name in methods)
    return f"{heading}.. auto{kind}:: {public}\n{listed}"


def own_methods(cls: type) -> list[str]:
    """Return the public methods of a class that are written in this package."""
    return [
        name
        for name, method in inspect.getmembers(cls, inspect.isroutine)
        if not name.startswith("_")
        and (getattr(method, "__module__", None) or "").startswith("prefero")
    ]


def _commands() -> str:
    """What --help says of every command, as one page."""
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    from prefero.cli.main import build

    command: Any = get_command(build())
    with command.make_context("prefero", [], resilient_parsing=True) as context:
        page = get_docs_for_click(obj=command, ctx=context, name="prefero", title="Commands")
    examples = r"^Examples:\n((?:  .+\n?)+)"
    page = re.sub(examples, r"**Examples**:\n\n```sh\n\1\n```\n", page, flags=re.MULTILINE)
    return _in_full(page, command)


def _in_full(page: str, command: Any) -> str:
    """Write out what lists of commands cut short."""
    for name, one in command.commands.items():
        first = " ".join((one.help or "").split("\n\n")[0].split())
        short = re.search(rf"^\* `{name}`: (.*?)(?:…|\.\.\.)$", page, re.MULTILINE)
        if short and first.startswith(short[1]):
            page = page.replace(short[0], f"* `{name}`: {first}", 1)
        if hasattr(one, "commands"):
            page = _in_full(page, one)
    return page
