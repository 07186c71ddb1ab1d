"""Arrays out of bytes that anyone may have written."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from prefero.exceptions import ModelFileError

_DTYPE = re.compile(r"\|b1|[|<][iu][1248]|<f[248]|<U[0-9]{1,7}")
_SPARSE = {
    f"{kind}_{form}": getattr(scipy.sparse, f"{kind}_{form}")
    for kind in ("csc", "csr")
    for form in ("array", "matrix")
}


def checked_dtype(name: Any) -> np.dtype[Any]:
    """Return the dtype of a name: whole, real, truth or text, little-endian."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ModelFileError(f"the file holds an array of dtype {name!r:.40}.")
    return np.dtype(name)


def checked_shape(shape: Any, room: int) -> tuple[int, ...]:
    """Return a shape of whole numbers, none of which exceeds the bytes there are."""
    if not isinstance(shape, list | tuple) or len(shape) > 8:
        raise ModelFileError("the file holds an array without a shape.")
    if not all(type(length) is int and 0 <= length <= room for length in shape):
        raise ModelFileError("the file holds an array that is not as long as it claims.")
    return tuple(shape)


def dense(content: memoryview, dtype: np.dtype[Any], shape: tuple[int, ...], order: str) -> Any:
    """Return an array in the memory of its content; its elements are legal values."""
    if math.prod(shape) * dtype.itemsize != len(content):
        raise ModelFileError("the file holds an array that is not as long as it claims.")
    letters: Any = "F" if order == "F" else "C"
    if not dtype.itemsize:
        return np.zeros(shape, dtype)
    array = np.frombuffer(content, dtype).reshape(shape, order=letters)
    if not (array.flags.aligned and array.flags.writeable):
        array = array.copy(order=letters)
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ModelFileError("the file holds an array of truth values that are neither 0 nor 1.")
    if dtype.kind == "U":
        points = np.frombuffer(content, "<u4")
        if (points > 0x10FFFF).any() or ((points >= 0xD800) & (points < 0xE000)).any():
            raise ModelFileError("the file holds a text with letters that do not exist.")
    return array


def sparse(kind: Any, shape: Any, parts: Sequence[Any]) -> Any:
    """Return a sparse matrix; SciPy's kernels follow its indices blindly, so they are checked."""
    if kind not in _SPARSE:
        raise ModelFileError(f"the file holds a sparse matrix of kind {kind!r:.40}.")
    values, indices, starts = parts
    plain = all(type(part) is np.ndarray and part.ndim == 1 for part in parts)
    if not plain or [part.dtype.kind for part in parts] not in (["f", "i", "i"], ["i", "i", "i"]):
        raise ModelFileError("the file holds a sparse matrix of odd parts.")
    rows, columns = shape if kind.startswith("csr") else shape[::-1]
    fits = len(starts) == rows + 1 and starts[0] == 0 and starts[-1] == len(indices) == len(values)
    if not fits or (np.diff(starts) < 0).any():
        raise ModelFileError("the file holds a sparse matrix whose parts contradict each other.")
    if len(indices) and (indices.min() < 0 or indices.max() >= columns):
        raise ModelFileError("the file holds a sparse matrix with an index outside of it.")
    return _SPARSE[kind]((values, indices, starts), shape=tuple(shape))
