"""Compiled kernels of Prefero on plain arrays."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def count_pairs(first: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C')]:
    """
    Concordant, discordant, tied in first, in second, in both: five counts a row.
    """

def bucket_positions(ranks: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], smallest: bool) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """Mean or smallest bucket positions of each row; NaN stays NaN."""

def strict_ranks(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C')]:
    """Ranks 1..c by descending score; equal scores by label index."""

def pair_signs(ranks: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C')]:
    """
    +1, -1 or 0 for the label pairs (0,1), (0,2), ..., (c-2,c-1) of each row.
    """

def borda_votes(ranks: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """Generalized Borda votes of each row."""

def borda_batch(ranks: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """Mean generalized Borda votes of each weighted set of rows."""

def pair_sums(ranks: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """Weight of the rows that put label i strictly before label j."""

def extend(ranks: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], centers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]:
    """
    Mean positions in the extension of each row nearest to a center of votes.
    """

def fit_mallows_batch(ranks: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_rounds: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]:
    """Mean votes of the center, and theta, of each weighted set of rows."""

def mallows_log_normalizer(theta: float, labels: int) -> float:
    """The logarithm of the normalising constant."""

def mallows_moments(theta: float, labels: int) -> tuple[float, float]:
    """Mean and variance of the distance to the center."""

def mallows_theta(mean_distance: float, labels: int) -> float:
    """The most likely theta given a mean distance to the center."""
