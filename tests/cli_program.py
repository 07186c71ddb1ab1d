"""Run the installed program as a user does."""

import os
import subprocess
import sysconfig
from pathlib import Path

PROGRAM = Path(sysconfig.get_path("scripts")) / "prefero"


def prefero(*arguments, stdin=None, **environment):
    """Run ``prefero`` with plain, uncoloured output; return the finished process."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **environment},
        timeout=120,
    )
