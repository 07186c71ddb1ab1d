"""The page of an experiment: whole, small, self-contained, and safe with any name."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from prefero import ConsensusLabelRanker, ForestLabelRanker, NeighborsLabelRanker
from prefero.rankings import ranks_from_scores, strict_ranks
from prefero.study import run_experiment, write_report
from prefero.study._data import load_data
from prefero.study.report.close_look import (
    explain_row,
    feature_importance,
    look_closely,
    telling_pair,
)

SECTIONS = "data leaderboard ranks pairs abstaining rows features reproduce".split()
HOSTILE = "<script>alert('x')</script> & \"quoted\" $x$"
RANKERS = {
    "same order for everyone": ConsensusLabelRanker(),
    "neighbours": NeighborsLabelRanker(n_neighbors=5),
    f"forest {HOSTILE}": ForestLabelRanker(n_estimators=5, random_state=0),
}


def problem(seed, n=40):
    """Rankings that follow one of three features, with a missing label and a tie."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["noise", f"cause {HOSTILE}", "κ"])
    scores = np.outer(X.iloc[:, 1], [1.0, 0.0, -1.0, 0.2]) + rng.normal(0, 0.1, size=(n, 4))
    ranks = ranks_from_scores(scores, higher_is_better=True)
    ranks[0, 0], ranks[1, :2] = np.nan, 1
    Y = pd.DataFrame(ranks, columns=["plain", HOSTILE, "日本", "NA"])
    return X, Y, scores


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of two data sets and one of a single one."""
    folder = tmp_path_factory.mktemp("pages")
    data = {f"first {HOSTILE}": problem(0), "second": problem(1)}
    results = run_experiment(RANKERS, data, n_splits=2)
    both, single = folder / "both.html", folder / "single.html"
    write_report(both, results, data, RANKERS, title=HOSTILE, command=f"prefero {HOSTILE}")
    alone = results.where(dataset="second")
    write_report(single, alone, {"second": data["second"]}, RANKERS)
    return {"both": both, "single": single}


@pytest.fixture(params=["both", "single"])
def page(request, pages):
    return pages[request.param].read_text("utf-8")


def tree(page):
    """Parse the page as XML, which is stricter than any browser."""
    return ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>"))


def test_every_section_is_there_and_reached_from_the_top(page):
    root = tree(page)
    assert [section.get("id") for section in root.iter("section")] == SECTIONS
    links = [link.get("href") for link in root.find(".//nav").iter("a")]
    assert links == [f"#{name}" for name in SECTIONS]
    assert root.find(".//p[@class='verdict']").text


def test_names_of_elements_are_unique_and_references_lead_somewhere(page):
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names))
    referred = re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', page)
    assert {one or other for one, other in referred} <= set(names)


def test_names_are_escaped_everywhere(page):
    root = tree(page)
    assert not list(root.iter("script"))
    assert "<script" not in page
    assert HOSTILE in "".join(root.itertext())


def test_nothing_is_fetched_and_the_page_is_small(page):
    assert len(page.encode()) < 300_000
    assert "://" not in page.replace("&#34;", "")
    sources = re.findall(r'(?:src|href)="([^"#]*)', page)
    assert all(source == "" or source.startswith("data:") for source in sources)
    assert "@import" not in page


def test_figures_take_the_ink_of_the_page_and_say_what_they_show(page):
    drawings = list(tree(page).iter("svg"))
    assert len(drawings) >= 3
    assert all(drawing.get("role") == "img" and drawing.get("aria-label") for drawing in drawings)
    assert "currentColor" in page
    assert "#010203" not in page


def test_whatever_scrolls_is_reached_by_keyboard(page):
    root = tree(page)
    scrolling = [e for e in root.iter("div") if "scroll" in e.get("class", "").split()]
    assert scrolling
    assert all(e.get("tabindex") == "0" and e.get("aria-label") for e in scrolling)


def test_the_diagram_of_ranks_needs_several_data_sets(pages):
    both, single = (pages[name].read_text("utf-8") for name in ("both", "single"))
    assert "Average rank over the data sets" in both
    assert "Average rank over the data sets" not in single
    assert "behind the best" in single


def test_a_wrong_call_leaves_the_old_page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    data = {"d": problem(0)}
    results = run_experiment({"baseline": ConsensusLabelRanker()}, data, n_splits=2)
    with pytest.raises(ValueError, match="no data set 'other'"):
        write_report(path, results, data, {"baseline": ConsensusLabelRanker()}, focus="other")
    with pytest.raises(ValueError, match="'baseline' that is not among"):
        write_report(path, results, data, {})
    assert path.read_text() == "old"


@pytest.mark.parametrize("ranker", [RANKERS["neighbours"], ForestLabelRanker(n_estimators=9)])
def test_the_close_look_finds_the_feature_that_orders_the_labels(ranker):
    look = look_closely(load_data("d", problem(0, n=60)), ranker, random_state=0)
    assert np.nanmean(look.tau) > 0.5
    assert np.argmax(feature_importance(look, 0)[1]) == 1
    extreme = int(np.argmax(look.X.iloc[:, 1]))
    why = explain_row(look, extreme)
    assert why.effects[0].feature == look.features[1]
    assert why.order == list(look.labels[np.argsort(look.predicted[extreme])])


def test_the_pair_explained_is_one_that_was_measured():
    look = look_closely(load_data("d", problem(0, n=30)), RANKERS["neighbours"], random_state=0)
    look.truth[0], look.predicted[0] = [np.nan, 2, np.nan, 1], [1, 4, 2, 3]
    assert telling_pair(look, 0) == (3, 1)
    look.truth[0] = [np.nan, 1, np.nan, 2]
    assert telling_pair(look, 0) == (3, 1)


def test_the_page_says_which_ranker_is_the_constant_order(pages, tmp_path):
    assert "the same order for everyone. What the others gain" in pages["both"].read_text("utf-8")
    data, rankers = {"d": problem(0)}, {"neighbours": RANKERS["neighbours"]}
    write_report(tmp_path / "page.html", run_experiment(rankers, data, n_splits=2), data, rankers)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "The same order for everyone is not among the rankers" in page


def test_features_that_are_words_and_a_single_column(tmp_path):
    X = pd.DataFrame({"word": pd.Categorical(["a", "b"] * 10)})
    Y = np.tile([[1, 2], [2, 1]], (10, 1))
    rankers = {"forest": ForestLabelRanker(n_estimators=5, random_state=0)}
    data = {"words": (X, Y)}
    write_report(tmp_path / "page.html", run_experiment(rankers, data, n_splits=2), data, rankers)
    root = tree((tmp_path / "page.html").read_text("utf-8"))
    assert "ahead of" in "".join(root.itertext())


def test_pairs_of_many_labels_are_written_out_and_the_page_stays_small(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 2)), strict_ranks(rng.normal(size=(20, 40)))
    rankers, data = {"baseline": ConsensusLabelRanker()}, {"many": (X, Y)}
    path = tmp_path / "page.html"
    write_report(path, run_experiment(rankers, data, n_splits=2), data, rankers)
    page = path.read_text("utf-8")
    assert len(page.encode()) < 1_000_000
    pairs = tree(page).find(".//section[@id='pairs']")
    assert [len(list(table.iter("td"))) for table in pairs.iter("table")] == [1600, 1600]


def test_rows_bear_the_names_of_the_table(tmp_path):
    X, Y, _ = problem(0)
    rankers = {"neighbours": NeighborsLabelRanker(n_neighbors=5)}

    def rows(X):
        results = run_experiment(rankers, {"d": (X, Y)}, n_splits=2)
        write_report(tmp_path / "page.html", results, {"d": (X, Y)}, rankers)
        page = (tmp_path / "page.html").read_text("utf-8")
        heads = [head.text for head in tree(page).findall(".//h3")]
        return [re.match(r"Row (\w+):", head).group(1) for head in heads], page

    numbers, page = rows(X.to_numpy())
    assert "Rows are numbered from 1." in page
    names, page = rows(X.set_axis([f"plot{i}" for i in range(len(X))]))
    assert "Rows are numbered" not in page
    assert names == [f"plot{int(number) - 1}" for number in numbers]


def test_the_table_of_abstaining_begins_where_its_curve_does(tmp_path):
    X, Y, _ = problem(0, n=36)
    rankers = {"neighbours": NeighborsLabelRanker(n_neighbors=5)}
    results = run_experiment(rankers, {"d": (X, Y)}, n_splits=2)
    write_report(tmp_path / "page.html", results, {"d": (X, Y)}, rankers)
    section = tree((tmp_path / "page.html").read_text("utf-8")).find(".//section[@id='abstaining']")
    # Of 36 rows a quarter is nine, whose mean is not yet drawn.
    shares = [row.text for row in section.findall(".//tbody//th")]
    assert shares == ["100%", "90%", "75%", "50%"]
