"""The options that several commands share, and groups of them as dataclasses."""

import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from prefero.cli.models import AUTO, ORDERERS, RANKER_NAMES, known_name

if TYPE_CHECKING:
    from prefero.tables import DataTable


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
    """How to treat labels that an order leaves out."""

    UNKNOWN = "unknown"
    BELOW = "below"


class Metric(StrEnum):
    """The metric that rankers are compared by."""

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


RANK_METRICS = (Metric.TAU, Metric.TAU_X, Metric.RHO, Metric.TOP1)
# Rankers that can are trained on the scores too if one of these is asked for.
SCORE_METRICS = (Metric.REGRET, Metric.UTILITY, Metric.GAP_CLOSED)
MULTILABEL_LOSSES = (
    *(Metric.RANKING_LOSS, Metric.ONE_ERROR),
    *(Metric.HAMMING_LOSS, Metric.SUBSET_LOSS),
)
LOSSES = (Metric.REGRET, *MULTILABEL_LOSSES)
MULTILABEL_METRICS = (Metric.RHO, Metric.AVERAGE_PRECISION, *MULTILABEL_LOSSES)


def metric_for(
    asked: Metric | None, multilabel: bool, *, scores: bool = False, costs: bool = False
) -> Metric:
    """Return the metric to compare by: the one asked for, or the default of the data."""
    offered = MULTILABEL_METRICS if multilabel else (*RANK_METRICS, *SCORE_METRICS)
    if asked is None:
        return (
            Metric.UTILITY if costs else Metric.REGRET if scores and not multilabel else offered[0]
        )
    if asked not in offered:
        which = "with" if multilabel else "without"
        raise typer.BadParameter(
            f"--metric {asked}: rankings {which} a virtual label are compared by one of "
            f"{', '.join(offered)}."
        )
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


def refuse_together(option: str, others: Mapping[str, Any], why: str = "") -> None:
    """Refuse options that have no meaning beside another one."""
    given = [
        name for name, value in others.items() if value not in (None, []) and value is not False
    ]
    if given:
        raise typer.BadParameter(f"{option} and {' and '.join(given)} exclude each other{why}.")


def read_key(path: Path | None) -> bytes | None:
    """Return the secret in a file, if one is named."""
    return None if path is None else path.read_bytes()


class SharedOptions:
    """What the arguments and options mean that several commands share.

    Attributes
    ----------
    data : DATA
        A table in any format: csv, tsv, Parquet, Excel, XARFF, KEBI, svmlight, .gz, or an ASlib
        folder; - is stdin.
    model : MODEL
        A model file that prefero train wrote.
    key_file : FILE
        A file with a secret key: models are signed with it, and refused if signed with another.
    keep : COLUMNS
        Columns of NEW to copy to the output.
    out : FILE
        Write to a .csv, .tsv, .json, .parquet or .xlsx file instead of stdout.
    label_table : FILE
        The features of the labels, to rank unseen labels too: a table with one row per label and
        its name in the first column.
    parameters : NAME=VALUE
        A parameter of the ranker; may be repeated.
    metric : NAME
        What to compare by. Rankings: tau (Kendall, default), tau-x (counts ties too), rho
        (Spearman) or top1 (how often the first choice is right). Scores: regret (how much worse
        the first choice is than the best; default), utility (the score of the first choice;
        default with --cost) or gap-closed (from the single best label, 0, to the best label of
        each row, 1). With a virtual label: rho (default), average-precision, ranking-loss,
        one-error, hamming-loss or subset-loss.
    group : COLUMN
        The column that says which order a row belongs to; without it all are one order.
    reduce : K
        Learn from K components of rank correlation dimension reduction.
    groups : COLUMN
        The column that says which rows belong together, such as the substrate: folds keep them
        together, and it is not a feature.
    rows : N
        Compare on at most N rows; 0 uses all.
    folds
        Number of cross-validation folds.
    repeats
        Number of repetitions, each with new folds.
    seed
        Random seed.
    jobs : N
        Number of parallel jobs; -1 uses all cores.
    out_of_core
        Read a Parquet file, or a folder of Parquet files, in parts: for data larger than memory.
    as_json
        Print JSON.
    top : K
        Number of features to list.
    """


DataFile = Annotated[Path, typer.Argument(callback=_existing)]
DataFiles = Annotated[
    list[Path],
    typer.Argument(
        callback=lambda paths: [_existing(path) for path in paths],
        metavar="DATA",
        help="Tables in any format, as for the other commands.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(callback=_existing)]
NewDataFile = Annotated[
    Path,
    typer.Argument(
        callback=_existing,
        metavar="NEW",
        help="New instances: a table in any format; - is stdin. Columns are found by name; others "
        "are ignored.",
    ),
]
FileOption = Annotated[
    Path | None, typer.Option(callback=lambda path: path if path is None else _existing(path))
]
KeyFileOption = FileOption
LabelTableOption = FileOption
OutOption = Annotated[Path | None, typer.Option("--out", "-o", callback=table_out)]
ModelOutOption = Annotated[
    Path,
    typer.Option("--out", "-o", callback=writable, metavar="FILE", help="The model file to write."),
]
ModelOption = Annotated[
    str,
    typer.Option(
        callback=lambda name: known_name(name, dict.fromkeys((AUTO, *RANKER_NAMES, *ORDERERS))),
        autocompletion=lambda: [AUTO, *RANKER_NAMES],
        metavar="NAME",
        help=f"{AUTO}, which combines the best of the others; or {', '.join(RANKER_NAMES)}. With "
        f"--label-table: {', '.join(ORDERERS)}, or {AUTO}, the best of these for unseen labels.",
    ),
]
ParamOption = Annotated[list[str], typer.Option("--param")]
MetricOption = Annotated[Metric | None, typer.Option(show_default=False)]
KeepOption = str | None
GroupsOption = str | None
RowsOption = Annotated[int | None, typer.Option(min=0, show_default="5000")]
FoldsOption = Annotated[int | None, typer.Option(min=2, show_default="10")]
SeedOption = int
JobsOption = int | None
JsonOption = Annotated[bool, typer.Option("--json")]
ListedOption = Annotated[int, typer.Option(min=1)]
RepeatsOption = Annotated[int | None, typer.Option(min=1, show_default="1")]


@dataclass(frozen=True)
class Meaning:
    """Which columns hold rankings, and in which format.

    Attributes
    ----------
    labels : COLUMNS
        The columns that hold rankings: 'y_*' or a,b,c.
    format : FORMAT
        What they hold: ranks or scores, one column per label; orders, as text 'b > a ~ c' or as
        names by position; pairs; best-worst; long; relevance, 1 or 0 per label; calibrated, as
        text '[b > a][c]' with the relevant labels first, or signed scores.
    higher_is_better
        The direction of scores; it is never guessed.
    """

    labels: str | None = None
    format: Format = Format.RANKS
    higher_is_better: Annotated[
        bool | None, typer.Option("--higher-is-better/--lower-is-better", show_default=False)
    ] = None


@dataclass(frozen=True)
class Reading(Meaning):
    """How to read rankings out of a table.

    Attributes
    ----------
    unranked
        How to treat labels that an order leaves out.
    instance : COLUMN
        For pairs and long: the column that says which ranking a row belongs to.
    cutoff : TIME
        For run times: when runs were stopped. Runs that reach it are tied behind all others and
        count ten times as much (PAR10).
    cost : COLUMNS
        The costs of the labels beside their scores: columns named like those of --labels,
        'cost *'.
    cost_weight : W
        The score that one unit of cost is worth: labels are ranked by score - W * cost.
    budget : B
        Or the most that a row may cost: more expensive labels get the worst score.
    mean_budget : B
        Or the most that rows may cost on average: W is the smallest that achieves it.
    """

    unranked: Unranked = Unranked.UNKNOWN
    instance: str | None = None
    cutoff: float | None = None
    cost: str | None = None
    cost_weight: float | None = None
    budget: float | None = None
    mean_budget: float | None = None

    def __post_init__(self) -> None:
        given = (self.cost_weight, self.budget, self.mean_budget)
        weighed = sum(value is not None for value in given)
        if self.cost is None and weighed:
            raise typer.BadParameter("which columns hold the costs? Add --cost 'cost *'.")
        if self.cost is not None and weighed != 1:
            raise typer.BadParameter(
                "--cost needs one of --cost-weight, the score that one unit of cost is worth, "
                "--budget, the most that a row may cost, and --mean-budget, the most that rows may "
                "cost on average."
            )

    def refuse_unused(self, table: "DataTable") -> None:
        """Refuse options that the format of the rankings makes meaningless."""
        declared = table.declared
        format = Format(declared.format or self.format)
        if declared.format and self.format not in (Format.RANKS, declared.format):
            raise typer.BadParameter(
                f"--format {self.format}: {table.source} declares its rankings as {format}."
            )
        if self.higher_is_better is not None:
            if format not in (Format.SCORES, Format.LONG):
                raise typer.BadParameter(
                    f"--higher-is-better and --lower-is-better are for scores, not for {format}."
                )
            if declared.higher_is_better not in (None, self.higher_is_better):
                direction = "higher" if declared.higher_is_better else "lower"
                raise typer.BadParameter(f"{table.source} declares that {direction} is better.")
        if self.unranked is Unranked.BELOW and format is not Format.ORDERS:
            raise typer.BadParameter(f"--unranked below is for --format orders, not {format}.")


@dataclass(frozen=True)
class FeatureColumns:
    """Which columns are features, and of what kind.

    Attributes
    ----------
    ignore : COLUMNS
        Columns that are not features.
    categorical : COLUMNS
        Columns of categories, though they may look like numbers.
    text : COLUMNS
        Columns of free text, to learn from their words (TF-IDF in a few dimensions).
    """

    ignore: str | None = None
    categorical: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class ResultOptions:
    """How to show the results of a comparison.

    Attributes
    ----------
    out : FILE
        Write the results, one row per fold: .csv, .tsv, .json or .parquet.
    report : PAGE
        Write an HTML report too.
    """

    out: OutOption = None
    report: Annotated[Path | None, typer.Option(callback=writable)] = None
    as_json: JsonOption = False


_SECTION = re.compile(r"\n+(?:Parameters|Attributes)\n-+\n")
_ENTRY = re.compile(r"^(\w+)(?: : (.+))?\n((?: {4}.+\n?)+)", re.MULTILINE)


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command its options: those of groups by name, all with the help of docstrings.

    A parameter whose type is a dataclass stands for the options that are its fields. The
    placeholder and the help of an option stand in the docstring of the command, of the group or
    of `SharedOptions`. Command and group say by ``Annotated`` what else there is to an option.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    own = signature(command).parameters
    meanings = _meanings(SharedOptions, *groups.values(), command)
    options: dict[str, Parameter] = {}
    for name, parameter in own.items():
        alone = [parameter.replace(annotation=hints[name])]
        for option in _options(groups[name]) if name in groups else alone:
            options.setdefault(option.name, _explained(option, meanings))

    def run(**given: Any) -> None:
        made = {
            name: group(**{part.name: given[part.name] for part in fields(group)})
            for name, group in groups.items()
        }
        command(**{name: (given | made)[name] for name in own})

    run.__name__, run.__doc__ = command.__name__, _SECTION.split(cleandoc(command.__doc__ or ""))[0]
    run.__signature__ = Signature(list(options.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: option.annotation for name, option in options.items()}
    return run


def _meanings(*things: Any) -> dict[str, tuple[str, str]]:
    """The placeholder and the help of each option in the docstrings; the last one counts."""
    found = {}
    for one in (base for thing in things for base in reversed(getattr(thing, "__mro__", (thing,)))):
        _, *entries = _SECTION.split(cleandoc(one.__doc__ or ""))
        for name, placeholder, text in _ENTRY.findall("".join(entries)):
            found[name] = placeholder, " ".join(text.split())
    return found


def _explained(option: Parameter, meanings: Mapping[str, tuple[str, str]]) -> Parameter:
    """Return an option with the help of the docstrings, unless it brings its own."""
    given = getattr(option.annotation, "__metadata__", ())
    if not given and option.name not in meanings:
        return option
    info = copy(given[0]) if given else typer.Option()
    if not info.help and option.name in meanings:
        placeholder, info.help = meanings[option.name]
        info.metavar = info.metavar or placeholder or None
    kind = option.annotation.__origin__ if given else option.annotation
    return option.replace(annotation=Annotated[kind, info], kind=Parameter.KEYWORD_ONLY)


def _options(group: Any) -> list[Parameter]:
    """The fields of a group as parameters of a function."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            part.name, Parameter.KEYWORD_ONLY, default=part.default, annotation=hints[part.name]
        )
        for part in fields(group)
    ]
