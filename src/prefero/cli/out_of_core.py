"""Training on Parquet files that need not fit into memory, some rows at a time."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._model_inputs import as_input, refuse_missing, takes_categories
from prefero.cli.experiments import FitResult, TrainedRanker
from prefero.cli.models import AUTO, behind_columns, ranker_choice, refuse_unknown
from prefero.cli.options import FeatureColumns, Format, Metric, Reading, refuse_together
from prefero.cli.tables import MOST_CATEGORIES, check_categories, rankings_of
from prefero.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables import Rankings, RowGroup

OutOfCoreOption = Annotated[bool, typer.Option("--out-of-core")]

MODELS = ("forest", "boosting", "loglinear", "neighbors", "pairwise")
# A tree with one leaf per row would be as large as the data.
_MOST_LEAVES = 20_000


@dataclass(frozen=True)
class LargeTable:
    """A Parquet file or a folder of some, and what its columns are."""

    path: Path
    reading: Reading
    features: FeatureColumns
    weights: str | None
    groups: str | None

    def __post_init__(self) -> None:
        if self.reading.format not in (Format.RANKS, Format.SCORES):
            raise typer.BadParameter("--out-of-core reads --format ranks and scores.")
        if self.reading.labels is None:
            raise typer.BadParameter("which columns hold the rankings? Add --labels 'y_*'.")
        if self.features.text:
            raise typer.BadParameter("--out-of-core takes numbers and categories, no --text.")
        budgets = {"--budget": self.reading.budget, "--mean-budget": self.reading.mean_budget}
        refuse_together("--out-of-core", budgets, ": a budget is met over all rows")


def train_in_parts(
    table: LargeTable, model: str, parameters: dict[str, Any], seed: int, jobs: int | None
) -> TrainedRanker:
    """Fit a ranker to the parts of Parquet files, read one after the other."""
    from prefero.distributed import DistributedLabelRanker
    from prefero.distributed.blocks import Blocks, LazyBlock
    from prefero.tables import row_groups

    name = MODELS[0] if model == AUTO else model
    if name not in MODELS:
        raise typer.BadParameter(f"--out-of-core knows the models {', '.join(MODELS)}.")
    parts = row_groups(table.path)
    ranker = ranker_choice(name).make()
    refuse_unknown(parameters, ranker)
    own = {"random_state": seed} if "random_state" in ranker.get_params() else {}
    ranker.set_params(**own, **parameters)
    rows = parts[-1].first_row + len(parts[-1].read().frame)
    if name == "forest" and "min_samples_leaf" not in parameters:
        ranker.set_params(min_samples_leaf=max(1, rows // _MOST_LEAVES))
    start = time.perf_counter()
    words = words_of(parts, table)
    columns = None if takes_categories(ranker) else fitted_columns(ranker, parts, table, words)
    with TemporaryDirectory(prefix="prefero-") as folder:
        trainer = DistributedLabelRanker(
            ranker, client=False, n_jobs=jobs, folder=folder, progress="auto"
        )
        how = table, tuple(words), ranker if columns is None else columns
        blocks = Blocks.lazy([LazyBlock(read_block, (part, *how)) for part in parts])
        fitted = trainer.fit_blocks(blocks).to_local()
    if columns is not None:
        from prefero.pipeline import RankingPipeline

        fitted = RankingPipeline([("columns", columns), ("ranker", fitted)])
    seconds = time.perf_counter() - start
    labels = [str(label) for label in fitted.labels_]
    features = [str(feature) for feature in fitted.feature_names_in_]
    return TrainedRanker(FitResult(fitted, name, Metric.TAU), rows, labels, features, seconds)


@dataclass(frozen=True)
class Part:
    """The rankings of some rows, their features, and the column of their weights."""

    rankings: "Rankings"
    features: "pd.DataFrame"
    weights: Any


def read_part(part: "RowGroup", whole: LargeTable, words: Iterable[str] = ()) -> Part:
    """Read one part of a large table; ``words`` are columns that hold words in some part."""
    table = part.read()
    ignore = whole.features.ignore
    ignored = [] if ignore is None else table.columns(ignore)
    weight, group = (
        None if name is None else table.column(name) for name in (whole.weights, whole.groups)
    )
    rankings = rankings_of(table.without(weight, group, *ignored), whole.reading)
    named = whole.features.categorical
    text = [*words, *([] if named is None else rankings.table.columns(named))]
    features = rankings.table.features(rankings.features, text or None)
    weights = None if weight is None else table.weights(weight)[rankings.rows]
    return Part(rankings, features.iloc[rankings.rows], weights)


def read_block(part: "RowGroup", whole: LargeTable, words: tuple[str, ...], to: Any) -> Any:
    """Return what a ranker is fitted to, as it or the fitted columns before it take the rows."""
    here = read_part(part, whole, words)
    X = as_input(to, here.features) if takes_categories(to) else to.transform(here.features)
    return {"X": X, "y": here.rankings.y, "sample_weight": here.weights}


def words_of(parts: "list[RowGroup]", whole: LargeTable) -> dict[str, list[str]]:
    """Return the different words of all columns that hold some, in any part.

    If the first part of a file has only columns of numbers by type, its other parts are skipped.
    """
    from pandas.api.types import is_numeric_dtype

    found: dict[str, set[str]] = {}
    numbers: set[str] = set()
    rows, plain = 0, None
    for part in parts:
        if part.path == plain:
            continue
        here = read_part(part, whole)
        table, features = here.rankings.table, here.features
        rows += len(features)
        for name in features:
            column = features[name].dropna()
            if not len(column):
                continue
            if is_numeric_dtype(column):
                numbers.add(name)
            else:
                found.setdefault(name, set()).update(column)
            if name in numbers and name in found:
                raise table.error(
                    f"column {name!r} holds numbers in some parts of the data and words in "
                    f"others: correct it, or add --categorical {name!r} if they are names.",
                    int(column.index[0]),
                )
        if all(is_numeric_dtype(table.frame[name]) for name in features):
            plain = part.path
        if any(len(own) > MOST_CATEGORIES for own in found.values()):
            break
    check_categories(table, {name: len(own) for name, own in found.items()}, rows)
    return {name: sorted(own) for name, own in found.items()}


def fitted_columns(
    ranker: Any, parts: "list[RowGroup]", whole: LargeTable, words: dict[str, list[str]]
) -> Any:
    """Standardise numbers and give each word a column, for a ranker that takes only numbers."""
    import pandas as pd

    columns = None
    for part in parts:
        here = read_part(part, whole, words)
        known = here.rankings.ranked()
        if known is None:
            continue
        features = here.features.loc[known.rows]
        refuse_missing(known.table, features, known.rows, type(ranker).__name__)
        if columns is not None:
            if "numbers" in columns.named_transformers_:
                scaler = columns.named_transformers_["numbers"]
                scaler.partial_fit(features[list(scaler.feature_names_in_)])
            continue
        # A few rows that hold every word, since the encoder must know them all.
        every = {name: pd.Series(own, dtype=object) for name, own in words.items()}
        sample = pd.DataFrame({name: every.get(name, pd.Series([0.0])) for name in features})
        numbers = {name: 0.0 for name in features if name not in every}
        columns = behind_columns(ranker, sample.fillna(numbers))[0].fit(features)
    if columns is None:
        raise DataError("no row ranks any label: there is nothing to learn from.", str(whole.path))
    return columns
