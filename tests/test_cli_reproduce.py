"""reproduce, run as a user runs it; and what all commands have in common."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from cli_program import PROGRAM
from cli_program import prefero_inside as prefero
from prefero import __version__ as version
from prefero.cli import main, reproduce
from prefero.study import Table


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
    page = str(Path("reproduction-results") / "dekel2003.md")
    given = ["--quick", "--data", "there", "--jobs", "2", "--output"]
    assert done.stdout == f"ours {[*given, page]}\n"
    done = prefero("reproduce", "dekel2003", "--output", "mine.md")
    assert done.stdout == "ours ['--output', 'mine.md']\n"
    done = prefero("reproduce", "cheng2009")
    assert done.returncode == 1
    assert "come with the source of Prefero" in done.stderr
    assert done.stderr.count("\n") == 1


def test_only_known_papers():
    assert prefero("reproduce", "newton1687").returncode == 2


def test_a_page_and_its_tables_are_written(tmp_path, monkeypatch, capsys):
    import kebi
    from matplotlib.figure import Figure

    tables = {
        "Table 1: Kendall's tau, 30%": Table([{"set": "iris", "ours": 1 / 3, "Hühn": np.nan}]),
        "Table 2": Table([{"set": "wine | red", "ours": 1}]),
    }
    figure = Figure()
    figure.subplots().plot([1, 2])
    page = tmp_path / "new" / "paper.md"
    monkeypatch.setattr(
        sys, "argv", ["/at/paper.py", "--quick", "--folder", "cells", "--output=x", "--jobs", "2"]
    )
    kebi.publish("A paper", tables, page, figures={"Figure 1": figure}, reading="It is so.")
    text = page.read_text("utf-8")
    assert "    python reproduction/paper.py --quick --jobs 2\n" in text
    assert f"Prefero {version}, {date.today()}." in text
    assert "| iris | 0.333 |      |" in text
    assert text.endswith("\n![Figure 1](paper-figure-1.svg)\n\nIt is so.\n")
    first = page.parent / "paper" / "table-1-kendalls-tau-30.csv"
    assert first.read_text("utf-8") == "set,ours,Hühn\niris,0.3333333333333333,\n"
    assert (page.parent / "paper" / "table-2.csv").read_text() == "set,ours\nwine | red,1\n"
    assert "</svg>" in (page.parent / "paper-figure-1.svg").read_text()
    shown = capsys.readouterr()
    assert shown.out.startswith("# A paper\n")
    assert str(page) in shown.err


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
