"""Training on a Parquet file some rows at a time: what does not fit into memory stays there."""

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero.cli.console import count, say
from prefero.cli.models import refuse_unknown
from prefero.cli.options import FeatureColumns, Format, Reading
from prefero.cli.rankers import AUTO, ranker_choice
from prefero.cli.tables import rankings_of

if TYPE_CHECKING:
    from prefero.tables import RowGroup

OutOfCoreOption = Annotated[
    bool,
    typer.Option(
        "--out-of-core",
        help="Read a Parquet file, or a folder of some, part by part: for data larger than memory.",
    ),
]

MODELS = ("forest", "boosting", "loglinear", "neighbors", "pairwise")
# A tree with a leaf a row would be as large as the data.
_MOST_LEAVES = 20_000


@dataclass(frozen=True)
class LargeTable:
    """A Parquet file or a folder of some, and what its columns are."""

    path: Path
    reading: Reading
    features: FeatureColumns
    weights: str | None

    def __post_init__(self) -> None:
        if self.reading.format not in (Format.RANKS, Format.SCORES):
            raise typer.BadParameter("--out-of-core reads --format ranks and scores.")
        if self.reading.labels is None:
            raise typer.BadParameter("which columns hold the rankings? Add --labels 'y_*'.")
        if self.features.text or self.features.text_features:
            raise typer.BadParameter("--out-of-core takes features that are numbers, no text.")


@dataclass
class TrainedInParts:
    """What was trained on how much."""

    ranker: Any
    model: str
    rows: int
    seconds: float


def train_in_parts(
    table: LargeTable,
    model: str,
    parameters: dict[str, Any],
    seed: int,
    jobs: int | None,
) -> TrainedInParts:
    """Fit a ranker to the parts of Parquet files, which are read one after the other."""
    from prefero.distributed import DistributedLabelRanker
    from prefero.distributed.blocks import Blocks, Later
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
    with TemporaryDirectory(prefix="prefero-") as folder:
        trainer = DistributedLabelRanker(
            ranker, client=False, n_jobs=jobs, folder=folder, progress="auto"
        )
        blocks = Blocks.later([Later(read_part, (part, table)) for part in parts])
        fitted = trainer.fit_blocks(blocks).to_local()
    return TrainedInParts(fitted, name, rows, time.perf_counter() - start)


def read_part(part: "RowGroup", whole: LargeTable) -> dict[str, Any]:
    """Return what a ranker is fitted to, from one part of a large table."""
    table = part.read()
    ignore = whole.features.ignore
    ignored = [] if ignore is None else table.columns(ignore)
    weight = None if whole.weights is None else table.column(whole.weights)
    rankings = rankings_of(table.without(weight, *ignored), whole.reading)
    features = rankings.table.features(rankings.features)
    return {
        "X": features.iloc[rankings.rows],
        "y": rankings.y,
        "sample_weight": None if weight is None else table.weights(weight)[rankings.rows],
    }


def tell(done: TrainedInParts, out: Path) -> None:
    """Say what was trained, and how fast."""
    labels, features = len(done.ranker.labels_), done.ranker.n_features_in_
    say(
        f"Trained {done.model} on {count(done.rows, 'row')} of {count(labels, 'label')} by "
        f"{count(features, 'feature')}, {done.rows / done.seconds:,.0f} rows a second; wrote {out}."
    )
