"""The pages say what really happens: their Python examples run, their links lead somewhere."""

import doctest
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from sklearn import config_context

from prefero.datasets import load_dataset

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder for the files that examples write, and no window for what they draw."""
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert not failed
    wine = load_dataset("wine", as_frame=True)
    names = {"X": wine.data, "Y": wine.target}
    with config_context():
        for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            if ">>>" not in block:
                exec(block, names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
        assert "://" in target or (page.parent / target).exists(), target
