"""Files that are never seen half-written."""

import os
from contextlib import suppress
from pathlib import Path


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
