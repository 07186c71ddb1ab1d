"""The pages say what really happens: their Python examples run, their links lead somewhere."""

import doctest
import re
import runpy
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn import config_context

from doc_names import PAGES, ROOT
from prefero import ForestLabelRanker
from prefero.datasets import load_dataset, make_label_ranking

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
    found = re.findall(r"(?<![\d.])0?(\.\d{3})\b", item)
    return [figure for figure in found if f"0{figure} " not in "".join(named)]


def linked_results(text):
    """The pages of results that a text links to, as one text."""
    links = set(re.findall(r"\((?:docs/)?(results/[\w-]+\.md)", text))
    return "".join((ROOT / "docs" / link).read_text("utf-8") for link in sorted(links))


def test_a_figure_that_no_table_holds_is_found():
    tables = "| set | a |\n| iris | 0.123 |\n| wine | 0.456 |\n| mean of 2 | 0.290 |\n"
    assert not unmeasured("on iris .123, on average .290", tables)
    assert unmeasured("on iris .456", tables) == [".456"]
    assert unmeasured("| iris | 0.290 | 0.124 |", tables) == [".124"]


@pytest.mark.parametrize("name", [*METHODS.split(), "ordering"])
def test_every_method_has_the_same_frame(name):
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert [heading for heading in bodies if heading in FRAME] == FRAME
    assert "$$" in bodies["Formula"]
    assert re.search(r"\(\d{4}\)|\(17\d\d\)", bodies["Paper"])
    said = bodies["When to use it"] + bodies["When not"]
    tables = linked_results(said)
    assert tables
    assert not [wrong for item in said.split("\n-") for wrong in unmeasured(item, tables)]
    assert name in (ROOT / "docs" / "methods.md").read_text().split()


def test_the_pictures_of_data_are_what_their_script_draws():
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_data.py"))["pictures"]()
    page = (ROOT / "docs" / "data.md").read_text("utf-8")
    for name, picture in drawn.items():
        assert (ROOT / "docs" / "images" / name).read_text("utf-8") == picture
        assert f"(images/{name})" in page


@pytest.mark.parametrize("name", ["docs/choosing.md", "docs/index.md", "docs/coming-from.md"])
def test_figures_that_recommend_stand_in_a_table(name):
    text = (ROOT / name).read_text("utf-8")
    assert not [
        wrong for line in text.splitlines() for wrong in unmeasured(line, linked_results(text))
    ]


def test_figures_of_the_paper_stand_in_a_table():
    text = (ROOT / "paper" / "paper.md").read_text("utf-8")
    pages = ("kebi", "cheng2009", "desa2017", "real-ten", "ties")
    tables = linked_results("".join(f"(results/{name}.md)" for name in pages))
    assert "0.796" in text
    assert not [wrong for line in text.splitlines() for wrong in unmeasured(line, tables)]


def test_figures_of_the_readme_stand_in_a_table():
    text = (ROOT / "README.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\|.*0\.\d{3}", line)]
    assert len(rows) >= 5
    assert not [wrong for row in rows for wrong in unmeasured(row, linked_results(text))]


def column(page, heading):
    """The numbers of the first table of a page of results that has a heading."""
    place, found = None, []
    for line in (ROOT / "docs" / "results" / page).read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if place is None and heading in cells:
            place = cells.index(heading)
        elif place is not None and not line.startswith("|"):
            break
        elif place is not None and re.fullmatch(r"[\d.]+", cells[place]):
            found.append(float(cells[place]))
    return found


@pytest.mark.parametrize(
    ("page", "heading", "digits"),
    [
        ("trees.md", "kendall", 1),
        ("trees.md", "spearman", 1),
        ("trees.md", "predict", 1),
        ("trees.md", "ratio", 0),
    ],
)
def test_the_page_of_speed_gives_the_range_of_the_tables(page, heading, digits):
    found = column(page, heading)
    if heading == "ratio":
        found = found[:-1]  # the last is the one with missing labels
    span = f"{min(found):.{digits}f} to {max(found):.{digits}f}"
    assert span in (ROOT / "docs" / "speed.md").read_text("utf-8")
    if heading != "spearman":
        assert span in (ROOT / "README.md").read_text("utf-8")


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            entries = re.findall(r"^(?!:)(?:.*<)?([\w/-]+)>?$", block, re.MULTILINE)
            listed |= {(page.parent / f"{entry}.md").resolve() for entry in entries}
    pages = {page.resolve() for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert pages - listed == {(ROOT / "docs" / "index.md").resolve()}


def test_what_is_said_to_run_in_other_packages_runs_there():
    page = (ROOT / "docs" / "coming-from.md").read_text("utf-8")
    blocks = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    X, Y = make_label_ranking(200, 3, 4, theta=2.0, random_state=0)
    for block in blocks:
        package = re.search(r"^(?:from|import) (\w+)", block, re.MULTILINE)[1]
        if find_spec(package):  # the development tools bring none of them
            exec(block, {"np": np, "X": X, "Y": Y})


def test_the_reference_lists_the_methods_written_here():
    listed = runpy.run_path(str(ROOT / "docs" / "_reference.py"))["own_methods"]
    found = set(listed(ForestLabelRanker))
    assert {"fit", "predict_pairwise", "predict_votes"} <= found
    assert not {"get_params", "set_fit_request"} & found
