"""Run the program as a user does."""

import io
import os
import subprocess
import sys
import sysconfig
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

PROGRAM = Path(sysconfig.get_path("scripts")) / "prefero"
PLAIN = {"NO_COLOR": "1", "COLUMNS": "100"}


def prefero(*arguments, stdin=None, **environment):
    """Run ``prefero`` with plain, uncoloured output; return the finished process."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **PLAIN, **environment},
        timeout=300,
    )


def prefero_inside(*arguments, stdin="", **environment):
    """Do the same inside this process, without the second that a new one takes to import."""
    from prefero.cli.main import main

    command = ["prefero", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with (
        mock.patch.object(sys, "argv", command),
        mock.patch.object(sys, "stdin", given),
        mock.patch.dict(os.environ, {**PLAIN, **environment}),
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            main()
            code = 0
        except SystemExit as done:
            code = done.code or 0
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())
