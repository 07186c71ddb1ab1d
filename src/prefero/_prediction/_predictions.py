"""Predictions as the lines of a table."""

from enum import StrEnum
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from prefero._pipelines import at_final_step

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.tables import Table

CHUNK_ROWS, CHUNK_PAIRS = 10_000, 2_000_000


class Form(StrEnum):
    """A form that predictions can be written in."""

    RANKS = "ranks"
    ORDER = "order"
    SCORES = "scores"
    PAIRS = "pairs"
    RELEVANT = "relevant"
    CALIBRATED = "calibrated"


OF_SETS = (Form.RELEVANT, Form.CALIBRATED)


class Sureness(NamedTuple):
    """What is to be said of how sure a model is."""

    expected_tau: bool
    top_set: float | None

    def columns(self, ranker: Any, X: Any) -> "dict[str, NDArray[Any]]":
        """Return columns that join the predictions."""
        import numpy as np

        found = {"expected_tau": ranker.predict_expected_tau(X)} if self.expected_tau else {}
        if self.top_set is not None:
            labels = [str(label) for label in ranker.labels_]
            sets = ranker.predict_top_set(X, self.top_set).tolist()
            named = [", ".join(compress(labels, own)) for own in sets]
            found["may be first"] = np.array(named, dtype=object)
        return found


def rows_at_a_time(ranker: Any, form: Form) -> int:
    """Return how many rows to predict at a time: few if each has many pairs of labels."""
    if form is not Form.PAIRS:
        return CHUNK_ROWS
    return max(1, min(CHUNK_ROWS, CHUNK_PAIRS // len(ranker.labels_) ** 2))


def predictions(
    trained: Any,
    X: Any,
    table: "Table",
    form: Form,
    top: int | None,
    keep: str | None,
    sure: Sureness,
) -> "pd.DataFrame":
    """The lines of output for a part of the input."""
    kept = table.frame[table.columns(keep)] if keep else table.frame[[]]
    ranker, X = at_final_step(trained, X)
    lines = _predicted(ranker, X, kept, form, top)
    for name, values in sure.columns(ranker, X).items():
        lines[name] = values[lines["row"]] if form is Form.PAIRS else values
    if form is Form.PAIRS:
        lines["row"] += table.first_row + 1
    return lines


def _predicted(
    ranker: Any, X: Any, kept: "pd.DataFrame", form: Form, top: int | None
) -> "pd.DataFrame":
    import pandas

    ranks = ranker.predict_ranks(X) if hasattr(ranker, "predict_ranks") else ranker.predict(X)
    labels = [str(label) for label in ranker.labels_]
    if form is Form.PAIRS:
        pairs = _pairs(ranker, X, ranks, labels, top)
        return kept.iloc[pairs["row"]].reset_index(drop=True).join(pairs)
    if form is Form.ORDER:
        from prefero.rankings import format_order, orders_from_ranks

        orders = orders_from_ranks(ranks, labels, top=top)
        target = pandas.DataFrame({"order": [format_order(order) for order in orders]})
    elif form is Form.SCORES:
        scores = pandas.DataFrame(ranker.decision_function(X), columns=labels)
        target = scores if top is None else scores.where(ranks <= top)
    elif form in OF_SETS:
        target = _sets(ranker.predict_calibrated(X), labels, form, ranks, top)
    else:
        target = pandas.DataFrame(ranks, columns=labels)
        target = target if top is None else target.where(ranks <= top).astype("Int64")
    clash = [name for name in kept.columns if name in target.columns]
    return kept.drop(columns=clash).join(target)


def _sets(
    calibrated: "NDArray[np.int64]", labels: list[str], form: Form, ranks: Any, top: int | None
) -> "pd.DataFrame":
    """Which labels are relevant: as columns, or as text with their order."""
    import numpy as np
    import pandas

    from prefero.rankings import text_from_calibrated

    shown = np.full(ranks.shape, True) if top is None else ranks <= top
    if form is Form.RELEVANT:
        relevant = calibrated[:, :-1] < calibrated[:, -1:]
        target = pandas.DataFrame(relevant.astype(np.int64), columns=labels)
        return target if top is None else target.where(shown).astype("Int64")
    known = np.column_stack([np.where(shown, calibrated[:, :-1], np.nan), calibrated[:, -1]])
    return pandas.DataFrame({"calibrated": text_from_calibrated(known, labels)})


def _pairs(
    ranker: Any, X: Any, ranks: "NDArray[np.int64]", labels: list[str], top: int | None
) -> "pd.DataFrame":
    """A line for each pair of labels, by their predicted order."""
    import numpy as np
    import pandas

    order = np.argsort(ranks, axis=1)
    first, second = np.triu_indices(ranks.shape[1], 1)
    wanted = first < (top or ranks.shape[1])
    preferred, other = order[:, first[wanted]], order[:, second[wanted]]
    row = np.repeat(np.arange(len(order)), wanted.sum())
    names = np.array(labels, dtype=object)
    pairs = {"row": row, "preferred": names[preferred.ravel()], "other": names[other.ravel()]}
    if hasattr(ranker, "predict_pairwise"):
        probability = ranker.predict_pairwise(X)  # of c + 1 labels if there is a zero point
        pairs["probability"] = probability[row, preferred.ravel(), other.ravel()]
    return pandas.DataFrame(pairs)
