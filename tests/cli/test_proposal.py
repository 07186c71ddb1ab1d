"""The command that check proposes."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from cli_program import prefero_inside as prefero

RNG = np.random.default_rng(0)
N = 40
X = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["size", "f_weight"])
RANKS = pd.DataFrame([RNG.permutation(3) + 1 for _ in range(N)], columns=["r_a", "r_b", "r_c"])
SCORES = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["score a", "score b", "score c"])
TIMES = pd.DataFrame(RNG.exponential(size=(N, 3)), columns=["time_a", "time_b", "time_c"])
COSTS = pd.DataFrame(RNG.exponential(size=(N, 3)), columns=["price a", "price b", "price c"])
RELEVANT = pd.DataFrame(RNG.integers(0, 2, (N, 3)), columns=["y_a", "y_b", "y_c"])
ORDERS = pd.DataFrame({"choice": RNG.choice(["tea > milk", "milk > tea > beer"], N)})
OTHERS = pd.DataFrame(
    {
        "id": np.arange(N),
        "person": np.arange(N) // 4,
        "prompt": [f"why is the sky {i} times as blue" for i in range(N)],
    }
)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (RANKS, ["--labels", "r_*"]),
        (SCORES, ["--labels", "score *", "--format", "scores", "--higher-is-better"]),
        (TIMES, ["--labels", "time_*", "--format", "scores", "--lower-is-better"]),
        (RELEVANT, ["--labels", "y_*", "--format", "relevance"]),
        (ORDERS, ["--labels", "choice", "--format", "orders"]),
    ],
    ids=["ranks", "scores", "times", "relevance", "orders"],
)
def test_the_proposed_command_reads_the_table(tmp_path, monkeypatch, target, options):
    monkeypatch.chdir(tmp_path)
    X.join(OTHERS).join(target).to_csv("data.csv", index=False)
    done = prefero("check", "data.csv", "--json")
    proposed = shlex.split(json.loads(done.stdout)["next_command"])
    roles = ["--ignore", "id", "--text", "prompt", "--groups", "person"]
    assert proposed == ["prefero", "compare", "data.csv", *options, *roles, "--quick"]
    done = prefero(*proposed[1:], "--rankers", "consensus")
    assert done.returncode == 0, done.stderr
    assert "Next: prefero compare data.csv" in prefero("check", "data.csv").stderr


def test_costs_are_recognized_by_the_names_of_the_labels(tmp_path):
    SCORES.join(COSTS).join(X).to_csv(tmp_path / "data.csv", index=False)
    done = prefero("check", tmp_path / "data.csv")
    assert "--cost 'price *' --cost-weight 0" in done.stderr


def test_what_was_said_already_is_kept(tmp_path):
    SCORES.set_axis(list("abc"), axis=1).join(X).to_csv(tmp_path / "data.csv", index=False)
    reading = ("--labels", "a,b,c", "--format", "scores", "--lower-is-better")
    done = prefero("check", tmp_path / "data.csv", *reading)
    assert "--labels a,b,c --format scores --lower-is-better --quick" in done.stderr


def test_without_rankings_there_is_nothing_to_propose(tmp_path):
    X.to_csv(tmp_path / "data.csv", index=False)
    done = prefero("check", tmp_path / "data.csv", "--json")
    assert json.loads(done.stdout)["next_command"] == ""
    assert "Which columns hold the rankings?" in prefero("check", tmp_path / "data.csv").stderr
