"""reproduce, run as a user runs it; and what all commands have in common."""

import subprocess
import sys
from argparse import Namespace
from datetime import date
from pathlib import Path

import kebi
import numpy as np
import pytest
from sklearn.utils import Bunch

from cli_program import PROGRAM
from cli_program import prefero_inside as prefero
from prefero import __version__ as version
from prefero.cli import main, reproduce
from prefero.evaluation import ResultTable


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
    assert done.returncode == 3
    assert "cheng2009.py is missing" in done.stderr
    assert done.stderr.count("\n") == 1
    # Options that the command does not know are the script's.
    done = prefero("reproduce", "dekel2003", "--sets", "iris", "--output", "mine.md")
    assert done.stdout == "ours ['--sets', 'iris', '--output', 'mine.md']\n"
    (tmp_path / "a" / "b" / "reproduction").mkdir(parents=True)
    (tmp_path / "a" / "b" / "reproduction" / "dekel2003.py").write_text("print('installed')")
    assert prefero("reproduce", "dekel2003").stdout == "installed\n"


SCRIPTS = Path(__file__).parents[2] / "reproduction"


def test_every_script_that_has_a_page_is_in_the_list():
    scripts = {path.stem for path in SCRIPTS.glob("*.py") if "publish(" in path.read_text("utf-8")}
    assert {paper.value for paper in reproduce.Paper} == scripts


MADE = ("label_features", "paired_tests")  # their data are made


@pytest.mark.parametrize("paper", [paper for paper in reproduce.Paper if paper not in MADE])
def test_missing_data_is_one_sentence_before_any_run(paper, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("PREFERO_DATA", "")
    done = prefero("reproduce", paper, "--data", tmp_path, "--output", tmp_path / "page.md")
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("prefero: The")
    assert "PREFERO_DATA" in done.stderr
    assert done.stderr.count("\n") == 1


def test_published_tables_have_sources():
    files = {path.name for path in (SCRIPTS / "published").glob("*.csv")} - {"sources.csv"}
    assert {row["file"] for row in kebi.published_rows("sources.csv")} == files


def test_sets_by_name_are_downloaded(monkeypatch):
    asked = []

    def fetch(name, *, exact):
        asked.append((name, exact))
        return Bunch(data=np.ones((2, 1)), target=np.array([[1, 2], [2, 1]]))

    monkeypatch.setattr(kebi, "fetch_benchmark", fetch)
    monkeypatch.setenv("PREFERO_DATA", "openml")
    sets = kebi.sets_to_run(Namespace(quick=False, sets=None))
    assert "iris" in sets
    assert "fried" not in sets
    np.testing.assert_array_equal(kebi.read_set("iris")[1], [[1, 2], [2, 1]])
    assert asked == [("iris", True)]


def test_only_known_papers():
    assert prefero("reproduce", "newton1687").returncode == 2


def test_a_page_and_its_tables_are_written(tmp_path, monkeypatch, capsys):
    from matplotlib.figure import Figure

    tables = {
        "Table 1: Kendall's tau, 30%": ResultTable(
            [{"set": "iris", "ours": 1 / 3, "Hühn": np.nan}]
        ),
        "Table 2": ResultTable([{"set": "wine | red", "ours": 1}]),
    }
    figure = Figure()
    figure.subplots().plot([1, 2])
    page = tmp_path / "new" / "paper.md"
    monkeypatch.setattr(
        sys, "argv", ["/at/paper.py", "--quick", "--folder", "cells", "--output=x", "--jobs", "2"]
    )
    items = [("Table 1", "here", "no", "it is so")]
    more = {"figures": {"Figure 1": figure}, "reading": "It is so.", "of_the_paper": items}
    kebi.publish("A paper", tables, page, **more)
    text = page.read_text("utf-8")
    assert "    prefero reproduce paper --quick\n" in text
    assert f"Prefero {version}" in text
    assert f", {date.today()}." in text
    assert "| iris | 0.333 |      |" in text
    assert "\n![Figure 1](paper-figure-1.svg)\n\nIt is so.\n\n## Every table and figure" in text
    assert text.endswith("| Table 1      | here | no  | it is so |\n")
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
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
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
