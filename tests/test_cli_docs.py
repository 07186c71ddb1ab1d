"""The pages on data and the command line say what really happens."""

import re
import shlex
from pathlib import Path

from cli_program import prefero

DOCS = Path(__file__).parents[1] / "docs"


def sessions(page):
    """Yield each command of the console blocks of a page with the output shown under it."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for shown in block.split("$ ")[1:]:
            command, _, output = shown.partition("\n")
            yield shlex.split(command), output


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for (program, *arguments), shown in sessions(DOCS / "cli.md"):
        if program == "cat":
            Path(arguments[0]).write_text(shown)
            continue
        done = prefero(*arguments)
        lines = (done.stdout + done.stderr).splitlines()
        assert [line.rstrip() for line in lines] == shown.splitlines(), arguments
