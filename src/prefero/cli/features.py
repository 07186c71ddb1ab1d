"""Features out of a table to train on, by what its cells are."""

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from prefero._prediction import text_columns
from prefero.cli.options import FeatureColumns

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables import Rankings, DataTable

MOST_TEXTS, _FEWEST_IDS = 255, 10


def training_features(rankings: "Rankings", named: FeatureColumns) -> "pd.DataFrame":
    """Return the features of instances, which are all columns that hold no rankings.

    Numbers of single precision stay so: `as_input` says what a model takes.
    """
    table = rankings.table
    if not rankings.features:
        raise table.error("every column holds rankings: there is no feature to learn from.")
    columns = features_of(table, rankings.features, named, len(rankings.rows), narrow=True)
    if len(rankings.rows) < len(table):
        columns = columns.iloc[rankings.rows]
    return columns.reset_index(drop=True)


def features_of(
    table: "DataTable",
    names: Iterable[str],
    named: FeatureColumns,
    instances: int,
    *,
    narrow: bool = False,
) -> "pd.DataFrame":
    """Return columns of numbers, and of text with NaN for missing, of so many instances.

    Prose, whose words are learned from, has the dtype of strings; names of things are objects.
    ``narrow`` keeps numbers of single precision.
    """
    written = [] if named.text is None else table.columns(named.text)
    names = list(names)
    if strange := [name for name in written if name not in names]:
        raise table.error(f"--text {','.join(strange)}: that is no feature.")
    as_text = [*written, *([] if named.categorical is None else table.columns(named.categorical))]
    features = table.features(names, as_text or None, narrow=narrow)
    features = features.astype(dict.fromkeys(written, "string"))
    judge_texts(
        table, {name: features[name].nunique() for name in text_columns(features)}, instances
    )
    return features


def judge_texts(table: "DataTable", different: Mapping[str, int], instances: int) -> None:
    """Refuse columns of too many texts; wonder about those that tell every instance apart."""
    prose = {name: n for name, n in different.items() if n > MOST_TEXTS}
    if prose:
        columns = " and ".join(f"column {name!r} holds {n}" for name, n in prose.items())
        names = ",".join(prose)
        raise table.error(
            f"{columns} different texts, more than {MOST_TEXTS}: learn from their words by "
            f"--text {names!r}, or leave them out by --ignore {names!r}."
        )
    unique = [name for name, n in different.items() if n == instances >= _FEWEST_IDS]
    if unique:
        names = ",".join(unique)
        columns = " and ".join(f"column {name!r} holds" for name in unique)
        warnings.warn(
            f"{columns} a different text in every row: what is a name and no feature, leave out by "
            f"--ignore {names!r}; if it is prose, learn from its words by --text "
            f"{names!r}.",
            stacklevel=2,
        )
