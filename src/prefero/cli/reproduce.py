"""prefero reproduce: a paper's tables, ours beside theirs."""

import runpy
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import prefero
from prefero.cli.options import writable

EXAMPLES = (
    "prefero reproduce cheng2009 --quick --jobs 2",
    "prefero reproduce dekel2003 --data benchmarks --output dekel2003.md",
    "prefero reproduce real --folder cells",
)
RESULTS = Path("reproduction-results")


class Paper(StrEnum):
    """A paper that Prefero implements; or real preferences, or rankings with ties."""

    CHENG2009 = "cheng2009"
    DESA2017 = "desa2017"
    BRINKER2007 = "brinker2007"
    DEKEL2003 = "dekel2003"
    KAMISHIMA2006 = "kamishima2006"
    REAL = "real"
    TIES = "ties"


def reproduce(
    paper: Annotated[
        Paper,
        typer.Argument(
            help="The paper; or real: rankings that people, fields and solvers gave; or ties."
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions, small sets.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of the data; else PREFERO_DATA."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="How much to do at a time.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep finished work here; started again, go on."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            callback=writable,
            metavar="X.md",
            show_default=f"{RESULTS}/PAPER.md",
            help="The page; its tables go to X/*.csv.",
        ),
    ] = None,
) -> None:
    """Repeat a paper's experiments, ours beside theirs.

    The tables are printed, and written as a page of text and as CSV, one file each. This is the
    script of that name in the folder reproduction of Prefero's source.
    """
    script = find_script(paper)
    if output is None:
        output = RESULTS / f"{paper}.md"
    options = {"--data": data, "--jobs": jobs, "--folder": folder, "--output": output}
    arguments = [str(script), *(["--quick"] if quick else [])]
    for name, value in options.items():
        arguments += [] if value is None else [name, str(value)]
    # From here on this process is the script, as if python had been given it.
    sys.argv = arguments
    sys.path.insert(0, str(script.parent))
    runpy.run_path(str(script), run_name="__main__")


def find_script(paper: Paper) -> Path:
    """Return the script of a paper: beside the installed sources, or in the current folder."""
    beside_sources = Path(prefero.__file__).parents[2]
    for root in (beside_sources, Path.cwd()):
        script = root / "reproduction" / f"{paper}.py"
        if script.is_file():
            return script
    raise FileNotFoundError(
        f"there is no reproduction/{paper}.py here: the papers' scripts come with the source of "
        f"Prefero {prefero.__version__}, not with the installed package. Unpack the source and "
        "run this command in its folder."
    )
