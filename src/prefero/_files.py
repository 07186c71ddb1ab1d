"""Text read in any usual encoding, and files that are never seen half-written."""

import codecs
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_BLOCK = 1 << 20


def decode(content: bytes) -> str:
    """Decode UTF-8, with or without a byte-order mark, or else Latin-1."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def encoding_of(file: BinaryIO) -> str | None:
    """Return the encoding that `decode` takes a file for, read piece by piece; None if no text."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    encoding = "utf-8-sig"
    block = b" "
    while block:
        block = file.read(_BLOCK)
        if b"\0" in block:
            return None
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError:
            encoding = "latin-1"
    return encoding


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file in UTF-8 or Latin-1."""
    return decode(Path(path).read_bytes())


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file so that at any moment its name means the old content or the new, whole.

    Parameters
    ----------
    path : path
        The file; a link is followed.

    Yields
    ------
    file
        To be written in bytes. It takes the name when the block ends well, and is gone when
        it does not.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def write_beside(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file by `replacing`."""
    with replacing(path) as file:
        file.write(content)
