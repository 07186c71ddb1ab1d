"""Models that were trained on tables: what they take of a new one, and what they answer.

The command line and the service read and answer through this room.
"""

from prefero._prediction._columns import prose_columns, text_columns
from prefero._prediction._features import new_features, refuse_missing
from prefero._prediction._models import (
    as_input,
    categorical_features,
    feature_names,
    kind_of,
    known_names,
    load_ranker,
    other_task,
    takes_missing,
    takes_text,
    text_features,
    unseen_names,
)
from prefero._prediction._predictions import (
    CHUNK_ROWS,
    OF_SETS,
    Form,
    Sureness,
    predictions,
    rows_at_a_time,
)

__all__ = [
    "CHUNK_ROWS",
    "OF_SETS",
    "Form",
    "Sureness",
    "as_input",
    "categorical_features",
    "feature_names",
    "kind_of",
    "known_names",
    "load_ranker",
    "new_features",
    "other_task",
    "predictions",
    "prose_columns",
    "refuse_missing",
    "rows_at_a_time",
    "takes_missing",
    "takes_text",
    "text_columns",
    "text_features",
    "unseen_names",
]
