"""How a multilabel ranker judges its own settings, on cases that it leaves out."""

from collections.abc import Callable
from functools import partial

import numpy as np

from prefero._typing import Values
from prefero.metrics import multilabel as metrics
from prefero.rankings import split_calibrated, strict_calibrated

Loss = Callable[[Values, Values, Values], float]


def _disagreement(calibrated: Values, scores: Values, weight: Values) -> float:
    predicted = strict_calibrated(scores)
    rho = np.asarray(metrics.calibrated_rho(calibrated, predicted, average=False))
    defined = ~np.isnan(rho)
    return -float(np.average(rho[defined], weights=weight[defined])) if defined.any() else 0.0


def _of_sets(
    metric: Callable[..., float], calibrated: Values, scores: Values, weight: Values
) -> float:
    relevance, _ = split_calibrated(calibrated)
    return metric(relevance, (scores > 0).astype(float), sample_weight=weight)


def _of_orders(
    metric: Callable[..., float], sign: int, calibrated: Values, scores: Values, weight: Values
) -> float:
    relevance, _ = split_calibrated(calibrated)
    return sign * metric(relevance, scores, sample_weight=weight)


# Name of a loss -> function of calibrated truth, scores and weights; smaller is better.
LOSSES: dict[str, Loss] = {
    "spearman": _disagreement,
    "hamming": partial(_of_sets, metrics.hamming_loss),
    "subset": partial(_of_sets, metrics.subset_loss),
    "ranking": partial(_of_orders, metrics.ranking_loss, 1),
    "one_error": partial(_of_orders, metrics.one_error, 1),
    "coverage": partial(_of_orders, metrics.coverage, 1),
    "average_precision": partial(_of_orders, metrics.average_precision, -1),
}
