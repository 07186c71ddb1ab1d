"""evaluate, run as a user runs it."""

import json

import numpy as np
import pandas as pd
import pytest

from cli_program import prefero_inside as prefero
from prefero.metrics import kendall_tau
from prefero.persistence import load
from prefero.rankings import ranks_from_scores

SCORES = ("--labels", "y_*", "--format", "scores", "--higher-is-better")


def table(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    scores = X @ [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0]] + rng.normal(0, 0.3, size=(n, 3))
    frame = pd.DataFrame(X, columns=["u", "v"])
    return frame.join(pd.DataFrame(scores, columns=["y_a", "y_b", "y_c"]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluated")
    table(0, 80).to_csv(folder / "train.csv", index=False)
    table(1, 60).to_csv(folder / "test.csv", index=False)
    for model in ("forest", "pairwise"):
        options = ("-o", folder / model, *SCORES, "--model", model)
        assert prefero("train", folder / "train.csv", *options).returncode == 0
    return folder


def test_a_saved_model_is_measured_on_new_rows(folder):
    done = prefero("evaluate", folder / "forest", folder / "test.csv", *SCORES, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    metrics = {row["metric"]: row for row in found["metrics"]}
    new = table(1, 60)
    truth = ranks_from_scores(new.filter(like="y_").to_numpy(), higher_is_better=True)
    predicted = load(folder / "forest").predict(new[["u", "v"]])
    assert metrics["tau"]["value"] == pytest.approx(kendall_tau(truth, predicted))
    assert found["summary"].startswith("On these 60 rows the model beats the single best label")


def test_labels_are_found_by_name(folder, tmp_path):
    shuffled = table(1, 60)[["y_c", "v", "y_a", "u", "y_b"]]
    shuffled.to_csv(tmp_path / "other.csv", index=False)
    runs = [
        prefero("evaluate", folder / "forest", path, *SCORES, "--json").stdout
        for path in (folder / "test.csv", tmp_path / "other.csv")
    ]
    assert runs[0] == runs[1]


def test_other_labels_are_refused(folder):
    done = prefero(
        "evaluate", folder / "forest", folder / "test.csv", *SCORES[2:], "--labels", "y_a,y_b"
    )
    assert done.returncode == 3
    assert "label 'y_c': the table has no such label" in done.stderr


def test_the_terminal_shows_intervals_and_the_baseline(folder):
    done = prefero("evaluate", folder / "pairwise", folder / "test.csv", *SCORES)
    assert done.returncode == 0, done.stderr
    head = done.stdout.splitlines()[0].split()
    assert head == "metric value 95% interval baseline better by".split()
    assert "beats the single best label" in done.stderr


def test_objects_are_measured_by_query(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"query": np.repeat(np.arange(20), 5), "x": rng.normal(size=100)})
    frame["grade"] = (frame["x"] + rng.normal(0, 0.3, 100) > 0).astype(int)
    frame.to_csv(tmp_path / "graded.csv", index=False)
    columns = ("--group", "query", "--grade", "grade")
    model = ("-o", tmp_path / "m", "--model", "regression")
    assert prefero("order", "train", tmp_path / "graded.csv", *model, *columns).returncode == 0
    done = prefero("evaluate", tmp_path / "m", tmp_path / "graded.csv", *columns, "--json")
    assert done.returncode == 0, done.stderr
    metrics = {row["metric"]: row for row in json.loads(done.stdout)["metrics"]}
    assert metrics["ndcg"]["value"] > 0.8
    assert metrics["ndcg"]["low"] < metrics["ndcg"]["value"] < metrics["ndcg"]["high"]
