"""What skops wrote, examined before and after anything is built from it."""

import io
import json
import math
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from prefero.exceptions import ModelFileError
from prefero.persistence.trusted import is_trusted

_MEMBER = re.compile(r"schema\.json|[0-9]+\.np[yz]")
# Compressed arrays occur only inside sparse matrices; honest ones shrink far less than this.
_MOST_INFLATION = 200
_INFLATION_ALLOWED_ANYWAY = 1 << 24
_NPY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

State = dict[str, Any]


def check_payload(payload: bytes) -> list[str]:
    """Return the full names of the types in a payload, all of them trusted, or refuse it.

    Nothing is imported, built or inflated beyond the size of the file.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            sizes = _check_members(archive, len(payload))
            schema = json.loads(archive.read("schema.json"))
            states = list(_states(schema))
            types = {_check_type(state) for state in states}
            for name in {_check_file(state, sizes) for state in states if "file" in state}:
                _check_array_file(name, archive.read(name))
    except (zipfile.BadZipFile, ValueError, KeyError, RecursionError, NotImplementedError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"the model in this file is malformed ({error}).") from error
    return sorted(types)


def _check_members(archive: zipfile.ZipFile, size: int) -> dict[str, int]:
    """Return the sizes of an archive's members, none of them compressed."""
    members = archive.infolist()
    sizes = {member.filename: member.file_size for member in members}
    plain = all(
        member.compress_type == zipfile.ZIP_STORED
        and member.file_size == member.compress_size
        and _MEMBER.fullmatch(member.filename)
        for member in members
    )
    if not plain or len(sizes) < len(members) or sum(sizes.values()) > size:
        raise ModelFileError("the model in this file is packed in a way that Prefero never does.")
    return sizes


def _states(schema: Any) -> Iterator[State]:
    """Yield everything in a schema that skops could take for the state of an object."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(value.values())
            if "__loader__" in value:
                yield value
        elif isinstance(value, list):
            stack.extend(value)


def _check_type(state: State) -> str:
    loader, module, name = (state.get(key) for key in ("__loader__", "__module__", "__class__"))
    if not all(isinstance(part, str) for part in (loader, module, name)):
        raise ModelFileError("the model in this file has a part without a type.")
    if not is_trusted(str(loader), str(module), str(name)):
        raise ModelFileError(
            f"{module}.{name} ({loader}) is not on the list of types that are safe to load."
        )
    return f"{module}.{name}"


def _check_file(state: State, sizes: dict[str, int]) -> str:
    """Insist that a file in the archive belongs to one object, which skops reads once."""
    name, owner = state["file"], state.get("__id__")
    if name not in sizes or str(name).partition(".")[0] != str(owner):
        raise ModelFileError(f"the array {name!r} in this file does not belong to its object.")
    return str(name)


def _check_array_file(name: str, content: bytes) -> None:
    if name.endswith(".npy"):
        _check_npy(io.BytesIO(content), len(content))
        return
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        inflated = sum(member.file_size for member in members)
        if inflated > _MOST_INFLATION * len(content) + _INFLATION_ALLOWED_ANYWAY:
            raise ModelFileError("the file holds a sparse matrix that inflates beyond measure.")
        for member in members:
            with archive.open(member) as file:
                _check_npy(io.BytesIO(file.read()), member.file_size)


def _check_npy(file: io.BytesIO, size: int) -> None:
    """Refuse an array that claims more elements than there are, which NumPy would allocate."""
    read_header = _NPY_HEADERS.get(np.lib.format.read_magic(file))
    if read_header is None:
        raise ModelFileError("the file holds an array in a version of NumPy's format unknown here.")
    shape, _, dtype = read_header(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ModelFileError("the file holds an array that is not as long as it claims.")


def check_arrays(model: Any) -> None:
    """Check the indices of every sparse matrix in a model: SciPy's kernels follow them blindly."""
    stack, seen = [model], set()
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if scipy.sparse.issparse(value):
            if value.format not in ("csr", "csc"):
                raise ModelFileError(f"the file holds a sparse matrix of format {value.format!r}.")
            value.check_format(full_check=True)
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list | tuple | set):
            stack.extend(value)
        elif hasattr(value, "__dict__"):
            stack.extend(vars(value).values())
