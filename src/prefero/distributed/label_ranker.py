"""Label rankers that learn from rows in partitions, and are plain local rankers afterwards."""

from collections.abc import Callable
from contextlib import closing
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from prefero import label_ranking as rankers
from prefero._docs import documented
from prefero._progress import Progress, row_progress
from prefero._sklearn import StrOptions
from prefero.base import copy_of, fitting
from prefero.distributed._base import BaseDistributed, by_blocks, learner_of
from prefero.distributed._boosting import fit_boosting
from prefero.distributed._engine import find_engine
from prefero.distributed._forest import TREES_TOGETHER, fit_histogram_forest, fit_partition_forest
from prefero.distributed._linear import fit_loglinear, fit_pairwise
from prefero.distributed._neighbors import fit_neighbors
from prefero.distributed._partitions import Partitions
from prefero.distributed.blocks import Blocks
from prefero.rankings import strict_ranks

# Where no bound is set: levels of a tree, and steps of a solver.
_USUAL_DEPTH, _USUAL_STEPS = 20, 40

_LEARNERS: dict[type, Callable[..., Any]] = {
    rankers.BoostingLabelRanker: fit_boosting,
    rankers.ForestLabelRanker: fit_histogram_forest,
    rankers.LogLinearLabelRanker: fit_loglinear,
    rankers.NeighborsLabelRanker: fit_neighbors,
    rankers.PairwiseLabelRanker: fit_pairwise,
}


def _expected_passes(ranker: Any) -> int:
    """Estimate how often all rows are passed: to prepare, then once per level or step."""
    if isinstance(ranker, rankers.ForestLabelRanker):
        depth = _USUAL_DEPTH if ranker.max_depth is None else ranker.max_depth
        return 7 + -(-ranker.n_estimators // TREES_TOGETHER) * (depth + 2)
    if isinstance(ranker, rankers.BoostingLabelRanker):
        return 7 + ranker.n_estimators * (ranker.max_leaf_nodes or _USUAL_DEPTH)
    return 5 + (0 if isinstance(ranker, rankers.NeighborsLabelRanker) else _USUAL_STEPS)


@documented()
class DistributedLabelRanker(BaseDistributed):
    """Fit a label ranker to rows that lie in the partitions of Dask collections.

    Partitions add up what the ranker needs of their rows; rows stay where they are. The result is
    the plain ranker, as if one machine had fitted it.

    Parameters
    ----------
    ranker : label ranker
        What to fit; its parameters mean what they mean there.
    forest : {"histograms", "partitions"}, default="histograms"
        For a forest: trees of all rows, whose histograms are added up level by level; or the
        cheaper choice, trees that are each grown from one partition and exchanged once.
    %(where_to_compute)s
    progress : {"auto"} or callable, optional
        Progress of the fit: a bar on a terminal, with rows per second and the time left; or a
        function of the rows passed and the rows expected in all.

    Attributes
    ----------
    ranker_ : label ranker
        The fitted ranker; for neighbours, one that holds the sampled cases.
    cases_ : object or None
        For neighbours: all cases, left in their partitions.

    Notes
    -----
    Parameters that are ``"auto"``, shrinkage and pair probabilities are learned from at most 20,000
    rows, evenly spaced, which come to the driver. Errors in the data say which partition is wrong.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from prefero import ForestLabelRanker
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> Y = np.where(X < 0.5, [[1, 2, 3]], [[3, 1, 2]])
    >>> forest = DistributedLabelRanker(ForestLabelRanker(20, random_state=0))
    >>> forest = forest.fit(da.from_array(X, chunks=(20, 1)), da.from_array(Y, chunks=(20, 3)))
    >>> forest.to_local().predict([[0.1], [0.9]])
    array([[1, 2, 3],
           [3, 1, 2]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "forest": [StrOptions({"histograms", "partitions"})]
    }

    ranker_: Any

    def __init__(
        self,
        ranker: Any,
        *,
        forest: Literal["histograms", "partitions"] = "histograms",
        client: Any = None,
        n_jobs: int | None = None,
        folder: Any = None,
        progress: Progress = None,
    ) -> None:
        self.ranker = ranker
        self.forest = forest
        self.client = client
        self.n_jobs = n_jobs
        self.folder = folder
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from collections of instances and their rankings.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Instances.
        y : Dask array or DataFrame of shape (n_samples, n_labels)
            Ranks, in as many partitions; the columns of a DataFrame name the labels.
        sample_weight : Dask array or Series of shape (n_samples,), optional
            Weights of the rows, in as many partitions.

        Returns
        -------
        self
            The fitted ranker.
        """
        return self.fit_blocks(Blocks(X=X, y=y, sample_weight=sample_weight))

    def fit_blocks(self, blocks: Blocks) -> Self:
        """Learn from blocks that are read when they are needed.

        Parameters
        ----------
        blocks : Blocks
            The partitions.

        Returns
        -------
        self
            The fitted ranker.
        """
        self._validate_params()
        learner = self._learner()
        ranker = clone(self.ranker)
        ranker._validate_params()
        engine = find_engine(self.client, self.n_jobs, self.folder)
        progress = row_progress(self.progress, "training")
        with closing(engine), fitting(ranker) as copied, progress as passed:
            engine.passed = passed
            partitions = Partitions(engine, blocks, copy_of(copied))
            partitions.name_features_and_labels(copied)
            steps = _expected_passes(copied) * len(blocks)
            passed.expect(steps, -(-partitions.n_rows // len(blocks)))
            cases = learner(copied, partitions)
        self.ranker_, self.cases_ = ranker, cases
        return self

    def _learner(self) -> Callable[..., Any]:
        learners = _LEARNERS
        if self.forest == "partitions":
            learners = {**learners, rankers.ForestLabelRanker: fit_partition_forest}
        return learner_of(self.ranker, learners)

    @property
    def _fitted(self) -> Any:
        return self.ranker_ if self.cases_ is None else self.cases_.gathered(self.ranker_)

    def _scores(self, X: Any) -> Any:
        if self.cases_ is not None:
            return self.cases_.decision_function(self.ranker_, X)
        return super()._scores(X)

    def predict(self, X: Any) -> Any:
        """Predict the rank of every label, block by block.

        %(of_collection)s

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_labels), dtype int64
            Ranks, 1 is best; lazy for a collection.
        """
        check_is_fitted(self)
        if self.cases_ is None:
            return by_blocks(self.ranker_, "predict", X, np.int64, (len(self.ranker_.labels_),))
        scores = self.decision_function(X)
        if hasattr(scores, "__dask_graph__"):
            return scores.map_blocks(strict_ranks, dtype=np.int64)
        return strict_ranks(scores)
