"""The benchmark of real preferences: what its tables are made of."""

import numpy as np
import real

from prefero.evaluation import ResultTable


def test_a_table_stands_beside_the_constant_order_and_ends_with_the_means():
    figures = {"one": (0.1, 0.3), "two": (0.2, 0.6)}
    rows = [
        {"dataset": name, "ranker": ranker, "fold": 0, "tau": tau, "regret": np.nan}
        for name, taus in figures.items()
        for ranker, tau in zip((real.CONSTANT, "Forest"), taus, strict=True)
    ]
    table = real.by_set(ResultTable(rows), "tau")
    assert table.columns == ("dataset", real.CONSTANT, "Forest")
    assert table["dataset"].tolist() == ["one", "two", "mean of 2"]
    np.testing.assert_allclose(table["Forest"], [0.3, 0.6, 0.45])
    assert not len(real.by_set(ResultTable(rows), "regret"))


def test_the_gap_closed_is_none_for_the_single_best_and_all_for_the_best_of_each():
    scores = -np.array([[1.0, 9.0, 5.0], [1.0, 9.0, 5.0], [9.0, 1.0, 5.0], [1.0, 5.0, 9.0]] * 3)
    folds = np.repeat([0, 1, 2], 4)
    data = real.Real(np.zeros((12, 1)), np.ones((12, 3)), scores, folds, par10=True)
    # The first is best on average, and loses 8 on one row of each fold.
    losses = {"single": 2.0, "virtual": 0.0, "worse": 4.0}
    rows = [
        {"ranker": name, "regret": loss, "test_rows": 4.0}
        for name, loss in losses.items()
        for _ in range(3)
    ]
    assert real.gaps_closed(ResultTable(rows), data) == {"single": 0, "virtual": 1, "worse": -1}


def test_every_set_is_read(benchmarks):
    found = real.find_sets()
    assert {"beans", "sushi3a", "QBF-2011", "german2005", "iris (ties)"} <= set(found)
    scenario = found["QBF-2011"]()
    assert scenario.par10
    assert scenario.scores.shape == scenario.ranks.shape
    assert len(scenario.splits()) == 10
    election = found["german2005"]()
    assert not np.isnan(election.X).any()
    assert election.ranks.shape[1] == 5


def test_a_part_of_a_set_keeps_its_folds_and_scores_together():
    whole = real.Real(np.arange(10.0)[:, None], np.ones((10, 2)), np.eye(10)[:, :2], np.arange(10))
    part = whole.first(4)
    np.testing.assert_array_equal(part.X[:, 0], part.folds)
    np.testing.assert_array_equal(part.folds, [0, 3, 6, 9])
    np.testing.assert_array_equal(part.scores, whole.scores[part.folds])
    assert whole.first(None) is whole
    assert whole.first(10) is whole


def test_every_set_is_named_with_its_licence():
    scenario = real.Real(np.ones((3, 1)), np.ones((3, 2)), np.ones((3, 2)), np.arange(3))
    assert real.describe("SAT", scenario)["licence"] == "GPL-3"
    tied = real.describe("iris (ties)", real.Real(np.ones((3, 1)), np.ones((3, 2))))
    assert (tied["ties"], tied["rows"], tied["labels"]) == ("yes", 3, 2)
    assert "MORE-PLR" in tied["source"]
    strict = real.describe("beans", real.Real(np.ones((1, 1)), np.array([[1.0, 2.0]])))
    assert (strict["ties"], strict["licence"]) == ("no", "GPL-3")


def test_figures_are_stored_with_what_made_them(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["real.py", "--rows", "9", "--store", str(tmp_path / "x.csv")])
    row = {"dataset": "one", "ranker": real.CONSTANT, "cells": 5, "tau": 1 / 3}
    real.store(ResultTable([row]), tmp_path / "x.csv")
    made, head, figures = (tmp_path / "x.csv").read_text().splitlines()
    assert made.endswith(": prefero reproduce real --rows 9")
    assert (head, figures) == ("dataset,ranker,cells,tau", "one,consensus order,5,0.333333")


def test_the_constant_order_is_among_any_rankers():
    assert list(real.some_rankers(["Forest"])) == [
        real.CONSTANT,
        f"{real.CONSTANT} (Kemeny)",
        "Forest",
    ]
