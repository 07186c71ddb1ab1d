"""The pages of the papers on the KEBI sets: what they are made of, and that they are made."""

import sys

import cheng2009
import desa2017
import numpy as np
import pytest
from c45 import C45
from kebi import agreement, item
from sklearn.datasets import load_iris, load_wine

from cli_program import prefero_inside as prefero
from prefero.consensus import borda
from prefero.datasets import make_label_ranking
from prefero.evaluation import ResultTable


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_stand_in_for_j48_has_its_size(load):
    # WEKA's J48 prints five leaves for both.
    data = load()
    assert C45().fit(data.data, data.target, 3).n_leaves() == 5
    assert C45(prune=False).fit(data.data, data.target, 3).n_leaves() > 5


def test_noise_is_pruned_to_a_leaf():
    rng = np.random.default_rng(0)
    X, classes = rng.random((200, 3)), (rng.random(200) < 0.05).astype(int)
    assert C45().fit(X, classes, 2).n_leaves() == 1


def test_agreement_is_judged_by_the_mean_over_sets():
    rows = [
        {"dataset": "a", "X": 0.5, "X (published)": 0.52},
        {"dataset": "b", "X": 0.5, "X (published)": np.nan},
        {"dataset": "c", "X": 0.5, "X (published)": 0.48},
        {"dataset": "mean of 2", "X": 0.5, "X (published)": 9.0},
    ]
    met, words = agreement(ResultTable(rows), "X")
    assert met == "partly"
    assert "0.020 apart on average of 2 sets" in words
    assert agreement(ResultTable(rows), "X", near=0.021)[0] == "yes"
    assert agreement(ResultTable(rows), "X", near=0.001)[0] == "no"
    assert item("Table 1", "here", ("yes", "u"), ("no", "v")) == (
        "Table 1",
        "here",
        "partly",
        "u; v",
    )


def test_de_sa_2017_table_2():
    ranks = [[1, 3, 2, 4], [2, 1, 4, 3]]
    np.testing.assert_array_equal(np.mean(ranks, axis=0), [1.5, 2, 3, 3.5])
    np.testing.assert_array_equal(borda(ranks), [1, 2, 3, 4])


def test_de_sa_2017_where_a_forest_loses_and_which_trees_are_deeper():
    trees = ResultTable(
        [{"dataset": "u", "RT": 0.5, "ERT": 0.4, "RT (published)": 0.5, "ERT (published)": 0.4}]
    )
    forests = ResultTable(
        [
            {"dataset": "u", "LRF-RT": 0.4, "LRF-ERT": 0.5}
            | {"LRF-RT (published)": 0.6, "LRF-ERT (published)": 0.3}
        ]
    )
    met, words = desa2017.losses_of_forests(trees, forests)
    assert met == "no"
    assert words.startswith("a forest loses on u (RT); by the printed tables on u (ERT)")
    met, words = desa2017.deeper(trees)
    assert (met, words) == ("yes", "ERT is deeper on no set; in the paper on no set")


def test_de_sa_2017_signs_of_the_text():
    rows = [
        {"quantity": f"{measure}, {one} less {other}", "ours": ours}
        for (one, other, measure, _), ours in zip(
            desa2017.DIFFERENCES, ("+0.02", "-0.5", "+0.04", "+0.7"), strict=True
        )
    ]
    met, words = desa2017.told(ResultTable(rows))
    assert met == "partly"
    assert "other sign: tau, LRF-ERT less ERT;" in words


def sizes(ratio):
    variants = ("LRT, 2n examples / C4.5", "LRT, 2 examples / C4.5")
    tables = {
        cheng2009.size_head(rate): ResultTable(
            [{"dataset": "u", "published": 2.0} | dict.fromkeys(variants, 2.0 * ratio)]
        )
        for rate in cheng2009.RATES
    }
    fits = [{"labels missing": "0%"} | dict(zip(variants, (ratio, ratio + 1), strict=True))]
    return tables | {cheng2009.FITS: ResultTable(fits)}


def test_cheng_2009_tree_sizes_are_judged_by_how_far_they_are():
    near, small = cheng2009.of_sizes(sizes(1.1))
    assert near[2] == "yes"
    assert near[3].endswith("beyond a factor of two on no set")
    assert small[2] == "partly"
    far, _ = cheng2009.of_sizes(sizes(3.0))
    assert far[2] == "no"
    assert far[3].endswith("on u (3.0)")


def test_cheng_2009_reliability_is_judged_by_its_size():
    for rho, verdict in ((0.9, "yes"), (0.4, "no")):
        rows = [{"dataset": "u", "IBLR, 0%": 0.9, "LRT, 0%": rho}]
        met, words = cheng2009.reliable({cheng2009.RELIABILITY: ResultTable(rows)})
        assert met == verdict
        assert f"LRT {rho:.2f} on average, above 0 in 1 of 1" in words


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Small sets under the names of two of the collection."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "kebi").mkdir()
    for seed, name in enumerate(("iris", "housing")):
        X, Y = make_label_ranking(30, n_features=2, n_labels=3, random_state=seed)
        rows = np.column_stack([X.round(5), Y]).tolist()
        lines = [",".join(f"{value:g}" for value in row) for row in rows]
        (folder / "kebi" / f"{name}.csv").write_text("\n".join(["30,2,3", *lines]))
    return folder


@pytest.mark.parametrize(
    ("paper", "more", "heads"),
    [
        ("desa2017", (), ["Table 3", "Table 5", "Table 8: totals", "What the paper"]),
        ("cheng2009", ("--methods", "IBLR", "LRT", "CC"), ["Table 1", "Figure 1", "LRT by the"]),
    ],
)
def test_a_page_has_every_table_and_ends_with_what_was_met(
    paper, more, heads, data, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("PREFERO_DATA", "")
    page = tmp_path / "page.md"
    where = ("--data", data, "--output", page)
    sets = ("--sets", "iris", "housing")
    done = prefero("reproduce", paper, "--quick", *where, *sets, *more)
    assert done.returncode == 0, done.stderr
    text = page.read_text("utf-8")
    for head in heads:
        assert f"\n## {head}" in text
    last = text.partition("## Every table and figure of the paper")[2]
    assert "| Table" in last
    assert "| Figure 1" in last
