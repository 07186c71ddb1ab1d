"""Format 1, of the first release: a zip archive as skops wrote it, read without skops.

``schema.json`` is a tree of nodes; each names a type and a loader, and an array its ``.npy``. The
archive is not compressed but for sparse matrices, whose members are.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from prefero.exceptions import ModelFileError
from prefero.persistence._arrays import checked_dtype, checked_shape, dense, sparse
from prefero.persistence._models import restored
from prefero.persistence.trusted import trusted_type

_MEMBER = re.compile(r"schema\.json|[0-9]+\.np[yz]")
# Compressed arrays occur only inside sparse matrices; honest ones shrink far less than this.
_MOST_INFLATION = 200
_INFLATION_ALLOWED = 1 << 24
_NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

Node = dict[str, Any]


def read(payload: memoryview) -> Any:
    """Return the model of a payload, every part of it checked before it is built."""
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        _check_members(archive, len(payload))
        return _Reader(archive).value(json.loads(archive.read("schema.json")))


def _check_members(archive: zipfile.ZipFile, size: int) -> None:
    members = archive.infolist()
    plain = all(
        member.compress_type == zipfile.ZIP_STORED
        and member.file_size == member.compress_size
        and _MEMBER.fullmatch(member.filename)
        for member in members
    )
    names = {member.filename for member in members}
    if not plain or len(names) < len(members) or sum(m.file_size for m in members) > size:
        raise ModelFileError("the model in this file is packed in a way that Prefero never does.")


def _npy(content: bytes) -> Any:
    file = io.BytesIO(content)
    read_header = _NPY_HEADERS.get(np.lib.format.read_magic(file))
    if read_header is None:
        raise ModelFileError("the file holds an array in a version of NumPy's format unknown here.")
    shape, fortran, dtype = read_header(file)
    lengths = checked_shape(shape, len(content))
    rest = memoryview(content)[file.tell() :]
    return dense(rest, checked_dtype(dtype.str), lengths, "F" if fortran else "C")


def _npz(content: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if sum(m.file_size for m in members) > _MOST_INFLATION * len(content) + _INFLATION_ALLOWED:
            raise ModelFileError("the file holds a sparse matrix that inflates beyond measure.")
        # The format's name is the one text in it, and the type tells the same.
        arrays = [m for m in members if m.filename != "format.npy"]
        return {m.filename.removesuffix(".npy"): _npy(archive.read(m)) for m in arrays}


class _Reader:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._files: dict[str, Any] = {}

    def value(self, node: Any) -> Any:
        loader = node.get("__loader__") if isinstance(node, dict) else None
        if loader not in _LOADERS:
            raise ModelFileError(f"the model in this file has a part of kind {loader!r:.40}.")
        return _LOADERS[loader](self, node)

    def file(self, node: Node, parse: Callable[[bytes], Any]) -> Any:
        """What a file of the archive holds; each is read once."""
        name = node["file"]
        if name not in self._files:
            self._files[name] = parse(self._archive.read(name))
        return self._files[name]

    def dict(self, node: Node) -> Any:
        content, kinds = node["content"], self.list(node["key_types"])
        if len(kinds) != len(content) or not all(kind in _KEYS for kind in kinds):
            raise ModelFileError("the model in this file has a dict with odd keys.")
        return {
            _KEYS[kind](key): self.value(part)
            for kind, (key, part) in zip(kinds, content.items(), strict=True)
        }

    def list(self, node: Node) -> Any:
        return [self.value(part) for part in node["content"]]

    def array(self, node: Node) -> Any:
        if node["type"] == "numpy":
            array = self.file(node, _npy)
            return array if node["__class__"] == "ndarray" else array[()]
        items = self.list(node)
        shape = checked_shape(self.value(node["shape"]), len(items))
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)

    def object(self, node: Node) -> Any:
        state = self.value(node["content"])
        if node["__class__"] == "_RemainderColsList":  # a list of columns, in scikit-learn 1.6
            return state["data"]
        upgrade = _UPGRADES.get(node["__class__"], lambda state: state)
        return restored(node["__module__"], node["__class__"], upgrade(state), old=True)

    def sparse(self, node: Node) -> Any:
        parts = self.file(node, _npz)
        lengths = checked_shape(parts["shape"].tolist(), 2**31)
        order = ("data", "indices", "indptr")
        return sparse(node["__class__"], lengths, [parts[part] for part in order])

    def type(self, node: Node) -> Any:
        found = trusted_type(node["__module__"], node["__class__"])
        if found is None:
            raise ModelFileError(f"the file names a type, {node['__class__']!r:.60}, that is odd.")
        return found


# What estimators held then, as they hold it now


def _grown(state: Node) -> Node:
    arrays = state["trees_"]
    return {**state, "trees_": {**arrays, "weight": arrays["weight"].astype(np.float64)}}


def _tree(state: Node) -> Node:
    return {**_grown(state), "shrinkage": 0.0, "shrinkage_": 0.0}


def _forest(state: Node) -> Node:
    # Nothing is shrunk, so that nobody asks for what it would be shrunk to.
    return {**_tree(state), "mean_votes_": np.zeros(len(state["labels_"]))}


def _boosting(state: Node) -> Node:
    kept = {name: value for name, value in state.items() if name != "feature_importances_"}
    nominal = np.zeros(len(state["bin_starts_"]) - 1, dtype=bool)
    return {**_grown(kept), "nominal_features_": nominal}


def _neighbors(state: Node) -> Node:
    new = {"shrinkage": 0.0, "shrinkage_": 0.0, "aggregation_": state["aggregation"]}
    return {"leave_one_out_": {}, **state, **new}


_UPGRADES: dict[str, Callable[[Node], Node]] = {
    "BoostingOrderer": _boosting,
    "ForestLabelRanker": _forest,
    "NeighborsLabelRanker": _neighbors,
    "TreeLabelRanker": _tree,
}

# Keys are texts in JSON; the types tell what they were.
_KEYS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    np.str_: str,
    np.int64: int,
    np.float64: float,
}
_LOADERS: dict[str, Callable[[_Reader, Node], Any]] = {
    "DictNode": _Reader.dict,
    "DTypeNode": lambda reader, node: reader.value(node["content"]).dtype,
    "JsonNode": lambda _, node: json.loads(node["content"]),
    "ListNode": _Reader.list,
    "NdArrayNode": _Reader.array,
    "ObjectNode": _Reader.object,
    # Where a generator stands is nothing that a model has learned.
    "RandomStateNode": lambda reader, node: None,
    "SetNode": lambda reader, node: set(reader.list(node)),
    "SliceNode": lambda _, node: slice(*node["content"].values()),
    "SparseMatrixNode": _Reader.sparse,
    "TupleNode": lambda reader, node: tuple(reader.list(node)),
    "TypeNode": _Reader.type,
}
