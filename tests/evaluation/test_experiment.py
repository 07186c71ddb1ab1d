"""Experiments: same folds for all, tidy results, and nothing finished is computed twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import make_scorer
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from prefero import ConsensusLabelRanker, RankSVMOrderer, TreeLabelRanker
from prefero.datasets import make_label_ranking
from prefero.evaluation import ResultTable, compare, run_experiment, summarize
from prefero.evaluation._data import DataSet
from prefero.evaluation._run_store import RunStore
from prefero.evaluation._tasks import gains_and_relevance
from prefero.metrics import gap_closed, kendall_tau, regret
from prefero.ordering import ranks_in_queries
from prefero.rankings import strict_ranks


class SpyRanker(BaseEstimator):
    """Remember the training data by files in a folder; predict the labels' order."""

    def __init__(self, folder=None, random_state=None):
        self.folder = folder
        self.random_state = random_state

    def fit(self, X, y):
        self.n_labels_ = y.shape[1]
        if self.folder is not None:
            np.savez(Path(self.folder) / f"{time.monotonic_ns()}.npz", X=X, y=y)
        return self

    def predict(self, X):
        return np.tile(np.arange(self.n_labels_) + 1, (len(X), 1))

    def seen(self):
        files = sorted(Path(self.folder).glob("*.npz"))
        return [dict(np.load(file)) for file in files]


def toy(n=30, c=4, seed=0):
    rng = np.random.default_rng(seed)
    return np.arange(n, dtype=float)[:, None], strict_ranks(rng.normal(size=(n, c)))


def bunch(X, Y):
    return Bunch(data=X, target=Y)


def without_seconds(table):
    columns = [name for name in table.columns if not name.endswith("seconds")]
    return ResultTable(table, columns)


def test_the_table_is_tidy():
    X, Y = toy()
    table = run_experiment(
        {"consensus": ConsensusLabelRanker()}, {"toy": (X, Y)}, n_splits=5, n_repeats=2
    )
    assert table.columns[:5] == ("dataset", "ranker", "missing", "repetition", "fold")
    assert [(row["repetition"], row["fold"]) for row in table] == [
        (r, f) for r in range(2) for f in range(5)
    ]
    assert (table["fit_seconds"] >= 0).all()
    assert np.isnan(table["regret"]).all()
    assert len(table.to_frame()) == 10


def test_runs_hold_the_metrics_of_their_own_fold(tmp_path):
    X, Y = toy()
    spy = SpyRanker(str(tmp_path))
    table = run_experiment({"spy": spy}, {"toy": (X, Y, -Y)}, n_splits=3)
    for row, seen in zip(table, spy.seen(), strict=True):
        test = np.setdiff1d(X, seen["X"]).astype(int)
        predicted = np.tile([1, 2, 3, 4], (len(test), 1))
        assert row["tau"] == pytest.approx(kendall_tau(Y[test], predicted), abs=1e-12)
        assert row["regret"] == regret(-Y[test], predicted)


def test_every_ranker_sees_the_same_folds_and_the_same_missing_labels(tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    rankers = {folder.name: SpyRanker(str(folder)) for folder in folders}
    run_experiment(rankers, {"toy": toy()}, n_splits=3, missing=(0.0, 0.4))
    first, second = (ranker.seen() for ranker in rankers.values())
    assert len(first) == 6
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one["X"], other["X"])
        np.testing.assert_array_equal(one["y"], other["y"])


def test_missing_labels_are_dropped_from_training_rankings_only(tmp_path):
    X, Y = toy(n=60)
    spy = SpyRanker(str(tmp_path))
    table = run_experiment({"spy": spy}, {"toy": (X, Y)}, n_splits=3, missing=(0.5,))
    complete = run_experiment({"spy": SpyRanker()}, {"toy": (X, Y)}, n_splits=3)
    np.testing.assert_array_equal(table["tau"], complete["tau"])
    shares = [np.isnan(seen["y"]).mean() for seen in spy.seen()]
    assert all(0.25 < share < 0.65 for share in shares)
    assert not any(np.isnan(seen["y"]).all(axis=1).any() for seen in spy.seen())


def test_the_rows_do_not_depend_on_what_else_is_run_or_on_the_number_of_jobs():
    rankers = {"a": ConsensusLabelRanker(), "b": SpyRanker()}
    data = {"one": toy(seed=1), "two": lambda: bunch(*toy(seed=2))}
    whole = run_experiment(rankers, data, n_splits=3, n_repeats=2, missing=(0, 0.3), n_jobs=2)
    part = run_experiment({"b": SpyRanker()}, {"two": toy(seed=2)}, n_splits=3, missing=(0.3,))
    same = whole.where(ranker="b", dataset="two", missing=0.3, repetition=0)
    assert without_seconds(same) == without_seconds(part)


def grouped_rows(spy):
    return [set(seen["X"][:, 0].astype(int) // 5) for seen in spy.seen()]


def test_rows_of_a_group_are_never_divided(tmp_path):
    spy = SpyRanker(str(tmp_path))
    groups = np.arange(30) // 5
    table = run_experiment({"spy": spy}, {"toy": toy()}, n_splits=3, groups={"toy": groups})
    assert [row["test_rows"] for row in table] == [10, 10, 10]
    trained = grouped_rows(spy)
    assert [len(members) for members in trained] == [4, 4, 4]
    assert set.intersection(*trained) == set()


def test_any_splitter_makes_the_folds(tmp_path):
    spy = SpyRanker(str(tmp_path))
    groups = {"toy": np.arange(30) // 10}
    arguments = {"rankers": {"spy": spy}, "data": {"toy": toy()}}
    table = run_experiment(**arguments, groups=groups, cv=LeaveOneGroupOut())
    assert table["fold"].tolist() == [0, 1, 2]
    official = [(np.arange(20), np.arange(20, 30)), (np.arange(10, 30), np.arange(10))]
    table = run_experiment(**arguments, cv=iter(official), missing=(0.0, 0.2))
    assert table["fold"].tolist() == [0, 1, 0, 1]
    assert table["train_rows"].tolist() == [20] * 4
    with pytest.raises(ValueError, match="n_repeats goes with n_splits"):
        run_experiment(**arguments, cv=LeaveOneGroupOut(), n_repeats=2)


def test_rows_that_repeat_their_features_are_wondered_about():
    X, Y = np.repeat(np.random.default_rng(0).normal(size=(6, 4)), 5, axis=0), toy()[1]
    ranker = {"a": SpyRanker()}
    with pytest.warns(UserWarning, match="30 rows of toy repeat the features of another row"):
        run_experiment(ranker, {"toy": (X, Y)}, n_splits=2)
    run_experiment(ranker, {"toy": (X, Y)}, n_splits=2, groups={"toy": np.arange(30) // 5})
    with pytest.raises(ValueError, match="has 6 groups, too few for 10 folds"):
        run_experiment(ranker, {"toy": (X, Y)}, groups={"toy": np.arange(30) // 5})
    with pytest.raises(ValueError, match="groups name 'other'"):
        run_experiment(ranker, {"toy": (X, Y)}, groups={"other": np.arange(30)})


class TyingRanker(SpyRanker):
    def predict_buckets(self, X):
        return np.tile([1, 2, 2, 2], (len(X), 1))


def test_further_measures_see_the_unseen_rows():
    X, Y = toy()
    measures = {"rows": lambda model, X, ranks: len(X) + 100 * len(ranks)}
    table = run_experiment({"a": SpyRanker()}, {"toy": (X, Y)}, n_splits=3, metrics=measures)
    assert table["rows"].tolist() == [1010.0] * 3


def test_tau_x_asks_for_ties_where_there_are_some():
    X, Y = toy()
    rankers = {"strict": SpyRanker(), "tying": TyingRanker()}
    strict = run_experiment(rankers, {"toy": (X, Y)}, n_splits=2)
    np.testing.assert_array_equal(strict["tau_x"], strict["tau"])
    tied = run_experiment(rankers, {"toy": (X, np.tile([1, 2, 2, 2], (30, 1)))}, n_splits=2)
    assert tied.where(ranker="tying")["tau_x"].tolist() == [1, 1]
    assert tied.where(ranker="strict")["tau_x"].tolist() == [0.5, 0.5]


def test_pipelines_are_rankers_too():
    pipeline = make_pipeline(StandardScaler(), ConsensusLabelRanker())
    table = run_experiment({"pipeline": pipeline}, {"toy": toy()}, n_splits=2)
    assert len(table) == 2


def test_an_unset_random_state_is_seeded_and_a_set_one_kept():
    rankers = {"free": SpyRanker(), "fixed": SpyRanker(random_state=7)}
    details = {"state": lambda model: model.random_state}
    tables = [run_experiment(rankers, {"t": toy()}, n_splits=3, details=details) for _ in "ab"]
    free = tables[0].where(ranker="free")["state"]
    assert len(set(free)) == 3
    np.testing.assert_array_equal(free, tables[1].where(ranker="free")["state"])
    assert set(tables[0].where(ranker="fixed")["state"]) == {7}


def test_a_second_run_in_the_same_folder_computes_only_what_is_new(tmp_path):
    spy = SpyRanker(str(tmp_path))
    folder = tmp_path / "cells"
    arguments = {"data": {"toy": toy()}, "n_splits": 3, "folder": folder}
    first = run_experiment({"spy": spy}, **arguments)
    assert run_experiment({"renamed": spy}, **arguments)["tau"].tolist() == first["tau"].tolist()
    assert len(spy.seen()) == 3
    run_experiment({"spy": spy}, **arguments, n_repeats=2)
    assert len(spy.seen()) == 6


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"toy": toy(seed=1)}},
        {"data": {"other": toy()}},
        {"n_splits": 4},
        {"random_state": 1},
        {"missing": (0.1,)},
        {"details": {"one": lambda model: 1.0}},
    ],
)
def test_whatever_determines_a_cell_is_part_of_its_key(tmp_path, change):
    spy = SpyRanker(str(tmp_path))
    arguments = {"data": {"toy": toy()}, "n_splits": 3, "folder": tmp_path / "cells"}
    run_experiment({"spy": spy}, **arguments)
    run_experiment({"spy": spy}, **(arguments | change))
    assert len(spy.seen()) == 3 + change.get("n_splits", 3)


def test_a_changed_parameter_is_a_new_cell(tmp_path):
    spy = SpyRanker(str(tmp_path))
    arguments = {"data": {"toy": toy()}, "n_splits": 3, "folder": tmp_path / "cells"}
    run_experiment({"spy": spy}, **arguments)
    run_experiment({"spy": spy.set_params(random_state=5)}, **arguments)
    assert len(spy.seen()) == 6


def test_a_torn_last_line_costs_that_cell_only(tmp_path):
    store = RunStore(tmp_path)
    store.add("a", {}, {"tau": 0.1, "regret": float("nan")})
    store.add("b", {}, {"tau": 0.2})
    file = tmp_path / "runs.jsonl"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.warns(UserWarning, match="1 of 2 lines"):
        torn = RunStore(tmp_path)
    assert torn["a"]["tau"] == 0.1
    assert np.isnan(torn["a"]["regret"])
    assert "b" not in torn
    torn.add("c", {}, {"tau": 0.3})
    with pytest.warns(UserWarning, match="1 of 3 lines"):
        again = RunStore(tmp_path)
    assert "a" in again
    assert again["c"] == {"tau": 0.3}


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"key": 3, "values": {}}',
        b'{"key": "k", "values": [1]}',
        b'{"key": "k", "values": {"tau": "high"}}',
        b"null",
        b"\xff\xfe",
        b"1" * 5000,
    ],
    ids=lambda line: repr(line[:20]),
)
def test_damaged_and_foreign_lines_are_skipped_and_counted(tmp_path, line):
    store = RunStore(tmp_path)
    store.add("a", {}, {"tau": 0.1})
    with open(tmp_path / "runs.jsonl", "ab") as file:
        file.write(line + b"\n")
    with pytest.warns(UserWarning, match="1 of 2 lines are not finished runs"):
        again = RunStore(tmp_path, ["tau"])
    assert "a" in again
    assert "k" not in again


def test_a_cell_that_measured_something_else_is_computed_again(tmp_path):
    RunStore(tmp_path).add("a", {}, {"tau": 0.1})
    assert "a" not in RunStore(tmp_path, ["tau", "rho"])


SLOW_RUN = """
import sys, time
import numpy as np
from sklearn.base import BaseEstimator
from prefero.evaluation import run_experiment

class Slow(BaseEstimator):
    def fit(self, X, y):
        with open(sys.argv[1] + "/fits", "a") as log:
            log.write("fit\\n")
        time.sleep(float(sys.argv[2]))
        self.center_ = np.argsort(np.argsort(y.mean(axis=0))) + 1
        return self

    def predict(self, X):
        return np.tile(self.center_, (len(X), 1))

rng = np.random.default_rng(0)
data = {"toy": (rng.normal(size=(60, 2)), np.argsort(rng.normal(size=(60, 4)), axis=1) + 1)}
table = run_experiment(
    {"slow": Slow()}, data, n_splits=10, n_repeats=2, missing=(0, 0.3), folder=sys.argv[1]
)
table.to_frame().drop(columns=["fit_seconds", "predict_seconds"]).to_csv(sys.argv[1] + "/table.csv")
"""


def test_killing_a_run_loses_at_most_the_running_ones(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(SLOW_RUN)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()

    def start(folder, pause):
        return subprocess.Popen([sys.executable, str(script), str(folder), str(pause)])

    run = start(killed, 0.1)
    cells = killed / "runs.jsonl"
    deadline = time.monotonic() + 60
    while not cells.exists() or cells.read_bytes().count(b"\n") < 5:
        assert time.monotonic() < deadline, "nothing is written"
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    finished = cells.read_bytes().count(b"\n")
    fits = len((killed / "fits").read_text().splitlines())
    assert 5 <= finished <= fits <= finished + 1 < 40

    for folder in (killed, whole):
        assert start(folder, 0).wait() == 0
    assert len((killed / "fits").read_text().splitlines()) == fits + 40 - finished
    assert (killed / "table.csv").read_text() == (whole / "table.csv").read_text()
    assert all(
        json.loads(line)["run"]["dataset"] == "toy" for line in cells.read_text().splitlines()
    )


def test_progress_is_reported_to_a_function(tmp_path):
    calls = []
    arguments = {"data": {"toy": toy()}, "n_splits": 3, "folder": tmp_path}
    run_experiment({"a": SpyRanker()}, **arguments, progress=lambda *call: calls.append(call))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    run_experiment({"a": SpyRanker()}, **arguments, progress=lambda *call: calls.append(call))
    assert len(calls) == 3


class BrokenRanker(SpyRanker):
    def predict(self, X):
        raise OSError("no such luck")


def test_a_failing_ranker_is_named_with_its_place():
    with pytest.raises(RuntimeError, match=r"bad failed on toy \(missing 0, .*no such luck"):
        run_experiment({"bad": BrokenRanker()}, {"toy": toy()}, n_splits=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"missing": (1.5,)}, "probabilities"),
        ({"data": {"toy": (1, 2, 3, 4, 5)}}, r"data\['toy'\] must be"),
        ({"data": {"toy": ([[0.0]] * 2, [[0.3, 0.2]] * 2)}}, "Y of toy.*scores"),
        ({"n_splits": 50}, "too few for 50 folds"),
        ({"data": {}}, "nothing to run"),
        ({"progress": 3}, "progress must be"),
    ],
)
def test_bad_input_stops_before_any_work(change, message):
    arguments = {"data": {"toy": toy()}, "n_splits": 2} | change
    with pytest.raises(ValueError, match=message):
        run_experiment({"a": SpyRanker()}, **arguments)


def test_summarize_gives_mean_and_deviation_and_skips_undefined_values():
    rows = [
        {"dataset": "d", "ranker": "r", "missing": 0.0, "fold": i, "tau": t, "regret": float("nan")}
        for i, t in enumerate([0.1, 0.3, float("nan")])
    ]
    (row,) = summarize(ResultTable(rows))
    assert row["runs"] == 3
    assert row["tau"] == pytest.approx(0.2)
    assert row["tau_sd"] == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert np.isnan(row["regret"])


def test_tables_add_select_and_print():
    table = ResultTable([{"a": "x|y", "b": 1.0}]) + ResultTable([{"a": "z", "c": 2}])
    assert table.columns == ("a", "b", "c")
    assert np.isnan(table[1]["b"])
    assert table == table[:2]
    assert "x\\|y" in table.to_text()
    assert len(table.where(a="z")) == 1
    with pytest.raises(KeyError, match="no column 'd'"):
        table["d"]


def test_orderers_are_tried_on_objects_of_other_groups():
    X = np.arange(24.0).reshape(12, 2)
    objects = (X, np.tile([3.0, 2.0, 1.0], 4))
    groups = {"toy": np.repeat(np.arange(4), 3)}
    table = run_experiment({"svm": RankSVMOrderer()}, {"toy": objects}, n_splits=2, groups=groups)
    assert table["rho"].tolist() == [1.0, 1.0]
    assert table["test_rows"].tolist() == [6.0, 6.0]


def test_the_direction_of_a_metric_is_part_of_it():
    X, Y = make_label_ranking(60, 3, 3, random_state=0)
    rankers = {"tree": TreeLabelRanker(), "consensus": ConsensusLabelRanker()}
    wrong = lambda model, X, y: 1 - kendall_tau(y, model.predict(X))  # noqa: E731
    metrics = {"error": (wrong, False), "other": wrong}
    results = run_experiment(rankers, {"d": (X, Y)}, n_splits=3, metrics=metrics)
    assert compare(results, scoring="error").best == compare(results, scoring="tau").best == "tree"
    with pytest.raises(ValueError, match="give greater_is_better"):
        compare(results, scoring="other")
    scorer = make_scorer(lambda y, found: 1 - kendall_tau(y, found), greater_is_better=False)
    results = run_experiment(rankers, {"d": (X, Y)}, n_splits=3, metrics={"error": scorer})
    assert compare(results, scoring="error").best == "tree"


def test_a_label_without_scores_in_a_fold_is_no_error():
    X, Y = make_label_ranking(30, 2, 3, random_state=0)
    scores = -Y.copy()
    scores[:, 2] = np.nan
    scores[0, 2] = 1.0
    table = run_experiment({"tree": TreeLabelRanker()}, {"d": (X, Y, scores)}, n_splits=5)
    assert np.isfinite(table["gap_closed"]).any()


def test_the_gap_closed_ignores_a_label_without_scores():
    scores = np.array([[9.0, np.nan, 5], [9, np.nan, 5], [1, np.nan, 7]])
    ranks = np.array([[1, 2, 3], [1, 2, 3], [3, 2, 1]])
    assert gap_closed(scores, ranks) == 1
    # Where the single best of the training rows has no score, the next best label counts.
    assert gap_closed(scores, ranks, single_best=1) == 1


def test_every_fold_has_the_same_gains():
    """Grades up to 12 are scores, also in a fold whose grades end at 10."""
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 11, 40).astype(float)
    grades[:4] = [12, 0, 3, 12]
    qid, X = np.repeat(np.arange(10), 4), rng.normal(size=(40, 2))
    ranks = ranks_in_queries(grades, qid, higher_is_better=True)
    data = DataSet(X, ranks, grades, np.arange(1), "", qid)
    for rows in (np.arange(4), np.arange(4, 40)):
        np.testing.assert_array_equal(gains_and_relevance(data, rows)[0], grades[rows])
