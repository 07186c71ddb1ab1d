"""What a release says of itself in several files is the same everywhere."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import prefero
from prefero._docs import SITE
from prefero.base import BaseLabelRanker

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("CITATION.cff", r"^version: (.+)$"),
        ("packaging/conda/recipe.yaml", r'^  version: "(.+)"$'),
        ("CHANGELOG.md", r"^## (\S+) \(\d{4}-\d{2}-\d{2}\)$"),
    ],
)
def test_the_version_is_that_of_the_project(path, pattern):
    assert re.search(pattern, text(path), re.MULTILINE)[1] == PROJECT["version"]


def test_the_release_has_one_date():
    dates = [
        re.search(r"^date-released: (.+)$", text("CITATION.cff"), re.MULTILINE)[1],
        re.search(r"^## \S+ \((.+)\)$", text("CHANGELOG.md"), re.MULTILINE)[1],
    ]
    assert dates[0] == dates[1]


def test_the_conda_recipe_needs_what_the_command_line_needs():
    extras = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *extras["cli"], *extras["tables"], *extras["study"]]
    needed += extras["plot"]
    recipe = text("packaging/conda/recipe.yaml").replace("matplotlib-base", "matplotlib")
    for requirement in needed:
        if not requirement.startswith("prefero["):
            assert f"- {requirement.replace('>=', ' >=')}\n" in recipe, requirement


def test_workflows_call_targets_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        called = set(re.findall(r"run: make ([a-z-]+)", path.read_text()))
        called |= {
            name.strip()
            for names in re.findall(r"target: \[(.+)\]", path.read_text())
            for name in names.split(",")
        }
        assert called <= targets, path.name


def test_hooks_format_the_core_as_make_lint_does():
    hooks = ROOT / ".pre-commit-config.yaml"
    if hooks.exists():  # it is not in a source archive
        (wanted,) = re.findall(r"clang-format==(.+?)\"", text("pyproject.toml"))
        assert f"mirrors-clang-format\n    rev: v{wanted}\n" in hooks.read_text()


def test_the_drawing_of_an_estimator_links_to_its_page_on_the_site():
    assert PROJECT["urls"]["Documentation"] == SITE
    drawn = [getattr(prefero, name) for name in prefero._PUBLIC]
    drawn = [cls for cls in drawn if hasattr(cls, "_repr_html_") and hasattr(cls, "_fitted_state")]
    assert len(drawn) > 25
    for cls in drawn:
        # Written by docs/_reference.py from the public names of each room.
        address, name = cls._get_doc_link(cls.__new__(cls)).rsplit("/", 1)
        room, public = name.removesuffix(".html").removeprefix("prefero.").rsplit(".", 1)
        assert address == f"{SITE}/reference/names"
        assert getattr(import_module(f"prefero.{room}"), public) is cls
        assert public in import_module(f"prefero.{room}").__all__
    assert f'href="{SITE}/reference/names/' in prefero.ForestLabelRanker()._repr_html_()


def test_an_estimator_of_another_package_has_no_page_here():
    assert type("Own", (BaseLabelRanker,), {"__module__": "mine"})()._get_doc_link() == ""


def test_badges_are_true():
    readme = text("README.md")
    workflows = ROOT / ".github" / "workflows"
    if workflows.exists():  # it is not in a source archive
        for workflow in re.findall(r"/actions/workflows/([\w.]+)/badge.svg", readme):
            assert (workflows / workflow).exists()
    named = [re.search(r":: (3\.\d+)$", line) for line in PROJECT["classifiers"]]
    versions = [found[1] for found in named if found]
    assert f"badge/python-{versions[0]}%20to%20{versions[-1]}-" in readme
    assert f"badge/license-{PROJECT['license'].replace('-', '--')}-" in readme


def test_deliberate_bugs_replace_what_stands_in_the_sources():
    bugs = tomllib.loads(text("tools/mutants.toml"))["mutant"]
    assert [bug["what"] for bug in bugs if text(bug["file"]).count(bug["old"]) != 1] == []
    # The extension is not compiled anew for pytest.
    of_core = [bug for bug in bugs if bug["file"].startswith("src/core/")]
    assert {bug["tests"] for bug in of_core} == {"core"}
