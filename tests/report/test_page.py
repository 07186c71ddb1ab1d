"""The page of an experiment: whole, small, self-contained, and safe with any name."""

import base64
import hashlib
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from prefero import ConsensusLabelRanker, ForestLabelRanker, NeighborsLabelRanker
from prefero.evaluation import run_experiment
from prefero.evaluation._data import load_data
from prefero.evaluation._tasks import TASKS
from prefero.rankings import ranks_from_scores, strict_ranks
from prefero.report import write_report
from prefero.report.label_part import explain_row
from prefero.report.predictions import (
    Focus,
    LabelPredictions,
    feature_importance,
    predict_out_of_fold,
    telling_pair,
)

SECTIONS = "leaderboard data ranks pairs uncertainty rows features reproduce".split()
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
    """Parse the page without its scripts as XML, which is stricter than any browser."""
    page = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    return ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>"))


def picked(page):
    """The rows to pick, as the script of the page reads them."""
    return json.loads(re.search(r'id="rows-data">(.*?)</script>', page).group(1))


def written(tmp_path, data, rankers, **options):
    """The text of a page."""
    results = run_experiment(rankers, data, n_splits=2)
    write_report(tmp_path / "page.html", results, data, rankers, **options)
    return (tmp_path / "page.html").read_text("utf-8")


def focus_on(data, ranker, scoring="tau", **options):
    """A label ranker and its results, as a page looks closely at them."""
    results = run_experiment({"r": ranker}, {"d": data}, n_splits=2, **options)
    of_best = load_data("d", data), ranker, "d", "r", results
    return Focus(TASKS["label_ranker"], *of_best, scoring, None, 0)


def predictions(data, ranker):
    """The out-of-fold predictions of a label ranker."""
    return LabelPredictions(predict_out_of_fold(focus_on(data, ranker)))


def test_every_section_is_there_and_reached_from_the_top(page):
    root = tree(page)
    assert [section.get("id") for section in root.iter("section")] == SECTIONS
    links = [link.get("href") for link in root.find(".//nav").iter("a")]
    assert links == [f"#{name}" for name in SECTIONS]
    assert root.find(".//p[@class='summary']").text


def test_names_of_elements_are_unique_and_references_lead_somewhere(page):
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names))
    referred = re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', page)
    assert {one or other for one, other in referred} <= set(names)


def test_names_are_escaped_everywhere(page):
    assert HOSTILE in "".join(tree(page).itertext())
    # The data and the script, which the page's own policy knows by its sum.
    scripts = re.findall(r"<script[^>]*>", page)
    data = [f'<script type="application/json" id="{name}">' for name in ("per-row", "rows-data")]
    assert scripts == [*data, "<script>"]
    own = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert "&" not in re.search(r'id="rows-data">(.*?)</script>', page).group(1)
    assert not re.search(r"<[^>]*\son\w+=", re.sub(r"<script.*?</script>", "", page, flags=re.S))


def test_nothing_is_fetched_and_the_page_is_small(page):
    assert len(page.encode()) < 300_000
    assert "://" not in page.replace("&#34;", "")
    sources = re.findall(r'(?:src|href)="([^"#]*)', page)
    assert all(source == "" or source.startswith("data:") for source in sources)
    assert "@import" not in page


def test_figures_take_the_ink_of_the_page_and_say_what_they_show(page):
    drawings = list(tree(page).iter("svg"))
    strips = [drawing for drawing in drawings if drawing.get("class") == "strip"]
    # Strips are written out in numbers below.
    assert len(strips) == 4 * 4
    assert all(strip.get("aria-hidden") == "true" for strip in strips)
    figures = [drawing for drawing in drawings if drawing not in strips]
    assert len(figures) >= 2
    assert all(figure.get("role") == "img" and figure.get("aria-label") for figure in figures)
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
    with pytest.raises(ValueError, match="'baseline' that was not given"):
        write_report(path, results, data, {})
    assert path.read_text() == "old"


@pytest.mark.parametrize("ranker", [RANKERS["neighbours"], ForestLabelRanker(n_estimators=9)])
def test_the_detailed_part_finds_the_feature_that_orders_the_labels(ranker):
    labels = predictions(problem(0, n=60), ranker)
    found = labels.found
    assert np.nanmean(labels.tau) > 0.5
    # Of a loss, too, the important feature is the one that matters most.
    for scoring in ("tau", "regret"):
        focus = focus_on(problem(0, n=60), ranker, scoring)
        assert np.argmax(feature_importance(found, focus)[1]) == 1
    extreme = int(np.argmax(found.X.iloc[:, 1]))
    why = explain_row(labels, extreme)
    assert why.effects[0].feature == found.features[1]
    assert why.order == list(labels.labels[np.argsort(labels.predicted[extreme])])


@pytest.mark.parametrize(
    ("truth", "predicted", "pair"),
    [
        ([np.nan, 2, np.nan, 1], [1, 4, 2, 3], (3, 1)),
        ([np.nan, 1, np.nan, 2], [1, 4, 2, 3], (3, 1)),
        # A pair that the row ties says nothing.
        ([1, 1, 3, np.nan], [1, 2, 4, 3], (0, 2)),
    ],
)
def test_the_pair_explained_is_one_that_the_row_orders(truth, predicted, pair):
    ranks = np.array(predicted)
    assert telling_pair(np.array(truth), ranks, -ranks.astype(float)) == pair


def test_the_page_says_which_ranker_is_the_baseline(pages, tmp_path):
    root = tree(pages["both"].read_text("utf-8"))
    rows = root.findall(".//table[@id='board']//tbody/tr/th")
    tags = {head.text.strip(): [tag.text for tag in head.iter("span")] for head in rows}
    assert [name for name, said in tags.items() if "baseline" in said] == [
        "same order for everyone"
    ]
    assert [name for name, said in tags.items() if "best" in said] == [rows[0].text.strip()]
    page = written(tmp_path, {"d": problem(0)}, {"neighbours": RANKERS["neighbours"]})
    assert "the same order for everyone, is not among the rankers" in page


def test_features_that_are_words_and_a_single_column(tmp_path):
    X = pd.DataFrame({"word": pd.Categorical(["a", "b"] * 10)})
    Y = np.tile([[1, 2], [2, 1]], (10, 1))
    rankers = {"forest": ForestLabelRanker(n_estimators=5, random_state=0)}
    page = written(tmp_path, {"words": (X, Y)}, rankers)
    why = picked(page)["rows"][0]["why"]
    assert why["words"].startswith("Why ")
    assert why["effects"][0][:1] == ["word"]


def test_matrices_of_many_labels_are_written_out_and_the_page_stays_small(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 2)), strict_ranks(rng.normal(size=(20, 60)))
    page = written(tmp_path, {"many": (X, Y)}, {"baseline": ConsensusLabelRanker()})
    assert len(page.encode()) < 1_000_000
    pairs = tree(page).find(".//section[@id='pairs']")
    dense = pairs.findall(".//table[@class='dense']")
    assert [len(list(table.iter("td"))) for table in dense] == [3600, 3600]


def test_what_a_ranker_cannot_say_has_no_section(tmp_path):
    # The same order for everyone is equally sure of all rows, and many labels are not drawn.
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(12, 2)), strict_ranks(rng.normal(size=(12, 61)))
    page = written(tmp_path, {"many": (X, Y)}, {"baseline": ConsensusLabelRanker()})
    root = tree(page)
    names = [section.get("id") for section in root.iter("section")]
    assert names == "leaderboard data uncertainty rows features reproduce".split()
    assert (
        "abstaining" not in page.split("<style>")[0] + page.split("</style>")[1].split("<script")[0]
    )


def test_rows_bear_the_names_of_the_table(tmp_path):
    X, Y, _ = problem(0)
    rankers = {"neighbours": NeighborsLabelRanker(n_neighbors=5)}
    page = written(tmp_path, {"d": (X.to_numpy(), Y)}, rankers)
    assert "Rows are numbered from 1." in page
    numbers = [row["name"] for row in picked(page)["rows"]]
    page = written(tmp_path, {"d": (X.set_axis([f"plot{i}" for i in range(len(X))]), Y)}, rankers)
    assert "Rows are numbered" not in page
    names = [row["name"] for row in picked(page)["rows"]]
    assert names == [f"plot{int(number) - 1}" for number in numbers]


@pytest.mark.parametrize("use_scores", [False, True])
def test_the_close_look_is_at_the_models_that_were_compared(use_scores):
    X, _, scores = problem(0)
    data = X, ranks_from_scores(scores, higher_is_better=True), scores
    focus = focus_on(data, ForestLabelRanker(9), use_scores=use_scores)
    look = LabelPredictions(predict_out_of_fold(focus))
    runs = focus.results.predictions.values()
    for run in runs:
        np.testing.assert_array_equal(look.predicted[run.test], run.predicted)
        np.testing.assert_array_equal(look.tau[run.test], run.metrics["tau"])
    assert np.nanmean(look.tau) == pytest.approx(
        np.nanmean(np.concatenate([run.metrics["tau"] for run in runs]))
    )


def test_rows_to_pick_hold_what_was_ranked_and_what_was_predicted(tmp_path):
    X, Y, _ = problem(0)
    Y = Y.set_axis([f"yield_of_{name}" for name in "abcd"], axis=1)
    data, ranker = {"d": (X, Y)}, NeighborsLabelRanker(n_neighbors=5)
    told = picked(written(tmp_path, data, {"neighbours": ranker}))
    look = predictions(data["d"], ranker)
    assert told["items"] == ["a", "b", "c", "d"]
    assert len(told["rows"]) == len(X)
    values = [row["value"] for row in told["rows"]]
    assert values == sorted(values)
    for row in told["rows"]:
        i = int(row["name"])
        known = ~np.isnan(Y.iloc[i])
        assert [rank is not None for rank in row["true"]] == known.tolist()
        assert row["predicted"] == look.predicted[i].tolist()
        assert row["value"] == pytest.approx(look.tau[i], abs=5e-4)
        if row["why"] is not None:
            a, b = (told["items"].index(name) for name in row["why"]["pair"])
            assert row["true"][a] != row["true"][b]
            assert known.iloc[a]
            assert known.iloc[b]
    assert 5 < sum(row["why"] is not None for row in told["rows"]) < len(X)


def test_the_table_of_abstaining_begins_where_its_curve_does(tmp_path):
    X, Y, _ = problem(0, n=36)
    page = written(tmp_path, {"d": (X, Y)}, {"neighbours": NeighborsLabelRanker(n_neighbors=5)})
    section = tree(page).find(".//section[@id='uncertainty']")
    # Of 36 rows a quarter is nine, whose mean is not yet drawn.
    shares = [row.text for row in section.findall(".//tbody//th")]
    assert shares == ["100%", "90%", "75%", "50%"]


def test_the_script_reads_what_the_page_holds(page):
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    told = picked(page)
    assert set(re.findall(r"\bdata\.(\w+)", script)) <= told.keys()
    row = set(re.findall(r"\brow\.(\w+)", script)) - {"cells"}
    assert row <= told["rows"][0].keys() | {"item", "items"}


def test_figures_of_the_page_can_be_computed_from_the_rows_in_it(tmp_path):
    X, _, scores = problem(0, n=60)
    ranks = ranks_from_scores(scores, higher_is_better=True)
    data = {"d": (X, ranks, scores)}
    rankers = {
        "single best": ConsensusLabelRanker(),
        "neighbours": NeighborsLabelRanker(n_neighbors=5),
        "forest": ForestLabelRanker(9, random_state=0),
    }
    results = run_experiment(rankers, data, n_splits=5, use_scores=True)
    write_report(tmp_path / "page.html", results, data, rankers, scoring="regret")
    page = (tmp_path / "page.html").read_text("utf-8")
    rows = json.loads(re.search(r'id="per-row">(.*?)</script>', page).group(1))
    assert next(iter(rows["metrics"])) == "regret"
    assert rows["rows"] == list(range(60))
    shown = []
    board = tree(page).find(".//table[@id='board']/tbody")
    names = [cell.text.strip() for cell in board.iter("th")]
    for name, line in zip(names, board.iter("tr"), strict=True):
        cells = {cell.get("data-title"): cell for cell in line.iter("td")}
        for title, metric in (("regret", "regret"), ("tau", "tau")):
            values = np.array(rows["metrics"][metric][name], dtype=float)
            assert float(cells[title].get("data-value")) == pytest.approx(values.mean(), abs=1e-6)
            # That each model was trained on 48 of the 60 rows widens the interval.
            error = values.std(ddof=1) * np.sqrt(1 / 60 + 2 / 3 / 48)
            margin = stats.t.ppf(0.975, 59) * error
            assert f"± {margin:.3f}" in "".join(cells[title].itertext())
            shown.append((name, title))
        best = np.array(rows["metrics"]["regret"][names[0]])
        behind = (np.array(rows["metrics"]["regret"][name]) - best).mean()
        if name != names[0]:
            assert "".join(cells["behind the best"].itertext()) == f"{behind:.3f}"
            shown.append((name, "behind"))
    taus = [np.mean(rows["metrics"]["tau"][name]) for name in (names[0], "single best")]
    pairs = [f"{50 + 50 * tau:.1f}" for tau in taus]
    assert f"puts {pairs[0]} of 100 pairs" in page
    assert f"the baseline, single best, {pairs[1]}." in page
    assert len(shown) + len(pairs) >= 10
