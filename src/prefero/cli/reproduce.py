"""prefero reproduce: the tables of a paper, ours beside theirs."""

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
    "prefero reproduce cheng2009 --data openml --sets iris wine",
    "prefero reproduce dekel2003 --data benchmarks --output dekel2003.md",
    "prefero reproduce real --folder runs",
)
# Options that this command does not know are passed on to the script.
SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True}
RESULTS = Path("reproduction-results")


class Paper(StrEnum):
    """A paper that Prefero implements, or another benchmark: the name of its script."""

    CHENG2009 = "cheng2009"
    DESA2017 = "desa2017"
    BRINKER2007 = "brinker2007"
    DEKEL2003 = "dekel2003"
    KAMISHIMA2006 = "kamishima2006"
    KEBI = "kebi"
    REAL = "real"
    TIES = "ties"
    AUTOMATIC = "automatic"
    ASLIB = "aslib"
    MULTILABEL = "multilabel"
    LABEL_FEATURES = "label_features"
    MQ2008 = "mq2008"
    PAIRED_TESTS = "paired_tests"
    DECISIONS = "decisions"


def reproduce(
    context: typer.Context,
    paper: Annotated[Paper, typer.Argument()],
    quick: Annotated[bool, typer.Option("--quick")] = False,
    data: Path | None = None,
    jobs: int | None = None,
    folder: Path | None = None,
    output: Annotated[
        Path | None, typer.Option(callback=writable, show_default=f"{RESULTS}/PAPER.md")
    ] = None,
) -> None:
    """Repeat a paper's experiments, ours beside theirs.

    The tables are printed and written, as a page of text and one CSV file each. Options that are
    not listed here go to the script of that name, such as --sets iris wine.

    Parameters
    ----------
    paper
        A paper, or another benchmark: kebi (every ranker on the papers' sets), real (rankings by
        people, fields and solvers), ties, automatic (the automatic ranker), aslib, multilabel,
        label_features, mq2008, paired_tests (how often tests err) or decisions (values of first
        choices).
    quick
        Fewer repetitions, small sets.
    data : DIR
        The folder of the data; PREFERO_DATA by default. openml: download sets by name.
    jobs : N
        Number of parallel jobs.
    folder : DIR
        Keep finished runs here, to continue from them.
    output : X.md
        The page to write; its tables go to X/*.csv.
    """
    script = find_script(paper)
    if output is None:
        output = RESULTS / f"{paper}.md"
    options = {"--data": data, "--jobs": jobs, "--folder": folder, "--output": output}
    arguments = [str(script), *(["--quick"] if quick else []), *context.args]
    for name, value in options.items():
        arguments += [] if value is None else [name, str(value)]
    # From here on this process is the script, as if python had been given it.
    sys.argv = arguments
    sys.path.insert(0, str(script.parent))
    runpy.run_path(str(script), run_name="__main__")


def find_script(paper: Paper) -> Path:
    """Return the script of a paper: inside the installed package, or in the source beside it."""
    package = Path(prefero.__file__).parent
    for folder in (package / "reproduction", package.parents[1] / "reproduction"):
        script = folder / f"{paper}.py"
        if script.is_file():
            return script
    raise FileNotFoundError(
        f"The script {paper}.py is missing in {package / 'reproduction'}: install Prefero "
        f"{prefero.__version__} anew."
    )
