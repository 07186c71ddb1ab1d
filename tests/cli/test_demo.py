"""prefero demo, and what it tells to type next."""

import json
import shlex
import shutil
from pathlib import Path
from unittest import mock

import pytest

from cli_program import prefero_inside as prefero
from prefero.cli import demo


@pytest.fixture(scope="module", autouse=True)
def once():
    """Every ranker is cross-validated once, for the story and for its figures."""
    known, run = {}, demo._run

    def remember(name, data, choice):
        key = name, choice.name
        if key not in known:
            known[key] = run(name, data, choice)
        return known[key]

    with mock.patch.object(demo, "_run", remember):
        yield


@pytest.fixture(scope="module")
def figures():
    return json.loads(prefero("demo", "--json").stdout)


@pytest.fixture(scope="module")
def narrow():
    """The story in a narrow window."""
    return prefero("demo", COLUMNS="60")


def test_demo_tells_the_story_on_stdout(narrow):
    assert narrow.returncode == 0
    assert narrow.stderr == ""
    told = " ".join(narrow.stdout.split())
    for part in ("wine", "digits", "diabetes", "consensus baseline", "tau", "glucose", "next"):
        assert part in told
    assert "more certain of this order than of" in told
    assert "speaks for" in told


def test_what_to_type_next_is_whole_and_works(narrow, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(Path(__file__).parents[2] / "examples", tmp_path / "examples")
    told = narrow.stdout.partition("What to type next")[2]
    commands = [shlex.split(line)[1:] for line in told.splitlines() if " examples/" in line]
    assert [command[0] for command in commands] == ["check", "compare", "train", "predict"]
    quick = {"compare": ["--quick", "--rankers", "tree"], "train": ["--preset", "quick"]}
    for command in commands:
        done = prefero(*command, *quick.get(command[0], []))
        assert done.returncode == 0, done.stderr


def test_demo_figures_as_json(figures):
    assert {result["data"] for result in figures} == {"wine", "digits", "diabetes"}
    for result in figures:
        assert -1 <= result["tau"] <= 1
        assert sorted(result["true"]) == sorted(result["predicted"])


def test_every_learned_ranker_beats_the_same_order_for_everyone_on_wine(figures):
    wine = {result["ranker"]: result["tau"] for result in figures if result["data"] == "wine"}
    baseline = wine.pop("consensus")
    assert all(tau > baseline for tau in wine.values())
