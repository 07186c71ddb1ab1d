"""The bytes of a model file: preamble, header, payload, and a checksum over them all.

8 bytes   magic
2 bytes   format number, little-endian
4 bytes   length of the header, little-endian
32 bytes  SHA-256 of everything else in the file
...       header: JSON
...       payload: what skops wrote
"""

import hashlib
import json
import os
import struct
from typing import Any

from prefero._files import write_beside
from prefero.exceptions import ModelFileError

MAGIC = b"\x93PREFERO"
FORMAT = 1
_PREAMBLE = struct.Struct("<8sHI32s")


def _checksum(header_length: int, header: bytes, payload: bytes) -> bytes:
    digest = hashlib.sha256(struct.pack("<8sHI", MAGIC, FORMAT, header_length))
    digest.update(header)
    digest.update(payload)
    return digest.digest()


def write_container(path: str | os.PathLike[str], header: dict[str, Any], payload: bytes) -> None:
    """Write a model file."""
    head = json.dumps(header, allow_nan=True).encode()
    checksum = _checksum(len(head), head, payload)
    write_beside(path, _PREAMBLE.pack(MAGIC, FORMAT, len(head), checksum) + head + payload)


def read_container(path: str | os.PathLike[str]) -> tuple[dict[str, Any], bytes]:
    """Return the header and the payload of a model file whose checksum is right."""
    with open(path, "rb") as file:
        preamble = file.read(_PREAMBLE.size)
        # Told by its first bytes, so that a device or a film is not read to its end.
        if not preamble.startswith(MAGIC):
            raise ModelFileError(f"{path} is not a model file of Prefero.")
        content = file.read()
    if len(preamble) < _PREAMBLE.size:
        raise ModelFileError(f"{path} is cut short: copy it again.")
    _, number, length, checksum = _PREAMBLE.unpack(preamble)
    if number != FORMAT:
        raise ModelFileError(
            f"{path} has format {number}, but this version of Prefero reads format {FORMAT}: "
            "upgrade Prefero, or save the model again."
        )
    head, payload = content[:length], content[length:]
    if _checksum(length, head, payload) != checksum:
        raise ModelFileError(f"{path} is damaged or cut short (its checksum is wrong).")
    return {"format": number, "sha256": checksum.hex(), **_parse(path, head)}, payload


def _parse(path: str | os.PathLike[str], head: bytes) -> dict[str, Any]:
    try:
        header = json.loads(head)
        if isinstance(header, dict) and isinstance(header["model"], str):
            return header
    except (ValueError, KeyError, RecursionError):
        pass
    raise ModelFileError(f"{path} has a header that says nothing about a model.")
