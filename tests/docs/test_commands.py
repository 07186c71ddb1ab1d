"""What the pages tell readers to type really works, and prints what they show."""

import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli_program import prefero_inside as prefero
from doc_names import BLOCKS, PAGES, ROOT, commands, words_of
from prefero.datasets import make_dyad_ranking, make_label_ranking

# Lines that take long or need more than a folder: what runs them instead.
ELSEWHERE = {
    "prefero compare": "tests/cli/test_compare.py",
    "prefero order compare": "tests/cli/test_order.py",
    "prefero reproduce": "tests/cli/test_reproduce.py",
    "prefero demo": "tests/cli/test_demo.py",
    "prefero serve": "tests/serve/test_service.py",
    "curl": "tests/serve/test_service.py",
    "pip install": "tools/test_installed.py",
    "make": "tests/test_release.py",
}


def lines(page):
    """Yield each command of a page with what it shows: None where it shows nothing."""
    for kind, block in BLOCKS.findall(page.read_text("utf-8")):
        if kind == "console":
            for shown in block.split("$ ")[1:]:
                command, _, output = shown.partition("\n")
                yield command, output
        elif kind in ("sh", "") and not set("│└") & set(block):
            yield from ((line, None) for line in block.splitlines())


def elsewhere(command):
    """The file that runs a command in place of this one, if any."""
    return next((path for start, path in ELSEWHERE.items() if command.startswith(start)), None)


RUN = [page for page in PAGES if any(not elsewhere(command) for command, _ in lines(page))]


def write_tables(folder):
    """The tables that pages take for granted."""
    X, Y = make_label_ranking(40, 3, 3, random_state=0)
    table = pd.DataFrame(X, columns=["age", "size", "price"])
    (folder / "rows").mkdir()
    for name in ("big.parquet", "rows/1.parquet"):
        table.join(pd.DataFrame(Y, columns=["y_a", "y_b", "y_c"])).to_parquet(folder / name)
    groups = np.repeat(np.arange(8), 5)
    judged = table.assign(query=groups, relevance=(X[:, 0] > 0).astype(int))
    judged.to_csv(folder / "judged.csv", index=False)
    judged.drop(columns="relevance").to_csv(folder / "new.csv", index=False)
    topics = pd.DataFrame((X > 0).astype(int), columns=["is politics", "is sports", "is money"])
    table.join(topics).to_csv(folder / "topics.csv", index=False)
    X, Y, Z = make_dyad_ranking(30, n_labels=6, noise=0.1, random_state=0)
    substrates = pd.DataFrame(X).add_prefix("x")
    substrates.to_csv(folder / "substrates.csv", index=False)
    substrates.join(pd.DataFrame(-Y[:, :5]).add_prefix("yield ")).to_csv(
        folder / "yields.csv", index=False
    )
    ligands = pd.DataFrame(Z).add_prefix("z").rename_axis("ligand")
    ligands[:5].to_csv(folder / "ligands.csv")
    ligands.to_csv(folder / "new_ligands.csv")


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, page):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    write_tables(tmp_path)
    for command, shown in lines(page):
        if elsewhere(command):
            continue
        program, *arguments = words_of(command)
        if program == "cat":
            Path(arguments[0]).write_text(shown)
            continue
        assert program == "prefero", command
        done = prefero(*arguments)
        if shown is None:
            assert done.returncode == 0, (command, done.stderr)
        else:
            told = (done.stdout + done.stderr).splitlines()
            assert [line.rstrip() for line in told] == shown.splitlines(), command


def test_the_pages_with_commands_are_found():
    assert {page.stem for page in RUN} >= {"README", "cli", "label-features", "ordering", "scaling"}
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())
    told = [command for page in PAGES for command, _ in lines(page)]
    for start in ELSEWHERE:
        assert any(command.startswith(start) for command in told), start


def sections():
    """The page of commands that the site is built with, by the words of each command."""
    page = runpy.run_path(str(ROOT / "docs" / "_reference.py"))["_commands"]()
    parts = re.split(r"^#+ (?:`prefero ?(.*)`|Commands)$", page, flags=re.MULTILINE)
    return dict(zip(((name or "").strip() for name in parts[1::2]), parts[2::2], strict=True))


def options_in(text):
    """The options that a text names, each as it is typed."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


@pytest.mark.parametrize("path", commands(), ids=" ".join)
def test_the_page_of_commands_says_what_help_says(path):
    section = sections()[" ".join(path)]
    listed = "".join(re.findall(r"^\* `[^`]+`", section, re.MULTILINE))
    wanted = {name for name in commands()[path] if name.startswith("--")}
    assert options_in(listed) == wanted
    told = prefero(*path, "--help").stdout
    assert wanted <= options_in(told)
    first = section.strip().splitlines()[0].rstrip(".")
    assert first in re.sub(r"\s+", " ", told)
