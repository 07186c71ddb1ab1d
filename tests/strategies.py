"""Hypothesis strategies shared by the tests."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


@st.composite
def rank_matrices(draw, rows=(1, 5), labels=(1, 7), ties=True, missing=True):
    """Random rank matrices, with ties and missing labels unless told otherwise."""
    n, c = draw(st.integers(*rows)), draw(st.integers(*labels))
    if ties:
        ranks = draw(arrays(np.float64, (n, c), elements=st.integers(1, c).map(float)))
    else:
        ranks = np.array([draw(st.permutations(range(1, c + 1))) for _ in range(n)], float)
    if missing:
        ranks[draw(arrays(np.bool_, (n, c)))] = np.nan
    return ranks
