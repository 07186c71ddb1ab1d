"""Features out of a table to train on, by what its cells are."""

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prefero._inference import text_columns
from prefero.cli.options import FeatureColumns

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables import Rankings, Table

_MOST_TEXTS, _FEWEST_IDS = 255, 10


def training_features(rankings: "Rankings", named: FeatureColumns) -> "pd.DataFrame":
    """Return the features of instances, which are all columns that hold no rankings."""
    table = rankings.table
    if not rankings.features:
        raise table.error("every column holds rankings: there is no feature to learn from.")
    columns = features_of(table, rankings.features, named, len(rankings.rows))
    return columns.iloc[rankings.rows].reset_index(drop=True)


def features_of(
    table: "Table",
    names: Iterable[str],
    named: FeatureColumns,
    instances: int,
) -> "pd.DataFrame":
    """Return columns of numbers, and of text with NaN for missing, of so many instances.

    Prose, whose words are learned from, has the dtype of strings; names of things are objects.
    """
    written = [] if named.text_features is None else table.columns(named.text_features)
    names = list(names)
    for name in written:
        if name not in names:
            raise table.error(f"--text-features {name}: the column is no feature.")
    as_text = [*written, *([] if named.text is None else table.columns(named.text))]
    features = table.features(names, as_text or None)
    features = features.astype(dict.fromkeys(written, "string"))
    for name in text_columns(features):
        _judge_texts(table, name, features[name].nunique(), instances)
    return features


def _judge_texts(table: "Table", name: str, different: int, instances: int) -> None:
    """Refuse a column of too many texts; wonder about one that tells every instance apart."""
    if different > _MOST_TEXTS:
        raise table.error(
            f"column {name!r} holds {different} different texts, more than {_MOST_TEXTS}: learn "
            f"from its words by --text-features {name!r}, or leave it out by --ignore {name!r}."
        )
    if different == instances >= _FEWEST_IDS:
        warnings.warn(
            f"column {name!r} holds a different text in every row: if it is a name and no "
            f"feature, leave it out by --ignore {name!r}; if it is prose, learn from its words by "
            f"--text-features {name!r}.",
            stacklevel=2,
        )
