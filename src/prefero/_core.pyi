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
