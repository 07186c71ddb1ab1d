"""The service under load and under attack: writes docs/results/service.md.

python benchmarks/service.py [--requests 100000] [--hostile 2000] [--kills 5] [--examples 500]

The client is one thread with sixteen connections; the service and two others that do nothing are
asked in turn by it, and what counts are ratios. The attacks are those of tests/attack.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from service_speed import GOAL, SHAPE, SHARE, Speed, measure, trained

import prefero
from attack.openapi import examine
from attack.requests import bombard
from attack.service import COMMAND, Running, Told, kill_under_load, request
from prefero.serve import create_app

PAGE = Path(__file__).parents[1] / "docs" / "results" / "service.md"
# Slow senders are given up after so many seconds, so that two thousand requests end.
IMPATIENT = ("--max-seconds", "2")


def attack(folder: Path, hostile: int, kills: int) -> tuple[Counter, list, Told]:
    """Send hostile requests and kill workers; return how both went."""
    path = folder / "attacked.prefero"
    instance = trained(path)
    bodies = [{name: value + k / 10 for name, value in instance.items()} for k in range(20)]
    asked = [json.dumps({"instances": [body]}).encode() for body in bodies]
    with Running([*COMMAND, str(path), *IMPATIENT]) as server:
        answers = {body: server.ask(request(body))[1] for body in asked}
        own = create_app({"attacked": prefero.load(path)})
        refuse_other_answers(own, answers)
        seen, worst = bombard(server, list(instance), hostile)
        told = kill_under_load(server, answers, kills)
    return seen, worst, told


def refuse_other_answers(app: object, answers: dict[bytes, bytes]) -> None:
    """Make sure that what the service says is what the model says."""
    from starlette.testclient import TestClient

    client = TestClient(app)
    for body, answer in answers.items():
        own = client.post("/rank", content=body, headers={"content-type": "application/json"})
        if own.content != answer:
            raise SystemExit("the service does not say what the model says")


def described(folder: Path, examples: int) -> Counter:
    """Send requests that are made from the description of the service."""
    path = folder / "described.prefero"
    trained(path)
    return examine(create_app({"forest": prefero.load(path)}), examples)


def page(speed: Speed, attacked: tuple[Counter, list, Told], described: Counter) -> str:
    """The page of results."""
    seen, worst, told = attacked
    before, after = speed.memory
    lines = [
        "# The service under load and under attack",
        "",
        "    python benchmarks/service.py",
        "",
        f"Prefero {prefero.__version__}, {datetime.now(UTC):%Y-%m-%d}, two cores that others used, "
        "too; two workers, one client of one thread on the same machine.",
        f"A hundred trees, {SHAPE['labels']} labels, {SHAPE['features']} features (the shape of "
        "vowel), one instance a request, everything in the answer, the access log on.",
        "",
        "| what | measured | wanted |",
        "|---|---|---|",
        f"| requests a second, of those wanted ({GOAL:.0f}, or {SHARE:g} of the empty handler's if "
        f"that is less) | {speed.to_goal:.2f} | 1 |",
        "| requests a second, of a handler of FastAPI that reads the same request and sends a "
        f"finished answer | {speed.to_empty:.2f} | |",
        f"| CPU time of a request, of that handler's | {speed.cpu_to_empty:.2f} | |",
        "| requests a second, of uvicorn alone: nothing read, a finished answer | "
        f"{speed.to_bare:.2f} | |",
        f"| 99th percentile at half the wanted rate, of 20 ms | {speed.p99 / 0.02:.2f} | below 1 |",
        f"| the same of the empty handler, on the same machine | {speed.p99_empty / 0.02:.2f} | |",
        f"| failed, of {speed.requests:,} requests | {speed.failed} | 0 |",
        f"| memory of the workers after these, of that before | {after / before:.3f} | 1 |",
        "",
        "Rates are medians over rounds in which the three servers were asked in turn; every answer "
        "was compared with the right one, byte by byte.",
        "",
        "## Hostile requests",
        "",
        f"{sum(seen.values()):,} requests over sockets, eight at a time, drawn by "
        f"`tests/attack/requests.py`; not refused as they must be: {len(worst)}. The service "
        "answered as before after them.",
        "",
        "| kind | answered with |",
        "|---|---|",
        *rows(seen),
        "",
        "Closed is a connection that HTTP lets a server close: what was sent was no HTTP, or more "
        "than it reads.",
        "",
        "## Requests from the description",
        "",
        f"schemathesis made {sum(described.values()):,} requests from `/openapi.json`. None was "
        "answered with a status, a kind of content or a body that is not described there, none "
        "with 5xx.",
        "",
        "| request | answered with |",
        "|---|---|",
        *rows(described),
        "",
        "## Killed workers",
        "",
        f"{len(told.seconds)} times `kill -9` of one of two workers while four clients asked: "
        f"{told.right:,} right answers, {told.wrong} wrong ones, {told.broken} connections that "
        f"ended without one. Another worker answered each time, after at most "
        f"{max(told.seconds):.0f} s, most of which it takes to import; the other went on.",
        "",
    ]
    return "\n".join(lines)


def rows(counts: Counter) -> list[str]:
    """The lines of a table: how each kind was answered."""
    kinds = sorted({kind for kind, _ in counts})
    return [
        f"| {kind} | "
        + ", ".join(f"{how}: {n}" for (of, how), n in sorted(counts.items(), key=str) if of == kind)
        + " |"
        for kind in kinds
    ]


def main() -> None:
    """Measure, attack, and write the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--requests", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=10)
    options.add_argument("--hostile", type=int, default=2000)
    options.add_argument("--kills", type=int, default=5)
    options.add_argument("--examples", type=int, default=500)
    options.add_argument("--page", type=Path, default=PAGE)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        speed = measure(folder, chosen.requests, chosen.rounds)
        print(speed, flush=True)
        attacked = attack(folder, chosen.hostile, chosen.kills)
        print(*attacked, sep="\n", flush=True)
        chosen.page.write_text(page(speed, attacked, described(folder, chosen.examples)))


if __name__ == "__main__":
    main()
