"""The arguments that several commands share, each written once."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from prefero._names import did_you_mean
from prefero.cli.rankers import AUTO, ORDERERS, RANKER_NAMES


class Format(StrEnum):
    """What the columns named by --labels hold."""

    RANKS = "ranks"
    SCORES = "scores"
    ORDERS = "orders"
    PAIRS = "pairs"
    BEST_WORST = "best-worst"
    LONG = "long"
    RELEVANCE = "relevance"
    CALIBRATED = "calibrated"


class Unranked(StrEnum):
    """What a label is that an order does not name."""

    UNKNOWN = "unknown"
    BELOW = "below"


class Metric(StrEnum):
    """What rankers are compared by."""

    TAU = "tau"
    TAU_X = "tau-x"
    TOP1 = "top1"
    REGRET = "regret"
    UTILITY = "utility"
    GAP_CLOSED = "gap-closed"
    RHO = "rho"
    AVERAGE_PRECISION = "average-precision"
    RANKING_LOSS = "ranking-loss"
    ONE_ERROR = "one-error"
    HAMMING_LOSS = "hamming-loss"
    SUBSET_LOSS = "subset-loss"

    @property
    def column(self) -> str:
        """Its column in a table of results."""
        return self.value.replace("-", "_")


OF_RANKINGS = (Metric.TAU, Metric.TAU_X, Metric.RHO, Metric.TOP1)
# Those that ask what labels are worth; rankers that can are then trained on it too.
OF_SCORES = (Metric.REGRET, Metric.UTILITY, Metric.GAP_CLOSED)
# Those of which less is better.
LOSSES = (
    *(Metric.REGRET, Metric.RANKING_LOSS, Metric.ONE_ERROR),
    *(Metric.HAMMING_LOSS, Metric.SUBSET_LOSS),
)
OF_SETS = (
    *(Metric.RHO, Metric.AVERAGE_PRECISION, Metric.RANKING_LOSS, Metric.ONE_ERROR),
    *(Metric.HAMMING_LOSS, Metric.SUBSET_LOSS),
)


def metric_for(asked: Metric | None, multilabel: bool, costs: bool = False) -> Metric:
    """Return the metric to compare by, which is the first of the task if none was asked for.

    Where labels cost something, it is what the first choice is worth.
    """
    offered = OF_SETS if multilabel else (*OF_RANKINGS, *OF_SCORES)
    if asked is None:
        return Metric.UTILITY if costs else offered[0]
    if asked not in offered:
        what = "rankings with a zero point" if multilabel else "rankings without a zero point"
        raise typer.BadParameter(f"--metric {asked}: of {what} it is {', '.join(offered)}.")
    return asked


def _existing(path: Path) -> Path:
    if str(path) != "-" and not path.exists():
        raise typer.BadParameter(f"there is no file {str(path)!r}.")
    return path


def writable(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before any work is done."""
    if path is not None and (path.is_dir() or not path.resolve().parent.is_dir()):
        raise typer.BadParameter(f"no file can be written as {str(path)!r}.")
    return path


def table_out(path: Path | None) -> Path | None:
    """Refuse a table that cannot be written, or whose ending names no format."""
    if path is not None and str(path) != "-":
        from prefero.tables import check_ending

        try:
            check_ending(path)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    return writable(path)


def read_key(path: Path | None) -> bytes | None:
    """Return the secret in a file, if one is named."""
    return None if path is None else path.read_bytes()


def _known_ranker(name: str) -> str:
    if name not in (AUTO, *RANKER_NAMES, *ORDERERS):
        known = (AUTO, *RANKER_NAMES)
        near = did_you_mean(name, known)
        raise typer.BadParameter(f"{name!r} is none of {', '.join(known)}{near}.")
    return name


DataFile = Annotated[
    Path,
    typer.Argument(
        callback=_existing,
        metavar="DATA",
        help="A table of any format: csv, tsv, Parquet, Excel, XARFF, KEBI, svmlight, .gz, or an "
        "ASlib folder; - is stdin.",
    ),
]
DataFiles = Annotated[
    list[Path],
    typer.Argument(
        callback=lambda paths: [_existing(path) for path in paths],
        metavar="DATA",
        help="Tables, as for the other commands.",
    ),
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        "--labels", metavar="COLUMNS", help="The columns that hold rankings: 'y_*' or a,b,c."
    ),
]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="What they hold: ranks or scores, a column a label; orders, as text 'b > a ~ c' or "
        "names by position; pairs; best-worst; long; relevance, 1 or 0 a label; calibrated, as "
        "text '[b > a][c]', the relevant first, or signed scores.",
    ),
]
DirectionOption = Annotated[
    bool | None,
    typer.Option(
        "--higher-is-better/--lower-is-better",
        help="The direction of scores; never guessed.",
        show_default=False,
    ),
]
UnrankedOption = Annotated[
    Unranked,
    typer.Option("--unranked", help="What labels are that an order does not name."),
]
InstanceOption = Annotated[
    str | None,
    typer.Option(
        "--instance", metavar="COLUMN", help="For pairs and long: whose ranking a line is part of."
    ),
]
CutoffOption = Annotated[
    float | None,
    typer.Option(
        "--cutoff",
        metavar="TIME",
        help="When runs were ended, of run times: those that reach it took at least so long, are "
        "tied behind all others and count ten times as much (PAR10).",
    ),
]
CostOption = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="COLUMNS",
        help="What labels cost, beside their scores: columns named as those of --labels, 'cost *'.",
    ),
]
CostWeightOption = Annotated[
    float | None,
    typer.Option(
        "--cost-weight",
        metavar="W",
        help="How much score one unit of cost is worth: labels are ranked by score - W * cost.",
    ),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget",
        metavar="B",
        help="Or what a row may cost at most: dearer labels count as little as the worst score.",
    ),
]
MeanBudgetOption = Annotated[
    float | None,
    typer.Option(
        "--mean-budget",
        metavar="B",
        help="Or what rows may cost in the mean: W is the least that makes the best labels keep to "
        "it.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(callback=_existing, metavar="MODEL", help="What prefero train wrote.")
]
KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        callback=lambda path: path if path is None else _existing(path),
        metavar="FILE",
        help="A file of secret bytes; models are signed by it, and refused if signed by another.",
    ),
]
NewDataFile = Annotated[
    Path,
    typer.Argument(
        callback=_existing,
        metavar="NEW",
        help="New instances: a table of any format; - is stdin. Columns are "
        "found by their names, in any order; further ones are ignored.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        callback=table_out,
        metavar="FILE",
        help="A .csv, .tsv, .json, .parquet or .xlsx file instead of stdout.",
    ),
]
ModelOutOption = Annotated[
    Path, typer.Option("--out", "-o", callback=writable, metavar="FILE", help="The model file.")
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        callback=_known_ranker,
        autocompletion=lambda: [AUTO, *RANKER_NAMES],
        metavar="NAME",
        help=f"{AUTO}, which combines the best of the others; or {', '.join(RANKER_NAMES)}; with "
        f"--label-table {', '.join(ORDERERS)}, or {AUTO}, the best of them for labels never seen.",
    ),
]
LabelTableOption = Annotated[
    Path | None,
    typer.Option(
        "--label-table",
        callback=lambda path: path if path is None else _existing(path),
        metavar="FILE",
        help="The features of the labels, by which labels never seen are ranked too: a table "
        "with a line a label, its name in the first column.",
    ),
]
ParamOption = Annotated[
    list[str],
    typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the ranker; repeatable."),
]
IgnoreOption = Annotated[
    str | None,
    typer.Option("--ignore", metavar="COLUMNS", help="Columns that are no features."),
]
CategoricalOption = Annotated[
    str | None,
    typer.Option(
        "--categorical",
        metavar="COLUMNS",
        help="Columns of names, though some or all look like numbers.",
    ),
]
TextOption = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="COLUMNS",
        help="Columns of free text, whose words are learned from (TF-IDF in a few dimensions).",
    ),
]
MetricOption = Annotated[
    Metric | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="What the best ranker is best by. Of rankings: tau (default), Kendall's; tau-x, which "
        "asks for ties too; rho; top1, how often the first choice is right; and of scores regret, "
        "how much less the first choice is worth than the best; utility, what it is worth (default "
        "with --cost); gap-closed, its way from the single best to the right label. With a "
        "zero point: rho (default), average-precision, ranking-loss, one-error, "
        "hamming-loss or subset-loss.",
        show_default=False,
    ),
]
GroupsOption = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="What rows belong to, such as the substrate: folds do not divide it, and it is no "
        "feature.",
    ),
]
RowsOption = Annotated[
    int,
    typer.Option(
        "--rows", min=0, metavar="N", help="Try rankers on at most so many rows; 0: on all."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="What everything random follows from.")]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", metavar="N", help="How much to do at a time; -1: all cores.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FoldsOutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        callback=table_out,
        metavar="FILE",
        help="Write the result of every fold, a line each: .csv, .tsv, .json or .parquet.",
    ),
]
PageOption = Annotated[
    Path | None,
    typer.Option("--report", callback=writable, metavar="PAGE", help="Write an HTML page too."),
]
ListedOption = Annotated[
    int, typer.Option("--top", min=1, metavar="K", help="How many features to list.")
]
RepeatsOption = Annotated[
    int, typer.Option("--repeats", min=1, help="Repetitions, each with new folds.")
]


@dataclass(frozen=True)
class Meaning:
    """Which columns hold rankings, and what their cells mean."""

    labels: LabelsOption = None
    format: FormatOption = Format.RANKS
    higher_is_better: DirectionOption = None


@dataclass(frozen=True)
class Reading(Meaning):
    """How to read rankings out of a table."""

    unranked: UnrankedOption = Unranked.UNKNOWN
    instance: InstanceOption = None
    cutoff: CutoffOption = None
    cost: CostOption = None
    cost_weight: CostWeightOption = None
    budget: BudgetOption = None
    mean_budget: MeanBudgetOption = None

    def __post_init__(self) -> None:
        given = (self.cost_weight, self.budget, self.mean_budget)
        weighed = sum(one is not None for one in given)
        if self.cost is None and weighed:
            raise typer.BadParameter("which columns hold the costs? Add --cost 'cost *'.")
        if self.cost is not None and weighed != 1:
            raise typer.BadParameter(
                "--cost needs one of --cost-weight, how much score one unit of cost is worth, "
                "--budget, what a row may cost at most, and --mean-budget, what rows may cost in "
                "the mean."
            )


@dataclass(frozen=True)
class FeatureColumns:
    """Which columns are no features, which hold names and which hold prose."""

    ignore: IgnoreOption = None
    categorical: CategoricalOption = None
    text: TextOption = None


@dataclass(frozen=True)
class Results:
    """Where the results of a comparison go."""

    out: FoldsOutOption = None
    report: PageOption = None
    as_json: JsonOption = False
