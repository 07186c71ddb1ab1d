"""The bytes of a model file: preamble, header, payload, a checksum over them all, a signature.

8 bytes   magic
2 bytes   format number, little-endian
4 bytes   length of the header, little-endian
32 bytes  SHA-256 of everything before and after it, but for the signature
32 bytes  HMAC-SHA256 of what stands before, or zeros
...       header: JSON
...       payload: see `_payload`
"""

import hashlib
import hmac
import json
import os
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import sklearn

import prefero
from prefero._files import open_regular, replacing
from prefero._pipelines import final_step
from prefero.exceptions import ModelFileError

MAGIC = b"\x93PREFERO"
FORMAT = 1
# Arrays start at multiples of this, as far as the payload goes.
ALIGNMENT = 16
_SHORTEST_KEY = 16
_PREAMBLE = struct.Struct("<8sHI")
_DIGEST = 32

_PLAIN = str | int | float | None
# What a header says, and what kind of value that must be.
_FIELDS: dict[str, Any] = {
    "prefero": str,
    "scikit-learn": str,
    "model": str,
    "parameters": dict,
    "labels": list | None,
    "features": list | None,
    "n_features": int | None,
}


class Container(NamedTuple):
    """What a model file holds, its checksum being right; the payload may be changed in place."""

    header: dict[str, Any]
    payload: memoryview


def write_container(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    payload: Sequence[Any],
    *,
    key: bytes | None = None,
) -> None:
    """Write a model file; the payload comes in parts, so that none is copied."""
    head = padded(json.dumps(header, allow_nan=True).encode())
    start = _PREAMBLE.pack(MAGIC, FORMAT, len(head))
    checksum = _checksum(start, head, *payload)
    with replacing(path) as file:
        for part in (start, checksum, _signature(start, checksum, key), head, *payload):
            file.write(part)


def padded(content: bytes, before: int = 0) -> bytes:
    """Return JSON with blanks behind it, so that what follows can be read where it lies."""
    return content + b" " * (-(len(content) + before) % ALIGNMENT)


def read_container(path: str | os.PathLike[str], *, key: bytes | None = None) -> Container:
    """Return what is in a model file whose checksum is right, and signature if a key is given."""
    with open_regular(path) as file:
        start = file.read(_PREAMBLE.size)
        # Told by its first bytes, so that a device or a film is not read to its end.
        if not start.startswith(MAGIC):
            raise ModelFileError(f"{path} is not a model file of Prefero.")
        content = _rest(file)
    if len(start) < _PREAMBLE.size:
        raise ModelFileError(f"{path} is cut short: copy it again.")
    _, number, length = _PREAMBLE.unpack(start)
    if number != FORMAT:
        raise ModelFileError(
            f"{path} has format {number}, but this version of Prefero reads format {FORMAT}: "
            "upgrade Prefero, or save the model again."
        )
    at = 2 * _DIGEST
    checksum, signature = bytes(content[:_DIGEST]), bytes(content[_DIGEST:at])
    head, payload = bytes(content[at : at + length]), content[at + length :]
    if _checksum(start, head, payload) != checksum:
        raise ModelFileError(f"{path} is damaged or cut short (its checksum is wrong).")
    if key is not None:
        _check_signature(path, signature, _signature(start, checksum, key))
    about = {"format": number, "sha256": checksum.hex(), "signed": any(signature)}
    return Container({**about, **_parse(path, head)}, payload)


def _rest(file: BinaryIO) -> memoryview:
    """The rest of a file, in memory that arrays can lie in."""
    size = max(0, os.fstat(file.fileno()).st_size - file.tell()) if file.seekable() else 0
    content: Any = np.empty(size, dtype=np.uint8)
    file.readinto(content)  # type: ignore[attr-defined]
    more = file.read()
    return memoryview(bytearray(content.tobytes() + more) if more else content)


def _checksum(*parts: Any) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def _signature(start: bytes, checksum: bytes, key: bytes | None) -> bytes:
    if key is None:
        return bytes(_DIGEST)
    if not isinstance(key, bytes) or len(key) < _SHORTEST_KEY:
        raise ValueError(
            f"key must be at least {_SHORTEST_KEY} bytes that nobody can guess, such as "
            "secrets.token_bytes(32)."
        )
    return hmac.digest(key, start + checksum, "sha256")


def _check_signature(path: str | os.PathLike[str], found: bytes, expected: bytes) -> None:
    if not any(found):
        raise ModelFileError(f"{path} is not signed, but a key was given: sign it by save.")
    if not hmac.compare_digest(found, expected):
        raise ModelFileError(f"{path} was signed with another key, or changed since.")


def _parse(path: str | os.PathLike[str], head: bytes) -> dict[str, Any]:
    """Return the fields of a header; whatever else it holds is left out."""
    try:
        header = json.loads(head)
        fields = {name: header[name] for name in _FIELDS}
    except (ValueError, KeyError, TypeError, RecursionError):
        fields = {}
    right = all(isinstance(fields.get(name, ...), kind) for name, kind in _FIELDS.items())
    if not right or not all(map(_is_plain, fields.values())):
        raise ModelFileError(f"{path} has a header that says nothing about a model.")
    return fields


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return all(isinstance(item, _PLAIN) for item in (value if isinstance(value, list) else [value]))


def describe(model: Any) -> dict[str, Any]:
    """Return the header of a model as values that JSON can write."""
    parameters = final_step(model).get_params(deep=False)
    about = _about(model)
    return {
        "prefero": prefero.__version__,
        "scikit-learn": sklearn.__version__,
        "model": about.pop("model"),
        "parameters": {name: _plain(value) for name, value in sorted(parameters.items())},
        **about,
    }


def describes(header: dict[str, Any], model: Any) -> bool:
    """Tell whether a header is about this model; versions and parameters may be worded anew."""
    return all(
        json.dumps(header.get(name)) == json.dumps(value) for name, value in _about(model).items()
    )


def _about(model: Any) -> dict[str, Any]:
    """What a header has to say of this model, whoever writes it."""
    ranker = final_step(model)
    return {
        "model": type(ranker).__name__,
        "labels": _names(getattr(ranker, "labels_", None)),
        "features": _names(getattr(model, "feature_names_in_", None)),
        "n_features": _plain(getattr(model, "n_features_in_", None)),
    }


def _names(values: Any) -> list[Any] | None:
    return None if values is None else [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    return value if isinstance(value, str | int | float | bool | None) else str(value)
