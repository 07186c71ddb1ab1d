"""The pages say what really happens: their Python examples run, their links lead somewhere."""

import doctest
import re
import runpy

import matplotlib.pyplot as plt
import pytest
from sklearn import config_context

from doc_names import PAGES, ROOT
from prefero.datasets import load_dataset

# test_guide.py builds what this page shows.
RUN = [page for page in PAGES if page.name != "extending.md"]
FRAME = ["Formula", "Paper", "When to use it", "When not", "Parameters that matter"]
METHODS = "automatic trees boosting neighbors linear pairwise consensus label-features multilabel"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder for the files that examples write, and no window for what they draw."""
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
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


def unmeasured(item, tables):
    """Figures of an item that stand in no row of the tables that it names, nor in one of means."""
    rows = [line for line in tables.splitlines() if line.startswith("|")]
    rows = [(row.split("|")[1].split(" (")[0].strip().lower(), row) for row in rows]
    named = [row for head, row in rows if head.startswith("mean of") or head in item.lower()]
    found = re.findall(r"(?<![\d.])\.\d{3}\b", item)
    return [figure for figure in found if f"0{figure} " not in "".join(named)]


def test_a_figure_that_no_table_holds_is_found():
    tables = "| set | a |\n| iris | 0.123 |\n| wine | 0.456 |\n| mean of 2 | 0.290 |\n"
    assert not unmeasured("on iris .123, in the mean .290", tables)
    assert unmeasured("on iris .456", tables) == [".456"]


@pytest.mark.parametrize("name", [*METHODS.split(), "ordering"])
def test_every_method_has_the_same_frame(name):
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert [heading for heading in bodies if heading in FRAME] == FRAME
    assert "$$" in bodies["Formula"]
    assert re.search(r"\(\d{4}\)|\(17\d\d\)", bodies["Paper"])
    said = bodies["When to use it"] + bodies["When not"]
    measured = [ROOT / "docs" / link for link in re.findall(r"\((results/[\w-]+\.md)", said)]
    assert measured
    tables = "".join(page.read_text("utf-8") for page in measured)
    assert not [wrong for item in said.split("\n-") for wrong in unmeasured(item, tables)]
    assert name in (ROOT / "docs" / "methods.md").read_text().split()


def test_the_pictures_of_data_are_what_their_script_draws():
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_data.py"))["pictures"]()
    page = (ROOT / "docs" / "data.md").read_text("utf-8")
    for name, picture in drawn.items():
        assert (ROOT / "docs" / "images" / name).read_text("utf-8") == picture
        assert f"(images/{name})" in page
