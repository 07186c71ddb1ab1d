"""What a service says about instances."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prefero._pipelines import at_final_step
from prefero.base import PairBeliefs, beliefs_of, buckets_of
from prefero.calibration import expected_tau, square
from prefero.exceptions import DataError
from prefero.serve._instances import Instance, read_instances
from prefero.serve._models import ServedModel

PARTS = ("order", "ranks", "buckets", "probabilities", "expected_tau", "top_set", "relevant")
# Decimals of probabilities: what more is given says nothing.
_DECIMALS = 4


class Wish(NamedTuple):
    """What of an answer is wanted."""

    include: tuple[str, ...] = PARTS
    top: int | None = None
    error: float = 0.1
    explain: tuple[str, str] | bool = False


def answers(
    served: ServedModel, instances: Sequence[Instance], wish: Wish | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return one answer an instance, and notes on what the model did not know."""
    wish = wish or Wish()
    X, notes = read_instances(served, instances)
    ranker, inner = (served.ranker, X) if served.plain else at_final_step(served.model, X)
    results: list[dict[str, Any]] = [{} for _ in instances]
    if served.of_sets:
        _add_sets(results, served, ranker, inner, wish)
    elif hasattr(ranker, "predict_pairwise"):
        beliefs = beliefs_of(ranker, inner, checked=served.plain)
        _add_orders(results, served.labels, beliefs.ranks, wish)
        _add_beliefs(results, served, beliefs, wish)
    else:
        _add_orders(results, served.labels, served.model.predict(_named(served, X)), wish)
    if not hasattr(ranker, "predict_pairwise"):
        notes.append("the model is not calibrated: it has no probabilities.")
    if "top_set" in wish.include and hasattr(ranker, "predict_top_set"):
        may_be_first = served.model.predict_top_set(_named(served, X), error=wish.error)
        for result, row in zip(results, may_be_first, strict=True):
            result["top_set"] = [served.labels[index] for index in np.flatnonzero(row)]
    if wish.explain:
        named = _named(served, X)
        for row, result in enumerate(results):
            result["explanation"] = _explanation(served, named, row, wish.explain)
    return results, notes


def _named(served: ServedModel, X: Any) -> Any:
    """Instances with the names of their features, if the model knows these."""
    if not served.plain or not hasattr(served.model, "feature_names_in_"):
        return X
    import pandas

    return pandas.DataFrame(X, columns=served.model.feature_names_in_)


def _add_orders(results: list[Any], labels: list[str], ranks: Any, wish: Wish) -> None:
    for result, row in zip(results, ranks.tolist(), strict=True):
        if "order" in wish.include:
            order = sorted(range(len(labels)), key=row.__getitem__)[: wish.top]
            result["order"] = [labels[index] for index in order]
        if "ranks" in wish.include:
            result["ranks"] = dict(zip(labels, row, strict=True))


def _add_sets(results: list[Any], served: ServedModel, ranker: Any, X: Any, wish: Wish) -> None:
    """What a multilabel ranker says: an order and the relevant labels, which do not contradict."""
    _add_orders(results, served.labels, ranker.predict_ranks(X), wish)
    if "relevant" in wish.include:
        for result, row in zip(results, ranker.predict(X), strict=True):
            result["relevant"] = [served.labels[index] for index in np.flatnonzero(row)]
    if "probabilities" in wish.include and hasattr(ranker, "predict_pairwise"):
        # The last label is the zero point.
        c = len(served.labels)
        matrices = np.round(ranker.predict_pairwise(X)[:, :c, :c], _DECIMALS)
        for result, matrix in zip(results, matrices.tolist(), strict=True):
            result["probabilities"] = matrix


def _add_beliefs(results: list[Any], served: ServedModel, beliefs: PairBeliefs, wish: Wish) -> None:
    if "buckets" in wish.include:
        for result, row in zip(results, buckets_of(served.ranker, beliefs).tolist(), strict=True):
            result["buckets"] = dict(zip(served.labels, row, strict=True))
    if "probabilities" in wish.include:
        matrices = square(beliefs.before, 1 - beliefs.before, 0.5)
        for result, matrix in zip(results, np.round(matrices, _DECIMALS).tolist(), strict=True):
            result["probabilities"] = matrix
    if "expected_tau" in wish.include:
        expected = np.round(expected_tau(beliefs.ranks, beliefs.before), _DECIMALS)
        for result, value in zip(results, expected.tolist(), strict=True):
            result["expected_tau"] = value


def _explanation(
    served: ServedModel, X: Any, row: int, pair: tuple[str, str] | bool
) -> dict[str, Any]:
    from prefero.inspection import explain

    told = explain(served.model, X, row, pair=_pair(served, pair))
    effects = [effect._asdict() for effect in told.effects]
    return {
        "pair": [str(label) for label in told.pair],
        "verdict": told.verdict(),
        "how": told.how,
        "effects": [{**effect, "value": _plain(effect["value"])} for effect in effects],
        "base": told.base,
        "margin": told.margin,
        "unit": told.unit,
    }


def _pair(served: ServedModel, wanted: tuple[str, str] | bool) -> tuple[Any, Any] | None:
    """The labels that are to be compared; None for the two that are predicted first."""
    if isinstance(wanted, bool):
        return None
    labels = {str(label): label for label in served.ranker.labels_}
    for label in wanted:
        if label not in labels:
            known = ", ".join(map(repr, served.labels[:20]))
            raise DataError(f"explain: {label!r} is no label of this model; there are {known}.")
    if wanted[0] == wanted[1]:
        raise DataError(f"explain: two labels are needed, not {wanted[0]!r} twice.")
    return labels[wanted[0]], labels[wanted[1]]


def _plain(value: Any) -> Any:
    """A feature's value as JSON knows it; null is missing."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
