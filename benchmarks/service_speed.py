"""How fast the service is, beside the same server with an empty handler."""

import json
import os
import statistics
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from attack.service import COMMAND, Client, Running, request
from prefero import ForestLabelRanker, save
from prefero.rankings import ranks_from_scores

# Requests a second over all workers, or this share of what the empty handler answers.
GOAL, SHARE = 2000.0, 0.6
SHAPE = {"rows": 528, "features": 10, "labels": 11}


def trained(path: Path) -> dict[str, float]:
    """Save a hundred trees on data of the shape of vowel; return an instance."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(SHAPE["rows"], SHAPE["features"]))).add_prefix("x")
    scores = X.to_numpy() @ rng.normal(size=(SHAPE["features"], SHAPE["labels"]))
    ranks = ranks_from_scores(scores + rng.normal(size=scores.shape), higher_is_better=True)
    save(ForestLabelRanker(random_state=0).fit(X, ranks), path)
    return X.iloc[0].to_dict()


def empty() -> object:
    """An application that reads the same request and sends the answer of the environment."""
    from fastapi import FastAPI, Response

    from prefero.serve._schemas import RankRequest

    app, content = FastAPI(), os.environ["EMPTY_ANSWER"].encode()

    @app.post("/rank")
    async def rank(wanted: RankRequest) -> Response:
        return Response(content, media_type="application/json")

    return app


def bare() -> object:
    """The least that the server can be asked to do: no framework, no look at the request."""
    content = os.environ["EMPTY_ANSWER"].encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(content))]

    async def app(scope: dict, receive: object, send: object) -> None:
        if scope["type"] == "http":
            await receive()
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": content})

    return app


class Speed(NamedTuple):
    """What was measured, of the service over the other where two are named."""

    requests: int
    failed: int
    rate: float
    to_empty: float
    to_bare: float
    cpu_to_empty: float
    to_goal: float
    p99: float
    p99_empty: float
    memory: tuple[float, float]


def measure(folder: Path, requests: int, rounds: int, workers: int = 2) -> Speed:
    """Ask the three servers in turn, so that what else the machine does weighs on all."""
    path = folder / "forest.prefero"
    wanted = request(json.dumps({"instances": [trained(path)]}).encode())
    with Running([*COMMAND, str(path)], workers=workers) as ours:
        answer = ours.ask(wanted)[1]
        with _other("empty", answer, workers) as empty, _other("bare", answer, workers) as bare:
            servers = (ours, empty, bare)
            clients = [Client(server, wanted, answer) for server in servers]
            for client in clients:
                client.run(2000)
            before, seen, cpu = ours.memory(), [], []
            for _ in range(rounds):
                used = [server.cpu_seconds() for server in servers]
                seen.append([client.run(requests // rounds) for client in clients])
                cpu.append([s.cpu_seconds() - u for s, u in zip(servers, used, strict=True)])
            after = ours.memory()
            rates = np.array([[load.rate for load in loads] for loads in seen])
            goal = min(GOAL, SHARE * float(np.median(rates[:, 1])))
            calm, empty_calm = (client.run(5000, goal / 2) for client in clients[:2])
    own, others, least = rates.T
    return Speed(
        requests=sum(len(loads[0].seconds) + loads[0].failed for loads in seen),
        failed=sum(loads[0].failed for loads in seen) + calm.failed,
        rate=float(np.median(own)),
        to_empty=float(np.median(own / others)),
        to_bare=float(np.median(own / least)),
        cpu_to_empty=statistics.median(one[0] / one[1] for one in cpu),
        to_goal=float(np.median(own)) / goal,
        p99=calm.percentile(0.99),
        p99_empty=empty_calm.percentile(0.99),
        memory=(before, after),
    )


def _other(name: str, answer: bytes, workers: int) -> Running:
    command = ["-m", "uvicorn", f"service_speed:{name}", "--factory", "--no-access-log"]
    command += ["--app-dir", str(Path(__file__).parent), "--log-level", "error"]
    return Running(command, workers=workers, EMPTY_ANSWER=answer.decode())
