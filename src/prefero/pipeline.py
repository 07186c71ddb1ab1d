"""Pipelines that predict all that the ranker at their end predicts."""

from typing import Any, Self

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.metaestimators import available_if

from prefero._pipelines import at_final_step, final_step, to_steps
from prefero._typing import ArrayOrNone

__all__ = ["RankingPipeline", "make_ranking_pipeline"]


def _passed(name: str, what: str) -> Any:
    """Make a method of the last step one of the pipeline, if the last step has it."""

    def method(self: Any, X: Any, *args: Any, **params: Any) -> Any:
        ranker, reaching = at_final_step(self, X)
        return getattr(ranker, name)(reaching, *args, **params)

    method.__name__, method.__qualname__ = name, f"RankingPipeline.{name}"
    method.__doc__ = f"""{what}

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances, as the first step takes them.
        *args, **params
            More arguments of the last step's method.

        Returns
        -------
        ndarray
            What the last step returns.
        """
    return available_if(lambda pipeline: hasattr(final_step(pipeline), name))(method)


class RankingPipeline(Pipeline):
    """Transformers and a ranker at their end, with all that the ranker can predict.

    scikit-learn's pipeline keeps ``predict`` and ``score`` of its last step and hides the rest.
    This one passes on the predictions of label rankers, multilabel rankers and orderers, and the
    names of their labels.

    Parameters
    ----------
    steps : list of (str, estimator)
        Transformers by name, and a ranker or an orderer last.
    transform_input : list of str, optional
        As in scikit-learn's pipeline.
    memory : str or joblib.Memory, optional
        As in scikit-learn's pipeline.
    verbose : bool, default=False
        As in scikit-learn's pipeline.

    Attributes
    ----------
    labels_ : ndarray of shape (n_labels,)
        Label names of the last step.
    unseen_labels_ : ndarray of shape (n_labels,), dtype bool
        The labels that no training row held.

    Notes
    -----
    ``fit(X, y, sample_weight=w)`` hands ``w`` to the last step and to each step before it whose
    ``fit`` takes it, as that of a scaler does: a row of weight two counts as two rows everywhere.
    So go ``groups``, ``qid``, ``ranks`` and ``scores``. ``step__name=`` names a step, as in
    scikit-learn's pipeline. With ``sklearn.set_config(enable_metadata_routing=True)`` what the
    steps request decides.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from prefero import PairwiseLabelRanker
    >>> X = [[0.0], [1.0], [200.0], [300.0]]
    >>> Y = [[1, 2], [1, 2], [2, 1], [2, 1]]
    >>> model = make_ranking_pipeline(StandardScaler(), PairwiseLabelRanker()).fit(X, Y)
    >>> model.predict_order([[250.0]])
    array([[1, 0]])
    >>> model.predict_pairwise([[250.0]])[0, 1, 0] > 0.5
    np.True_
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the transformers one after another, and the ranker to what they give.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like
            What the last step learns from.
        **params
            ``sample_weight``, ``groups``, ``qid``, ``ranks``, ``scores``, or ``step__name``.

        Returns
        -------
        self
            The fitted pipeline.
        """
        return super().fit(X, y, **to_steps(self.steps, params))

    @available_if(lambda pipeline: hasattr(final_step(pipeline), "score"))
    def score(
        self, X: Any, y: Any = None, sample_weight: ArrayOrNone = None, **params: Any
    ) -> float:
        """Return the score of the last step.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Instances.
        y : array-like
            Their truth, as the last step takes it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        **params
            More arguments of the last step's ``score``, such as ``qid``.

        Returns
        -------
        float
            What the last step returns.
        """
        if get_config()["enable_metadata_routing"]:
            return float(super().score(X, y, sample_weight, **params))
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        ranker, reaching = at_final_step(self, X)
        return float(ranker.score(reaching, y, **params))

    @property
    def labels_(self) -> NDArray[Any]:
        """Label names of the last step."""
        return final_step(self).labels_

    @property
    def unseen_labels_(self) -> NDArray[Any]:
        """The labels that no training row held, as the last step knows them."""
        return final_step(self).unseen_labels_

    predict_order = _passed("predict_order", "Predict the labels by name, best first.")
    predict_pairwise = _passed(
        "predict_pairwise", "Predict how likely each label comes before each other."
    )
    predict_ties = _passed("predict_ties", "Predict how likely two labels are tied.")
    predict_buckets = _passed("predict_buckets", "Predict ranks with ties.")
    predict_expected_tau = _passed("predict_expected_tau", "Predict how good each order is.")
    predict_partial = _passed("predict_partial", "Predict only the pairs that are sure enough.")
    predict_top_set = _passed("predict_top_set", "Predict which labels may be first.")
    predict_rank_intervals = _passed(
        "predict_rank_intervals", "Predict the ranks that each label may have."
    )
    predict_ranks = _passed("predict_ranks", "Predict the rank of every label, of label sets too.")
    predict_calibrated = _passed(
        "predict_calibrated", "Predict the rank of every label and of the virtual label."
    )


def make_ranking_pipeline(
    *steps: Any, transform_input: list[str] | None = None, memory: Any = None, verbose: bool = False
) -> RankingPipeline:
    """Make a pipeline that keeps the predictions of its ranker; steps get the names of their types.

    Parameters
    ----------
    *steps : estimators
        Transformers, and a ranker or an orderer last.
    transform_input, memory, verbose
        As in scikit-learn's ``make_pipeline``.

    Returns
    -------
    RankingPipeline
        The pipeline, not fitted.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from prefero import NeighborsLabelRanker
    >>> list(make_ranking_pipeline(StandardScaler(), NeighborsLabelRanker()).named_steps)
    ['standardscaler', 'neighborslabelranker']
    """
    named = make_pipeline(*steps).steps
    return RankingPipeline(named, transform_input=transform_input, memory=memory, verbose=verbose)
