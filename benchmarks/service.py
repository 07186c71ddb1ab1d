"""Requests a second of the service, beside those of the same server with an empty handler.

python benchmarks/service.py [--requests 20000] [--workers 2] [--clients 8]

Both answer the same body to the same request: a hundred trees of eleven labels and ten features,
asked for one instance. Clients are threads of this process with one connection each; what counts
is the ratio of the two, in one run, alternating.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

from prefero import ForestLabelRanker, save
from prefero.rankings import ranks_from_scores

SHAPE = {"rows": 528, "features": 10, "labels": 11}


def trained(path: Path) -> dict[str, float]:
    """Save a forest of the shape of vowel; return an instance."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(SHAPE["rows"], SHAPE["features"]))).add_prefix("x")
    scores = X.to_numpy() @ rng.normal(size=(SHAPE["features"], SHAPE["labels"]))
    ranks = ranks_from_scores(scores + rng.normal(size=scores.shape), higher_is_better=True)
    save(ForestLabelRanker(random_state=0).fit(X, ranks), path)
    return X.iloc[0].to_dict()


def serve(path: Path, port: int, workers: int) -> "subprocess.Popen[bytes]":
    """Start the service."""
    command = ["-c", "from prefero.cli.main import main; main()", "serve", str(path)]
    return start([*command, "--port", str(port), "--workers", str(workers)])


def start(arguments: list[str]) -> "subprocess.Popen[bytes]":
    """Start Python without its words."""
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, *arguments], **quiet)


def empty() -> object:
    """An application that reads the same request and sends the answer of the environment."""
    from fastapi import FastAPI, Response

    from prefero.serve._bodies import RankRequest

    app, content = FastAPI(), os.environ["EMPTY_ANSWER"].encode()

    @app.post("/rank")
    async def rank(wanted: RankRequest) -> Response:
        return Response(content, media_type="application/json")

    return app


def serve_empty(port: int, workers: int) -> "subprocess.Popen[bytes]":
    """Start the empty application on the same server."""
    command = ["-m", "uvicorn", "service:empty", "--factory", "--no-access-log"]
    folder = ["--app-dir", str(Path(__file__).parent)]
    return start([*command, *folder, "--port", str(port), "--workers", str(workers)])


def ask(port: int, body: bytes, count: int, seconds: list[float], failed: list[int]) -> None:
    """Ask so many times over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(count):
        began = time.perf_counter()
        connection.request("POST", "/rank", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        seconds.append(time.perf_counter() - began)
        if answer.status != 200:
            failed.append(answer.status)


def load(port: int, body: bytes, requests: int, clients: int) -> tuple[float, float, int]:
    """Return requests a second, the 99th percentile of seconds, and how many failed."""
    seconds: list[float] = []
    failed: list[int] = []
    share = (port, body, requests // clients, seconds, failed)
    threads = [threading.Thread(target=ask, args=share) for _ in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = len(seconds) / (time.perf_counter() - began)
    return rate, statistics.quantiles(seconds, n=100)[-1], len(failed)


def wait_for(port: int, body: bytes) -> bytes:
    """Wait until a server answers; return the answer."""
    for _ in range(300):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", "/rank", body, {"content-type": "application/json"})
            return connection.getresponse().read()
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"nothing answers at port {port}")


def main() -> None:
    """Run both servers and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=20_000)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--clients", type=int, default=8)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.prefero"
        body = json.dumps({"instances": [trained(path)]}).encode()
        ours = serve(path, 8123, chosen.workers)
        os.environ["EMPTY_ANSWER"] = wait_for(8123, body).decode()
        other = serve_empty(8124, chosen.workers)
        wait_for(8124, body)
        print("| server | requests a second | p99, ms | failed |\n|---|---|---|---|")
        ratios = []
        for _ in range(chosen.rounds):
            rates = []
            for name, port in (("prefero", 8123), ("empty handler", 8124)):
                rate, slow, failed = load(port, body, chosen.requests, chosen.clients)
                print(f"| {name} | {rate:.0f} | {1000 * slow:.1f} | {failed} |", flush=True)
                rates.append(rate)
            ratios.append(rates[0] / rates[1])
        print(f"\nprefero / empty handler: {statistics.median(ratios):.2f}")
        for process in (ours, other):
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
