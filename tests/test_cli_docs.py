"""The pages on data and the command line say what really happens."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from cli_program import prefero

ROOT = Path(__file__).parents[1]


def sessions(page):
    """Yield each command of the console blocks of a page with the output shown under it."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for shown in block.split("$ ")[1:]:
            command, _, output = shown.partition("\n")
            yield shlex.split(command), output


@pytest.mark.parametrize("page", ["docs/cli.md", "README.md"])
def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, page):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shown_commands = list(sessions(ROOT / page))
    assert shown_commands
    for (program, *arguments), shown in shown_commands:
        if program == "cat":
            Path(arguments[0]).write_text(shown)
            continue
        done = prefero(*arguments)
        lines = (done.stdout + done.stderr).splitlines()
        assert [line.rstrip() for line in lines] == shown.splitlines(), arguments
