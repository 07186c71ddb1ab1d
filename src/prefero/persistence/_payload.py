"""The payload of a model file: a model as JSON, and its arrays behind it.

8 bytes   length of the JSON, little-endian
...       JSON: {"arrays": [[dtype, order, shape], ...], "model": value}
...       the arrays, one after the other, each filled up to 16 bytes

A value is what JSON knows: null, truth, number, text, list; or an object of one entry whose name
says what it is, as ``_READ`` lists them.
"""

import json
import math
import re
import struct
from collections import UserList
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from prefero.exceptions import ModelFileError
from prefero.persistence._container import ALIGNMENT, padded
from prefero.persistence._models import restored, state_of
from prefero.persistence.trusted import trusted_name, trusted_type

_LENGTH = struct.Struct("<Q")
_RANDOM = np.random.RandomState | np.random.Generator
_DTYPE = re.compile(r"\|b1|[|<][iu][1248]|<f[248]|<U[0-9]{1,7}")
_LONGEST, _LONG_NUMBER = 20, re.compile(r"\d{19}")
# Models inside models: a pipeline in a stack in a pipeline is three.
_DEEPEST = 8
# What a file may declare without an array of that length, beside its bytes.
_MOST_WITHOUT_BYTES = 100_000
_SIZES = {"n_features_in_", "n_output_features_", "_n_out_full", "_n_features"}
_SPARSE = {
    f"{kind}_{form}": getattr(scipy.sparse, f"{kind}_{form}")
    for kind in ("csc", "csr")
    for form in ("array", "matrix")
}


class Writer:
    """Values as JSON can write them, and the arrays met on the way."""

    def __init__(self) -> None:
        self._arrays: list[Any] = []
        # By identity; the arrays are kept, so that no other gets the same.
        self._numbers: dict[int, tuple[int, Any]] = {}
        self._depth = 0

    def payload(self, model: Any) -> list[Any]:
        """Return the payload of a model in parts."""
        value = self.value(model)
        about = [[a.dtype.str, _order(a), list(a.shape)] for a in self._arrays]
        text = padded(json.dumps({"arrays": about, "model": value}).encode(), _LENGTH.size)
        parts: list[Any] = [_LENGTH.pack(len(text)), text]
        for array in self._arrays:
            lines = array.T if _order(array) == "F" else np.ascontiguousarray(array)
            content = lines.reshape(-1).view(np.uint8)
            parts += [content, bytes(-len(content) % ALIGNMENT)]
        return parts

    def value(self, value: Any) -> Any:
        """Return a value as JSON can write it."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, _RANDOM):
            return None  # where a generator stands is nothing that a model has learned
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        if isinstance(value, np.ndarray):
            return self._any_array(value)
        if isinstance(value, list | UserList):
            return [self.value(item) for item in value]
        return self._other(value)

    def _any_array(self, array: Any) -> Any:
        if array.dtype != object:
            return {"array": self._array(array)}
        return {"objects": [list(array.shape), [self.value(item) for item in array.ravel()]]}

    def _array(self, array: Any) -> int:
        if id(array) not in self._numbers:
            _checked_dtype(array.dtype.newbyteorder("<").str)
            self._numbers[id(array)] = len(self._arrays), array
            self._arrays.append(array.astype(array.dtype.newbyteorder("<"), copy=False))
        return self._numbers[id(array)][0]

    def _other(self, value: Any) -> Any:
        if type(value) in (tuple, set):
            return {type(value).__name__: [self.value(item) for item in value]}
        if type(value) is dict:
            return {"dict": [[self.value(key), self.value(value[key])] for key in value]}
        if type(value) is slice:
            return {"slice": [self.value(part) for part in (value.start, value.stop, value.step)]}
        if isinstance(value, np.dtype):
            return {"dtype": "O" if value.hasobject else value.newbyteorder("<").str}
        if scipy.sparse.issparse(value) and value.format in ("csr", "csc"):
            parts = [self._array(part) for part in (value.data, value.indices, value.indptr)]
            return {"sparse": [type(value).__name__, list(value.shape), parts]}
        name = trusted_name(value if isinstance(value, type) else type(value))
        if name is None:
            raise TypeError(f"it holds a {type(value).__name__}, which no file may hold")
        if isinstance(value, type):
            return {"type": list(name)}
        self._depth += 1
        if self._depth > _DEEPEST:
            raise TypeError(f"it holds models nested more than {_DEEPEST} deep")
        state = {key: self.value(part) for key, part in state_of(value).items()}
        self._depth -= 1
        return {"estimator": [*name, state]}


def _order(array: Any) -> Any:
    return "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "C"


def read(payload: memoryview) -> Any:
    """Return the model of a payload, every part of it checked before it is built."""
    if len(payload) < _LENGTH.size:
        raise ModelFileError("the file ends before its model.")
    end = _LENGTH.size + _LENGTH.unpack_from(payload)[0]
    # Of bytes json would guess the encoding, and import its codec.
    text = str(payload[_LENGTH.size : end], "utf-8", "surrogatepass")
    # A function for every number would take longer than all else.
    schema = json.loads(text, parse_int=_whole if _LONG_NUMBER.search(text) else None)
    if not isinstance(schema, dict) or schema.keys() != {"arrays", "model"}:
        raise ModelFileError("the file holds no model.")
    arrays = _arrays(schema["arrays"], payload[end:])
    return _Reader(arrays, _MOST_WITHOUT_BYTES + len(payload)).value(schema["model"])


def _whole(digits: str) -> int:
    """Return a whole number of 64 bits: of longer ones many can have one hash."""
    if len(digits) > _LONGEST or not -(2**63) <= int(digits) < 2**64:
        raise ModelFileError(f"the file holds the number {digits:.20}..., beyond 64 bits.")
    return int(digits)


def _arrays(about: Any, content: memoryview) -> list[Any]:
    arrays, at = [], 0
    for name, order, lengths in about:
        dtype, shape = _checked_dtype(name), _checked_shape(lengths, len(content))
        size = dtype.itemsize * math.prod(shape)
        arrays.append(_dense(content[at : at + size], dtype, shape, order))
        at += size + -size % ALIGNMENT
    if at != len(content):
        raise ModelFileError("the file holds arrays of another length than it claims.")
    return arrays


def _checked_dtype(name: Any) -> np.dtype[Any]:
    """Return the dtype of a name: whole, real, truth or text, little-endian."""
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ModelFileError(f"the file holds an array of dtype {name!r:.40}.")
    return np.dtype(name)


def _checked_shape(shape: Any, room: int) -> tuple[int, ...]:
    """Return a shape of whole numbers, none of which exceeds the bytes there are."""
    if not isinstance(shape, list | tuple) or len(shape) > 8:
        raise ModelFileError("the file holds an array without a shape.")
    if not all(type(length) is int and 0 <= length <= room for length in shape):
        raise ModelFileError("the file holds an array that is not as long as it claims.")
    return tuple(shape)


def _dense(content: memoryview, dtype: np.dtype[Any], shape: tuple[int, ...], order: str) -> Any:
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


def _sparse(kind: Any, shape: Any, parts: Sequence[Any]) -> Any:
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


class _Reader:
    def __init__(self, arrays: list[Any], most: int) -> None:
        self._arrays, self._most = arrays, most
        self._depth = 0

    def value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        [(kind, content)] = value.items()
        if kind not in _READ:
            raise ModelFileError(f"the file holds a {kind!r:.40}, which no model holds.")
        return _READ[kind](self, content)

    def array(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ModelFileError("the file names an array that it does not hold.")
        return self._arrays[number]

    def scalar(self, number: Any) -> Any:
        if self.array(number).shape:
            raise ModelFileError("the file holds an array in the place of a number.")
        return self.array(number)[()]

    def objects(self, content: Any) -> Any:
        lengths, items = content
        shape = _checked_shape(lengths, len(items))
        array = np.empty(len(items), dtype=object)
        for index, item in enumerate(items):
            array[index] = self.value(item)
        return array.reshape(shape)

    def estimator(self, content: Any) -> Any:
        module, name, state = content
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ModelFileError(f"the file holds models nested more than {_DEEPEST} deep.")
        state = {key: self.value(part) for key, part in state.items()}
        for key in _SIZES & state.keys():
            if isinstance(state[key], int) and state[key] > self._most:
                raise ModelFileError(f"{name} has {key} = {state[key]}, far more than the file.")
        self._depth -= 1
        return restored(module, name, state)

    def type(self, content: Any) -> Any:
        found = trusted_type(*content)
        if found is None:
            raise ModelFileError(f"the file names a type, {content!r:.60}, that no model holds.")
        return found

    def sparse(self, content: Any) -> Any:
        kind, lengths, parts = content
        return _sparse(kind, lengths, [self.array(part) for part in parts])


_READ: dict[str, Callable[[_Reader, Any], Any]] = {
    "array": _Reader.array,
    "dict": lambda reader, items: {reader.value(key): reader.value(item) for key, item in items},
    "dtype": lambda _, name: np.dtype(object) if name == "O" else _checked_dtype(name),
    "estimator": _Reader.estimator,
    "objects": _Reader.objects,
    "scalar": _Reader.scalar,
    "set": lambda reader, items: {reader.value(item) for item in items},
    "slice": lambda reader, parts: slice(*(reader.value(part) for part in parts)),
    "sparse": _Reader.sparse,
    "tuple": lambda reader, items: tuple(reader.value(item) for item in items),
    "type": _Reader.type,
}
