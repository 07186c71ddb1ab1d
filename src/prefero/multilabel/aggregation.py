"""One calibrated ranking for many: mean generalized ranks around a virtual label of any width."""

import numpy as np
from numpy.typing import ArrayLike

from prefero import _core
from prefero._sklearn import check_sample_weight
from prefero._typing import ArrayOrNone, Values
from prefero.rankings import check_calibrated, virtual_label_offsets


def mean_calibrated_ranks(
    C: ArrayLike, gap_amplification: float = 1, sample_weight: ArrayOrNone = None
) -> Values:
    """Return the mean generalized rank of each label and of the virtual label.

    To order labels and virtual label by it minimises the sum of squared rank differences to the
    given rankings (Theorem 1). Where none of them has ties, that maximises the mean Spearman
    correlation; where some have, ``calibrated_rho`` weighs these differently, and another order
    may have a slightly larger mean.

    Parameters
    ----------
    C : array-like of shape (n_rankings, n_labels + 1)
        Calibrated ranks.
    gap_amplification : float, default=1
        The number of virtual labels that share the virtual label. The larger, the dearer it is
        to put a label on the wrong side of it, against to put two labels in the wrong order.
    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rankings.

    Returns
    -------
    ndarray of shape (n_labels + 1,)
        Mean ranks, the virtual label last. A label's mean is its mean distance from the zero
        point, over the rankings that know it, added to the virtual label's mean; NaN if none does.

    References
    ----------
    Brinker & Hüllermeier (2007), section 5.

    Examples
    --------
    >>> from prefero.rankings import calibrated_from_relevance
    >>> C = calibrated_from_relevance([[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]])
    >>> for gap_amplification in (1, 2, 3):
    ...     print(mean_calibrated_ranks(C, gap_amplification).round(2)[[5, 0]])
    [2.   2.17]
    [2.5 2.5]
    [3.   2.83]
    """
    if not gap_amplification >= 0:
        raise ValueError(f"gap_amplification must not be negative, got {gap_amplification!r}.")
    calibrated = check_calibrated(C)
    weight = check_sample_weight(sample_weight, calibrated, ensure_non_negative=True)
    offsets, places = virtual_label_offsets(calibrated)
    rows = np.arange(len(offsets))
    offset, side = _core.mean_offsets(offsets, np.array([0, len(rows)]), rows, weight)
    zero = np.average(places, weights=weight) + (gap_amplification + 1) / 2
    return np.append(zero + offset[0] + gap_amplification / 2 * side[0], zero)
