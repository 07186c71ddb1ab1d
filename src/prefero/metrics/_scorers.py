"""Metrics in the form that scikit-learn's cross-validation and search ask for."""

from collections.abc import Callable
from copy import copy
from typing import Any, Literal

from sklearn.utils.metadata_routing import MetadataRequest

from prefero._pipelines import at_final_step
from prefero._typing import ArrayOrNone
from prefero.metrics._pair_probabilities import (
    pairwise_brier,
    pairwise_calibration_error,
    pairwise_log_loss,
)
from prefero.metrics._rankings import footrule, kendall_tau, spearman_rho, top_accuracy
from prefero.metrics._utility import gap_closed, regret, utility


class Scorer:
    """A metric of what a ranker predicts, larger is better, as scikit-learn's ``scoring=``.

    Parameters
    ----------
    metric : callable
        Takes the truth, predictions and ``sample_weight``.
    method : str
        The method of the ranker that predicts.
    greater_is_better : bool, default=True
        Whether larger values are better; if not, the score is the negative value.
    truth : {"y", "scores"}, default="y"
        What predictions are measured against: the ranks, or what the labels are worth. Scores
        are metadata, which scikit-learn's tools pass on if its metadata routing is enabled.
    **options
        More arguments of the metric.

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
        metric: Callable[..., Any],
        method: str = "predict",
        *,
        greater_is_better: bool = True,
        truth: Literal["y", "scores"] = "y",
        **options: Any,
    ) -> None:
        self.metric = metric
        self.method = method
        self.greater_is_better = greater_is_better
        self.truth = truth
        self.options = options
        self._requests: dict[str, bool | str | None] = {"sample_weight": None}
        if truth == "scores":
            self._requests["scores"] = True

    def __call__(
        self,
        ranker: Any,
        X: Any,
        y: ArrayOrNone = None,
        sample_weight: ArrayOrNone = None,
        scores: ArrayOrNone = None,
    ) -> float:
        """Score a fitted ranker, or a pipeline that ends in one, on instances and their truth."""
        truth = scores if self.truth == "scores" else y
        if truth is None:
            raise ValueError(
                f"{self!r} needs {self.truth}: give them as {self.truth}=, or to scikit-learn's "
                "tools as metadata, with sklearn.set_config(enable_metadata_routing=True)."
            )
        last, reaching = at_final_step(ranker, X)
        predicted = getattr(last, self.method)(reaching)
        value = self.metric(truth, predicted, sample_weight=sample_weight, **self.options)
        return float(value if self.greater_is_better else -value)

    def set_score_request(self, **requests: bool | str | None) -> "Scorer":
        """Return a scorer that asks for metadata, as scikit-learn's metadata routing has it.

        Parameters
        ----------
        **requests : bool, str or None
            ``sample_weight=True`` asks for weights, a word for weights of this name; False
            does without.

        Returns
        -------
        Scorer
            A copy that requests so.
        """
        unknown = requests.keys() - self._requests.keys()
        if unknown:
            raise TypeError(f"{self!r} takes no {min(unknown)!r} as metadata.")
        asking = copy(self)
        asking._requests = {**self._requests, **requests}
        return asking

    def get_metadata_routing(self) -> MetadataRequest:
        """Return which metadata the scorer asks for.

        Returns
        -------
        MetadataRequest
            What scikit-learn's metadata routing reads.
        """
        request = MetadataRequest(owner=self)
        for name, wanted in self._requests.items():
            request.score.add_request(param=name, alias=wanted)
        return request

    def __repr__(self) -> str:
        sign = "" if self.greater_is_better else "-"
        return f"<scorer: {sign}{self.metric.__name__} of {self.method}>"


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
# Against scores, which are metadata.
regret_scorer = Scorer(regret, greater_is_better=False, truth="scores")
utility_scorer = Scorer(utility, truth="scores")
gap_closed_scorer = Scorer(gap_closed, truth="scores")

# By the short names of metrics in tables of results.
SCORERS: dict[str, Scorer] = {
    "tau": kendall_tau_scorer,
    "tau-x": kendall_tau_x_scorer,
    "rho": spearman_rho_scorer,
    "top1": top_accuracy_scorer,
    "footrule": footrule_scorer,
    "calibration": pairwise_calibration_error_scorer,
    "log-loss": pairwise_log_loss_scorer,
    "brier": pairwise_brier_scorer,
    "regret": regret_scorer,
    "utility": utility_scorer,
    "gap-closed": gap_closed_scorer,
}
