"""Text read in any usual encoding, and files that are never seen half-written."""

import os
from contextlib import suppress
from pathlib import Path


def decode(content: bytes) -> str:
    """Decode UTF-8, with or without a byte-order mark, or else Latin-1."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file in UTF-8 or Latin-1."""
    return decode(Path(path).read_bytes())


def write_beside(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that at any moment its name means the old content or the new, whole.

    Parameters
    ----------
    path : path
        The file; a link is followed.
    content : bytes
        What to write.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(beside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
