"""Measures in the form that scikit-learn's cross-validation and search ask for."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from prefero._pipelines import at_final_step
from prefero.metrics._pair_probabilities import (
    pairwise_brier,
    pairwise_calibration_error,
    pairwise_log_loss,
)
from prefero.metrics._rankings import footrule, kendall_tau, spearman_rho, top_accuracy


class Scorer:
    """A measure of what a ranker predicts, larger is better, as scikit-learn's ``scoring=``.

    Parameters
    ----------
    measure : callable
        Takes true ranks, predictions and ``sample_weight``.
    method : str
        The method of the ranker that predicts.
    greater_is_better : bool, default=True
        Whether larger values are better; if not, the score is the negative value.
    **options
        More arguments of the measure.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from prefero import ConsensusLabelRanker
    >>> X, Y = [[0]] * 6, [[1, 1, 3]] * 6
    >>> cross_val_score(ConsensusLabelRanker(), X, Y, scoring=SCORERS["tau-x"], cv=2)
    array([1., 1.])
    """

    def __init__(
        self,
        measure: Callable[..., Any],
        method: str = "predict",
        *,
        greater_is_better: bool = True,
        **options: Any,
    ) -> None:
        self.measure = measure
        self.method = method
        self.greater_is_better = greater_is_better
        self.options = options

    def __call__(
        self, ranker: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score a fitted ranker, or a pipeline that ends in one, on instances and their ranks."""
        last, reaching = at_final_step(ranker, X)
        predicted = getattr(last, self.method)(reaching)
        value = self.measure(y, predicted, sample_weight=sample_weight, **self.options)
        return float(value if self.greater_is_better else -value)

    def __repr__(self) -> str:
        sign = "" if self.greater_is_better else "-"
        return f"<scorer: {sign}{self.measure.__name__} of {self.method}>"


kendall_tau_scorer = Scorer(kendall_tau)
kendall_tau_x_scorer = Scorer(kendall_tau, "predict_buckets", variant="x")
spearman_rho_scorer = Scorer(spearman_rho)
top_accuracy_scorer = Scorer(top_accuracy)
footrule_scorer = Scorer(footrule, greater_is_better=False)
pairwise_calibration_error_scorer = Scorer(
    pairwise_calibration_error, "predict_pairwise", greater_is_better=False
)
pairwise_log_loss_scorer = Scorer(pairwise_log_loss, "predict_pairwise", greater_is_better=False)
pairwise_brier_scorer = Scorer(pairwise_brier, "predict_pairwise", greater_is_better=False)

# By the short names of measures in tables of results.
SCORERS: dict[str, Scorer] = {
    "tau": kendall_tau_scorer,
    "tau-x": kendall_tau_x_scorer,
    "rho": spearman_rho_scorer,
    "top1": top_accuracy_scorer,
    "footrule": footrule_scorer,
    "calibration": pairwise_calibration_error_scorer,
    "log-loss": pairwise_log_loss_scorer,
    "brier": pairwise_brier_scorer,
}
