"""The service under attack: hostile requests, a worker that is killed, a stop; a short run."""

import json
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from attack.requests import bombard
from attack.service import COMMAND, PATIENCE, Running, kill_under_load, read_answer, request
from prefero import ForestLabelRanker, save
from prefero.rankings import ranks_from_scores
from prefero.serve import create_app

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="which processes work is read from /proc"
)
FEATURES = ["size", "heat", "age"]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=FEATURES)
    ranks = ranks_from_scores(X.to_numpy() @ rng.normal(size=(3, 5)), higher_is_better=True)
    return ForestLabelRanker(n_estimators=10, random_state=0).fit(X, ranks)


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("service") / "forest.prefero"
    save(model, path)
    with Running([*COMMAND, str(path), "--max-seconds", "10"]) as server:
        yield server


@pytest.fixture(scope="module")
def answers(model):
    """What the model itself says to some requests, by their bodies."""
    client = TestClient(create_app({"forest": model}))
    rng = np.random.default_rng(1)
    rows = [dict(zip(FEATURES, row, strict=True)) for row in rng.normal(size=(20, 3)).tolist()]
    bodies = [json.dumps({"instances": [row]}).encode() for row in rows]
    headers = {"content-type": "application/json"}
    return {body: client.post("/rank", content=body, headers=headers).content for body in bodies}


def test_hostile_requests_are_refused(server, answers):
    seen, worst = bombard(server, FEATURES, 100)
    assert worst == []
    assert sum(seen.values()) == 100
    body, expected = next(iter(answers.items()))
    assert server.ask(request(body)) == (200, expected)


def test_a_killed_worker_is_replaced_and_nobody_is_told_wrong(server, answers):
    before = set(server.workers())
    told = kill_under_load(server, answers, kills=1)
    after = set(server.workers())
    assert told.wrong == 0
    assert told.right > 0
    assert len(after) == len(before) == 2
    assert len(after & before) == 1
    for body, expected in answers.items():
        assert server.ask(request(body)) == (200, expected)


def test_a_stop_finishes_what_runs(model, answers, tmp_path):
    save(model, tmp_path / "forest.prefero")
    table = ",".join(FEATURES) + "\n" + "0.5,1.5,-0.5\n" * 20_000
    wanted = request(table.encode(), "/rank.csv", **{"content-type": "text/csv"})
    with Running([*COMMAND, str(tmp_path / "forest.prefero")], workers=1) as server:
        with server.connect() as connection:
            connection.sendall(wanted[:-100])
            # Before the last bytes come, the service is told to stop.
            server.process.terminate()
            threading.Timer(0.5, connection.sendall, [wanted[-100:]]).start()
            status, answer = read_answer(connection)
        assert status == 200
        assert answer.count(b"\n") == 20_001
        assert server.process.wait(PATIENCE) is not None
