"""What pruning and shrinking do to rows that a tree has not seen."""

from typing import NamedTuple

import numpy as np

from prefero._trees._arrays import Trees
from prefero._trees._models import NodeModels
from prefero._trees._pruning import reached_when_pruned
from prefero._trees._shrinkage import STRENGTHS, shrunk_models
from prefero._typing import Indices, Values
from prefero.metrics import kendall_tau
from prefero.rankings import strict_ranks


class HeldOut(NamedTuple):
    """A tree grown without some rows, and these rows.

    Attributes
    ----------
    tree : Trees
        The tree.
    models : NodeModels
        Of its nodes.
    reached : ndarray of shape (n_samples,)
        The nodes in which the rows end.
    ranks : ndarray of shape (n_samples, n_labels)
        Their rankings.
    weight : ndarray of shape (n_samples,)
        Their weights.
    """

    tree: Trees
    models: NodeModels
    reached: Indices
    ranks: Values
    weight: Values

    def pruned_taus(self, alphas: Values) -> Values:
        """Return the mean tau when the tree is pruned by each alpha."""
        predicted = strict_ranks(self.models.votes)
        return np.array(
            [
                kendall_tau(self.ranks, predicted[at], sample_weight=self.weight)
                for at in reached_when_pruned(self.tree, self.reached, alphas)
            ]
        )

    def shrunk_taus(self, alpha: float) -> Values:
        """Return the tau of each row when the pruned tree is shrunk by each strength."""
        (at,) = reached_when_pruned(self.tree, self.reached, np.array([alpha]))
        votes = (shrunk_models(self.tree, self.models, strength).votes for strength in STRENGTHS)
        taus = [kendall_tau(self.ranks, strict_ranks(v)[at], average=False) for v in votes]
        return np.column_stack(taus)
