"""Models trained on tables: what they take from a new table, and what they predict for it.

The command line and the service read features and write predictions through this module.
"""

from enum import StrEnum
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from prefero._pipelines import final_step
from prefero.exceptions import DataError, ModelFileError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.tables import DataTable

CHUNK_ROWS, CHUNK_PAIRS = 10_000, 2_000_000


def load_ranker(path: Path, key: bytes | None = None) -> Any:
    """Load a ranker of labels, or say what else the file holds."""
    from prefero.persistence import load

    model = load(path, key=key)
    if problem := other_task(model):
        raise ModelFileError(f"{path} holds {problem}.")
    return model


def load_orderer(path: Path, key: bytes | None = None) -> Any:
    """Load an orderer of objects, or say what else the file holds."""
    from prefero.persistence import load

    model = load(path, key=key)
    if kind_of(model) != "orderer":
        name = type(final_step(model)).__name__
        raise ModelFileError(f"{path} holds a {name}, which orders no objects.")
    return model


def other_task(model: Any) -> str | None:
    """Describe a model that does not rank labels; None if it does."""
    kind = kind_of(model)
    if kind in ("label_ranker", "multilabel_ranker"):
        return None
    name = type(final_step(model)).__name__
    hint = ": it orders objects, so use the commands of prefero order" if kind == "orderer" else ""
    return f"a {name}, which ranks no labels{hint}"


def kind_of(model: Any) -> str | None:
    """Return the task of a model, as scikit-learn's tags name it."""
    from sklearn.utils import get_tags

    return get_tags(final_step(model)).estimator_type


class OutputFormat(StrEnum):
    """A format of predictions."""

    RANKS = "ranks"
    ORDER = "order"
    BUCKETS = "buckets"
    SCORES = "scores"
    EXPECTED = "expected"
    PAIRS = "pairs"
    RELEVANT = "relevant"
    CALIBRATED = "calibrated"
    PROBABILITIES = "probabilities"


# Formats made of the probabilities of pairs.
_PAIRWISE_FORMATS = (OutputFormat.PAIRS, OutputFormat.BUCKETS)
RELEVANCE_FORMATS = (OutputFormat.RELEVANT, OutputFormat.CALIBRATED, OutputFormat.PROBABILITIES)


class UncertaintyOptions(NamedTuple):
    """What to add about the uncertainty of each row: expected tau, and a top set."""

    expected_tau: bool = False
    top_set: float | None = None


NO_UNCERTAINTY = UncertaintyOptions()


class Prediction:
    """What a model predicts for some instances; its trees or models are asked once.

    ``pairs`` says that probabilities of pairs will be wanted, ``checked`` that X is what validation
    would return.
    """

    def __init__(self, ranker: Any, X: Any, *, pairs: bool = False, checked: bool = False) -> None:
        from prefero.base import pairwise_prediction
        from prefero.rankings import strict_ranks

        self.ranker, self.X = ranker, X
        self.labels = [str(label) for label in ranker.labels_]
        self.pairwise = None
        if pairs and hasattr(ranker, "predict_expected_tau"):
            self.pairwise = pairwise_prediction(ranker, X, checked=checked)
            self.scores, self.ranks = self.pairwise.scores, self.pairwise.ranks
        else:
            self.scores = ranker.decision_function(X)
            self.ranks = strict_ranks(self.scores)

    @property
    def calibrated(self) -> "NDArray[np.int64]":
        """The ranks of the labels and, last, of the virtual label."""
        from prefero.rankings import strict_calibrated

        return strict_calibrated(self.scores)

    @property
    def relevant(self) -> "NDArray[np.bool_]":
        """Which labels a multilabel ranker finds relevant."""
        return self.scores > 0

    @property
    def probabilities(self) -> "NDArray[np.float64] | None":
        """How likely one label comes before another; None if the model does not know."""
        if self.pairwise is not None:
            from prefero.calibration import square

            return square(self.pairwise.before, 1 - self.pairwise.before, 0.5)
        known = hasattr(self.ranker, "predict_pairwise")
        return self.ranker.predict_pairwise(self.X) if known else None

    @property
    def expected_tau(self) -> "NDArray[np.float64]":
        """The Kendall tau to expect of each row."""
        from prefero.calibration import expected_tau

        if self.pairwise is None:
            return self.ranker.predict_expected_tau(self.X)
        return expected_tau(self.ranks, self.pairwise.before)

    @property
    def buckets(self) -> "NDArray[np.int64]":
        """The ranks with ties."""
        from prefero.base import buckets_of

        if self.pairwise is None:
            return self.ranker.predict_buckets(self.X)
        return buckets_of(self.ranker, self.pairwise)

    def top_sets(self, error: float) -> list[list[str]]:
        """Return the labels that may be first, for each row."""
        if self.pairwise is not None and hasattr(self.ranker, "_top_set"):
            found = self.ranker._top_set(self.pairwise.margins, error)
        else:
            found = self.ranker.predict_top_set(self.X, error)
        return [list(compress(self.labels, row)) for row in found.tolist()]


def rows_per_chunk(ranker: Any, output: OutputFormat, uncertainty: UncertaintyOptions) -> int:
    """Return how many rows to predict at a time: few if each has many pairs of labels."""
    if output not in _PAIRWISE_FORMATS and uncertainty == NO_UNCERTAINTY:
        return CHUNK_ROWS
    return max(1, min(CHUNK_ROWS, CHUNK_PAIRS // len(ranker.labels_) ** 2))


def prediction_table(
    ranker: Any,
    X: Any,
    table: "DataTable",
    output: OutputFormat,
    top: int | None = None,
    keep: str | None = None,
    uncertainty: UncertaintyOptions = NO_UNCERTAINTY,
) -> "pd.DataFrame":
    """Return the predictions for a table, or a part of one, beside the columns to keep."""
    import numpy as np

    pairs = output in _PAIRWISE_FORMATS or uncertainty != NO_UNCERTAINTY
    predicted = Prediction(ranker, X, pairs=pairs)
    lines = _OUTPUTS[output](predicted, top)
    rows = lines["row"] if output is OutputFormat.PAIRS else np.arange(len(lines))
    if uncertainty.expected_tau:
        lines["expected_tau"] = predicted.expected_tau[rows]
    if uncertainty.top_set is not None:
        sets = [", ".join(own) for own in predicted.top_sets(uncertainty.top_set)]
        lines["may be first"] = np.array(sets, dtype=object)[rows]
    kept = table.frame[table.columns(keep)] if keep else table.frame[[]]
    if clash := [name for name in map(str, kept.columns) if name in lines.columns]:
        raise table.error(
            f"the output has a column {clash[0]!r} of its own, so the one of NEW cannot be kept "
            "beside it: rename it."
        )
    kept = kept.iloc[rows].reset_index(drop=True)
    if output is OutputFormat.PAIRS:
        lines["row"] += table.first_row + 1
    return kept.join(lines)


def _first(values: Any, predicted: Prediction, top: int | None) -> "pd.DataFrame":
    """One column per label, blank behind the first ``top``."""
    import pandas

    frame = pandas.DataFrame(values, columns=predicted.labels)
    if top is None:
        return frame
    frame = frame.where(predicted.ranks <= top)
    return frame if values.dtype.kind == "f" else frame.astype("Int64")


def _expected(predicted: Prediction, top: int | None) -> "pd.DataFrame":
    """Expected scores, the ends of their 90 % intervals, and the expected regret."""
    found = predicted.ranker._expectation(predicted.X)
    parts = found.scores, *found.intervals.transpose(2, 0, 1)
    frame, low, high = (_first(part, predicted, top) for part in parts)
    ends = [low.add_suffix(" low"), high.add_suffix(" high")]
    return frame.join(ends).assign(expected_regret=found.regret)


def _buckets(predicted: Prediction, top: int | None) -> "pd.DataFrame":
    """One column per label; labels tied with the last of the first ``top`` stay."""
    import pandas

    frame = pandas.DataFrame(predicted.buckets, columns=predicted.labels)
    return frame if top is None else frame.where(frame <= top).astype("Int64")


def _probabilities(predicted: Prediction, top: int | None) -> "pd.DataFrame":
    """One column per label: how likely it is relevant."""
    if not hasattr(predicted.ranker, "predict_proba"):
        raise DataError("output: the model knows no probabilities: fit it with a threshold.")
    found = predicted.ranker.predict_proba(predicted.X)[:, -len(predicted.labels) :]
    return _first(found, predicted, top)


def _order(predicted: Prediction, top: int | None) -> "pd.DataFrame":
    import pandas

    from prefero.rankings import format_order, orders_from_ranks

    orders = orders_from_ranks(predicted.ranks, predicted.labels, top=top)
    return pandas.DataFrame({"order": [format_order(order) for order in orders]})


def _calibrated(predicted: Prediction, top: int | None) -> "pd.DataFrame":
    import numpy as np
    import pandas

    from prefero.rankings import text_from_calibrated

    ranks = predicted.calibrated.astype(np.float64)
    if top is not None:
        ranks[:, :-1][predicted.ranks > top] = np.nan
    return pandas.DataFrame({"calibrated": text_from_calibrated(ranks, predicted.labels)})


def _pairs(predicted: Prediction, top: int | None) -> "pd.DataFrame":
    """One row per pair of labels, in the predicted order."""
    import numpy as np
    import pandas

    order = np.argsort(predicted.ranks, axis=1)
    n, c = order.shape
    first, second = np.triu_indices(c, 1)
    wanted = first < (top or c)
    preferred, other = order[:, first[wanted]].ravel(), order[:, second[wanted]].ravel()
    row = np.repeat(np.arange(n), wanted.sum())
    names = np.array(predicted.labels, dtype=object)
    pairs = {"row": row, "preferred": names[preferred], "other": names[other]}
    # A multilabel ranker has one column more, for the virtual label.
    probabilities = predicted.probabilities
    if probabilities is not None:
        pairs["probability"] = probabilities[row, preferred, other]
    return pandas.DataFrame(pairs)


_OUTPUTS = {
    OutputFormat.RANKS: lambda predicted, top: _first(predicted.ranks, predicted, top),
    OutputFormat.SCORES: lambda predicted, top: _first(predicted.scores, predicted, top),
    OutputFormat.EXPECTED: _expected,
    OutputFormat.RELEVANT: lambda predicted, top: _first(1 * predicted.relevant, predicted, top),
    OutputFormat.BUCKETS: _buckets,
    OutputFormat.PROBABILITIES: _probabilities,
    OutputFormat.ORDER: _order,
    OutputFormat.CALIBRATED: _calibrated,
    OutputFormat.PAIRS: _pairs,
}
