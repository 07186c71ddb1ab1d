"""Scores reach the rankers of the command line where the metric asks what labels are worth."""

import json

import numpy as np
import pandas as pd
import pytest

from cli_program import prefero_inside as prefero
from prefero import load
from prefero._pipelines import final_step

READING = ("--labels", "a,b", "--format", "scores", "--higher-is-better")


@pytest.fixture(scope="module")
def stakes(tmp_path_factory):
    """In six of ten rows a is a little better, in the others b is so by far."""
    rng = np.random.default_rng(0)
    often = np.arange(80) % 10 < 6
    frame = pd.DataFrame({"x": rng.normal(size=80), "a": 0.0, "b": np.where(often, -0.1, 10.0)})
    path = tmp_path_factory.mktemp("stakes") / "stakes.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("model", ["forest", "pairwise", "loglinear", "neighbors"])
@pytest.mark.parametrize(("measure", "first"), [("tau", "a"), ("regret", "b"), ("utility", "b")])
def test_a_trained_model_minds_what_is_at_stake(stakes, tmp_path, model, measure, first):
    out = tmp_path / "m.prefero"
    done = prefero("train", stakes, "-o", out, *READING, "--model", model, "--metric", measure)
    assert done.returncode == 0, done.stderr
    ranker = load(out)
    chosen = ranker.predict_order(pd.DataFrame({"x": np.linspace(-1, 1, 21)}))[:, 0]
    assert np.mean(chosen == first) > 0.5
    if model == "forest":
        assert ("regret" in final_step(ranker).shrinkage_path_) == (measure != "tau")


def test_comparison_trains_by_the_measure_too(stakes):
    def regret(measure):
        rankers = ("--rankers", "forest", "--folds", "4", "--metric", measure)
        done = prefero("compare", stakes, *READING, *rankers, "--json")
        rows = {row["ranker"]: row for row in json.loads(done.stdout)["results"]}
        return rows["forest"]["regret"]

    assert regret("regret") < regret("tau") / 2


def test_scores_are_compared_with_the_single_best_label(stakes):
    rankers = ("--rankers", "forest", "--folds", "4", "--metric", "regret")
    done = prefero("compare", stakes, *READING, *rankers, "--json")
    found = json.loads(done.stdout)
    baseline = next(row for row in found["results"] if row["ranker"] == "single best: b")
    # By ranks it would choose a, whose regret is 4.
    assert baseline["regret"] == pytest.approx(0.06)
    assert baseline["gap_closed"] == pytest.approx(0)
    (virtual,) = found["reference_choices"]["stakes"]
    assert (virtual["ranker"], virtual["regret"], virtual["gap_closed"]) == ("virtual best", 0, 1)
    told = prefero("compare", stakes, *READING, *rankers)
    assert "the baseline, single best: b, on unseen rows" in " ".join(told.stderr.split())
    assert told.stdout.splitlines()[-1].split()[:2] == ["virtual", "best"]


def test_scores_are_compared_by_value_unless_asked_otherwise(stakes):
    def compared(*metric):
        rankers = ("--rankers", "forest", "--folds", "4", "--json")
        return json.loads(prefero("compare", stakes, *READING, *rankers, *metric).stdout)

    assert compared()["metric"] == "regret"
    by_tau = compared("--metric", "tau")
    assert by_tau["rankers"] == ["consensus", "forest"]
    # The best choice for everyone stands beside rankers that were trained on ranks alone.
    single, virtual = by_tau["reference_choices"]["stakes"]
    assert (single["ranker"], single["regret"]) == ("single best: b", pytest.approx(0.06))
    assert virtual["utility"] == pytest.approx(single["utility"] + 0.06)


def test_ranks_know_no_stakes(stakes, tmp_path):
    ranks = tmp_path / "ranks.csv"
    prefero("convert", stakes, ranks, *READING, "--to", "ranks")
    done = prefero("compare", ranks, "--labels", "a,b", "--metric", "regret")
    assert done.returncode == 3
    assert "needs scores" in done.stderr
