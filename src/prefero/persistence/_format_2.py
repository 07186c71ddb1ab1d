"""Format 2: a model as JSON, and its arrays behind it.

8 bytes   length of the JSON, little-endian
...       JSON: {"arrays": [[dtype, order, shape], ...], "model": value}
...       the arrays, one after the other, each filled up to 16 bytes

A value is what JSON knows: null, truth, number, text, list; or an object of one entry whose name
says what it is, as ``_READ`` lists them.
"""

import json
import math
import struct
from collections import UserList
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from prefero.exceptions import ModelFileError
from prefero.persistence._arrays import checked_dtype, checked_shape, dense, sparse
from prefero.persistence._container import ALIGNMENT, padded
from prefero.persistence._models import restored, state_of
from prefero.persistence.trusted import trusted_name, trusted_type

_LENGTH = struct.Struct("<Q")
_RANDOM = np.random.RandomState | np.random.Generator


class Writer:
    """Values as JSON can write them, and the arrays met on the way."""

    def __init__(self) -> None:
        self._arrays: list[Any] = []
        # By identity; the arrays are kept, so that no other gets the same.
        self._numbers: dict[int, tuple[int, Any]] = {}

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
            checked_dtype(array.dtype.newbyteorder("<").str)
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
        state = {key: self.value(part) for key, part in state_of(value).items()}
        return {"estimator": [*name, state]}


def _order(array: Any) -> Any:
    return "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "C"


def read(payload: memoryview) -> Any:
    """Return the model of a payload, every part of it checked before it is built."""
    if len(payload) < _LENGTH.size:
        raise ModelFileError("the file ends before its model.")
    end = _LENGTH.size + _LENGTH.unpack_from(payload)[0]
    schema = json.loads(bytes(payload[_LENGTH.size : end]))
    if not isinstance(schema, dict) or schema.keys() != {"arrays", "model"}:
        raise ModelFileError("the file holds no model.")
    return _Reader(_arrays(schema["arrays"], payload[end:])).value(schema["model"])


def _arrays(about: Any, content: memoryview) -> list[Any]:
    arrays, at = [], 0
    for name, order, lengths in about:
        dtype, shape = checked_dtype(name), checked_shape(lengths, len(content))
        size = dtype.itemsize * math.prod(shape)
        arrays.append(dense(content[at : at + size], dtype, shape, order))
        at += size + -size % ALIGNMENT
    if at != len(content):
        raise ModelFileError("the file holds arrays of another length than it claims.")
    return arrays


class _Reader:
    def __init__(self, arrays: list[Any]) -> None:
        self._arrays = arrays

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
        shape = checked_shape(lengths, len(items))
        array = np.empty(len(items), dtype=object)
        for index, item in enumerate(items):
            array[index] = self.value(item)
        return array.reshape(shape)

    def estimator(self, content: Any) -> Any:
        module, name, state = content
        return restored(module, name, {key: self.value(part) for key, part in state.items()})

    def type(self, content: Any) -> Any:
        found = trusted_type(*content)
        if found is None:
            raise ModelFileError(f"the file names a type, {content!r:.60}, that no model holds.")
        return found

    def sparse(self, content: Any) -> Any:
        kind, lengths, parts = content
        return sparse(kind, lengths, [self.array(part) for part in parts])


_READ: dict[str, Callable[[_Reader, Any], Any]] = {
    "array": _Reader.array,
    "dict": lambda reader, items: {reader.value(key): reader.value(item) for key, item in items},
    "dtype": lambda _, name: np.dtype(object) if name == "O" else checked_dtype(name),
    "estimator": _Reader.estimator,
    "objects": _Reader.objects,
    "scalar": _Reader.scalar,
    "set": lambda reader, items: {reader.value(item) for item in items},
    "slice": lambda reader, parts: slice(*(reader.value(part) for part in parts)),
    "sparse": _Reader.sparse,
    "tuple": lambda reader, items: tuple(reader.value(item) for item in items),
    "type": _Reader.type,
}
