"""reproduce, run as a user runs it; and what all commands have in common."""

import subprocess
import sys
from pathlib import Path

import pytest

from cli_program import PROGRAM
from cli_program import prefero_inside as prefero
from prefero.cli import main, reproduce


def test_the_script_of_a_paper_is_run(tmp_path, monkeypatch, capsys):
    scripts = tmp_path / "reproduction"
    scripts.mkdir()
    (scripts / "helper.py").write_text("WORD = 'ours'\n")
    (scripts / "dekel2003.py").write_text("import helper, sys\nprint(helper.WORD, sys.argv[1:])\n")
    monkeypatch.setattr(reproduce.prefero, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    done = prefero("reproduce", "dekel2003", "--quick", "--jobs", "2", "--data", "there")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ours ['--quick', '--data', 'there', '--jobs', '2']\n"
    done = prefero("reproduce", "cheng2009")
    assert done.returncode == 1
    assert "come with the source of Prefero" in done.stderr
    assert done.stderr.count("\n") == 1


def test_only_known_papers():
    assert prefero("reproduce", "newton1687").returncode == 2


# What all commands have in common


@pytest.mark.parametrize("command", main.COMMANDS)
def test_help_has_an_example_and_the_page_a_section(command):
    shown = prefero(command, "--help").stdout
    assert "Examples:\n" in shown
    assert f"  prefero {command}" in shown
    page = (Path(__file__).parents[1] / "docs" / "cli.md").read_text("utf-8")
    assert f"\n## {command}\n" in page


def test_shell_completion():
    done = subprocess.run(
        [PROGRAM],
        env={"_PREFERO_COMPLETE": "complete_bash", "COMP_WORDS": "prefero tr", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.split() == ["train"]
