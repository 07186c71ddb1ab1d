"""Sample orders in partitions: no order may lie in two of them."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.extmath import row_norms

from prefero.base import SampleOrders, check_sample_orders, twin_of
from prefero.distributed._engine import Engine
from prefero.distributed._partitions import Blocks, given_blocks, naming, refuse_differences


class OrdersSummary(NamedTuple):
    """What the driver must know of a partition of orders."""

    features: tuple[int, tuple[Any, ...] | None]
    names: tuple[Any, ...]
    n_orders: int
    largest: float


def _read_orders(number: int, *entries: Any) -> tuple[SampleOrders, Any]:
    *blocks, (orderer, names) = entries
    given, twin = given_blocks(names, blocks), twin_of(orderer)
    with naming(number), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a partition may be tied where others are not
        return check_sample_orders(twin, **given), twin


def _summarize(number: int, *entries: Any) -> OrdersSummary:
    orders, twin = _read_orders(number, *entries)
    *blocks, (_, names) = entries
    groups = np.unique(np.asarray(given_blocks(names, blocks)["qid"]))
    known = getattr(twin, "feature_names_in_", None)
    return OrdersSummary(
        (orders.X.shape[1], None if known is None else tuple(known)),
        tuple(groups.tolist()),
        len(orders.queries.sizes),
        float(row_norms(orders.X).max(initial=0)),
    )


def _with_orders(function: Callable[..., Any], number: int, *entries: Any) -> Any:
    *blocks, (who, shared) = entries
    return function(_read_orders(number, *blocks, who)[0], shared)


class OrderPartitions:
    """The partitions of a training set of sample orders.

    Parameters
    ----------
    engine : Engine
        Who reads them.
    blocks : Blocks
        ``X``, ``y`` and ``qid``.
    orderer : orderer or reducer
        Whose tags say what features are legal.
    """

    def __init__(self, engine: Engine, blocks: Blocks, orderer: Any) -> None:
        self.engine, self._blocks, self._who = engine, blocks, (orderer, blocks.names)
        numbers = range(len(blocks))
        self.summaries: list[OrdersSummary] = engine.gather(
            engine.each(_summarize, numbers, *blocks.columns, shared=self._who)
        )
        refuse_differences("columns of X", [s.features for s in self.summaries])
        self._refuse_torn_orders()

    def _refuse_torn_orders(self) -> None:
        where: dict[Any, int] = {}
        for number, summary in enumerate(self.summaries):
            for name in summary.names:
                if where.setdefault(name, number) != number:
                    raise ValueError(
                        f"Partition {number}: group {name!r} also lies in partition "
                        f"{where[name]}, but an order must be whole: sort by qid and divide "
                        "between them."
                    )

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.summaries[0].features[0]

    @property
    def n_orders(self) -> int:
        """The number of orders."""
        return sum(summary.n_orders for summary in self.summaries)

    def name_features(self, orderer: Any) -> None:
        """Give an orderer what it would have learned from a validated table."""
        orderer.n_features_in_, names = self.summaries[0].features
        if names is not None:
            orderer.feature_names_in_ = np.array(names, dtype=object)

    def read(self, function: Callable[..., Any], shared: Any = None) -> Sequence[Any]:
        """Start ``function(orders, shared)`` for each partition."""
        reading = partial(_with_orders, function)
        numbers, columns = range(len(self._blocks)), self._blocks.columns
        return self.engine.each(reading, numbers, *columns, shared=(self._who, shared))
