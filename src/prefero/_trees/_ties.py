"""How often pairs of labels are tied in the rows of a leaf.

Shares of ties are kept like scores: as many a leaf as there are pairs, with their evidence. So
they are averaged over trees, left out of bag and drawn towards the nodes above by the same code.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefero._trees._arrays import Trees
from prefero._trees._shrinkage import shrunk
from prefero._typing import Values
from prefero.calibration import all_pairs, pair_outcomes

# Leaves times pairs beyond which shares would be most of a model: ties then follow margins.
_MOST_SHARES = 2**24


class TieShares(NamedTuple):
    """What leaves know of ties; both arrays are (n_leaves, n_pairs)."""

    shares: NDArray[np.float32]
    known: NDArray[np.float32]

    def trees(self, like: Trees, strength: float) -> Trees:
        """Return trees whose leaves hold shares of ties, drawn towards the nodes above.

        Parameters
        ----------
        like : Trees
            The trees as they were grown.
        strength : float
            As in `shrunk`.

        Returns
        -------
        Trees
            The same nodes, with a score a pair.
        """
        known = self.known.ravel()
        evidence = known[:0] if (known == 1).all() else known
        arrays = {**like.arrays, "scores": self.shares.ravel(), "evidence": evidence}
        own = Trees(arrays, like.n_features, self.shares.shape[1])
        if not np.isinf(strength):
            return shrunk(own, strength, np.empty(0))
        # All leaves weigh what their rows do.
        mass = like.arrays["weight"][like.leaves, None] * self.known
        total = mass.sum(axis=0)
        everyone = (mass * self.shares).sum(axis=0) / np.where(total > 0, total, 1)
        return shrunk(own, strength, everyone)


def tie_shares(
    trees: Trees,
    bins: NDArray[np.uint8],
    seeds: NDArray[np.uint64] | None,
    ranks: Values,
    weight: Values,
) -> TieShares | None:
    """Return how often pairs are tied in the training rows of every leaf.

    Parameters
    ----------
    trees : Trees
        As grown.
    bins, ranks, weight : ndarray
        The training rows.
    seeds : ndarray or None
        What the bootstrap samples were drawn from; None if the trees have seen all rows.

    Returns
    -------
    TieShares or None
        None if there were too many shares to keep.
    """
    pairs = all_pairs(ranks.shape[1])
    if len(trees.leaves) * len(pairs.first) > _MOST_SHARES:
        return None
    outcomes = pair_outcomes(ranks, pairs)
    facts = np.where(np.isnan(outcomes), -1, outcomes == 0.5).astype(np.int8)
    return TieShares(*trees.walker.leaf_shares(bins, seeds, weight, facts))
