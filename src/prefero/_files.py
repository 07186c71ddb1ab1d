"""Text read in any usual encoding, and files that are never seen half-written."""

import codecs
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

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


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to read it; refuse a pipe or device, which might never end, without waiting."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    file = open(path, "rb", opener=opener)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path} is no regular file.")
    return file


def refuse_overwriting(
    output: str | os.PathLike[str] | None, *inputs: str | os.PathLike[str] | None
) -> None:
    """Refuse an output that is one of the inputs, by whatever name.

    Parameters
    ----------
    output : path, optional
        The file to be written; a dash, or None, is none.
    *inputs : path, optional
        The files to be read.

    Raises
    ------
    ValueError
        If both are the same file.

    Examples
    --------
    >>> refuse_overwriting("new.csv", "old.csv", None)
    """
    for path in inputs:
        with suppress(OSError):
            if output is not None and path is not None and os.path.samefile(output, path):
                raise ValueError(
                    f"{output} is the file that is read: write the result into another one."
                )


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file so that at any moment its name means the old content or the new, whole.

    What writers that died have left beside the file is removed.

    Parameters
    ----------
    path : path
        The file; a link is followed. A device or pipe is written as it is.

    Yields
    ------
    file
        To be written in bytes. It takes the name, and the rights of a file that had it, when
        the block ends well, and is gone when it does not.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as device:
            yield device
        return
    _remove_stale_parts(target)
    file, beside = _new_part(target)
    try:
        with file:
            _keep_rights(target, file)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # under the lock, so that no other writer takes it for dead
                os.replace(beside, target)
        if fcntl is None:  # Windows renames no file that is open
            os.replace(beside, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    _flush_folder(target.parent)


def write_beside(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file by `replacing`."""
    with replacing(path) as file:
        file.write(content)


def _new_part(target: Path) -> tuple[BinaryIO, Path]:
    """Make a file beside the target that no other writer has or takes for dead."""
    while True:
        # So short that the longest legal name gets a part too.
        beside = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.part")
        file = open(beside, "xb")
        _lock(file, wait=True)
        # Another writer may have removed it in the moment before the lock.
        if beside.exists():
            return file, beside
        file.close()


def _remove_stale_parts(target: Path) -> None:
    """Remove the parts of this target that no living writer holds."""
    ours = re.compile(re.escape(f".{target.name[:40]}.") + r"[0-9a-f]{16}\.part")
    for entry in os.scandir(target.parent):
        if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            with suppress(OSError), open(entry.path, "rb") as file:
                if _lock(file, wait=False):
                    os.unlink(entry.path)


def _lock(file: BinaryIO, *, wait: bool) -> bool:
    """Lock an open file against others that want to; tell whether it worked.

    Windows needs no lock: it removes no file that is open.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _keep_rights(target: Path, file: BinaryIO) -> None:
    if fcntl is None or not target.exists():
        return
    old, new = target.stat(), os.fstat(file.fileno())
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):  # only root may give a file away
            os.fchown(file.fileno(), old.st_uid, old.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))


def _flush_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power failure, where the system can."""
    if fcntl is None:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
