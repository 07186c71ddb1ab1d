"""The service under load and under attack: writes docs/results/service.md.

python benchmarks/service.py [--requests 100000] [--hostile 2000] [--kills 5] [--examples 500]

With 0 a part is left out, and the page holds what build/service keeps of it. The client is one
thread with sixteen connections; the service and two others that do nothing are asked in turn by
it, and what counts are ratios. The attacks are those of tests/attack.
"""

import argparse
import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from service_speed import GOAL, SHAPE, SHARE, Speed, measure, trained

import prefero
from attack.openapi import examine
from attack.requests import bombard
from attack.service import COMMAND, Running, Told, kill_under_load, request
from prefero.serve import create_app

ROOT = Path(__file__).parents[1]
KEPT, PAGE = ROOT / "build" / "service", ROOT / "docs" / "results" / "service.md"
# Slow senders are given up after so many seconds, so that two thousand requests end.
IMPATIENT = ("--max-seconds", "2")


def bombarded(folder: Path, count: int) -> dict:
    """Send hostile requests; return how they were answered."""
    with Running([*COMMAND, *attacked_model(folder)]) as server:
        bodies = some_bodies(folder)
        before = [server.ask(request(body)) for body in bodies]
        seen, worst = bombard(server, list(json.loads(bodies[0])["instances"][0]), count)
        well = before == [server.ask(request(body)) for body in bodies]
    return {"seen": [[*key, n] for key, n in seen.items()], "worst": worst, "well": well}


def killed(folder: Path, kills: int) -> dict:
    """Kill workers; return what clients were told."""
    command = attacked_model(folder)
    with Running([*COMMAND, *command]) as server:
        answers = {body: server.ask(request(body))[1] for body in some_bodies(folder)}
        refuse_other_answers(create_app({"attacked": prefero.load(command[0])}), answers)
        return kill_under_load(server, answers, kills)._asdict()


def attacked_model(folder: Path) -> list[str]:
    """Save a model, and return what is served of it."""
    path = folder / "attacked.prefero"
    if not path.exists():
        (folder / "instance.json").write_text(json.dumps(trained(path)))
    return [str(path), *IMPATIENT]


def some_bodies(folder: Path) -> list[bytes]:
    """Requests near one instance."""
    instance = json.loads((folder / "instance.json").read_text())
    near = [{name: value + k / 10 for name, value in instance.items()} for k in range(20)]
    return [json.dumps({"instances": [one]}).encode() for one in near]


def refuse_other_answers(app: object, answers: dict[bytes, bytes]) -> None:
    """Make sure that what the service says is what the model says."""
    from starlette.testclient import TestClient

    client = TestClient(app)
    for body, answer in answers.items():
        own = client.post("/rank", content=body, headers={"content-type": "application/json"})
        if own.content != answer:
            raise SystemExit("the service does not say what the model says")


def examined(folder: Path, examples: int) -> dict:
    """Send requests that are made from the description of the service."""
    path = attacked_model(folder)[0]
    seen = examine(create_app({"forest": prefero.load(path)}), examples)
    return {"seen": [[*key, n] for key, n in seen.items()]}


def speed_told(kept: dict) -> list[str]:
    """What the page says of the speed."""
    speed = Speed(**{name: kept[name] for name in Speed._fields})
    before, after = speed.memory
    return [
        f"A hundred trees, {SHAPE['labels']} labels, {SHAPE['features']} features (the shape of "
        "vowel), one instance a request, everything in the answer, the access log on. Two cores, "
        f"which others used, too (a load of {kept['load']:.0f}); two workers, and one client of "
        "one thread.",
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
        f"| the same of the empty handler | {speed.p99_empty / 0.02:.2f} | |",
        f"| failed, of {speed.requests:,} requests | {speed.failed} | 0 |",
        f"| memory of the workers after these, of that before | {after / before:.3f} | 1 |",
        "",
        "Rates are medians over rounds in which the three servers were asked in turn; every answer "
        "was compared with the right one, byte by byte.",
    ]


def hostile_told(kept: dict) -> list[str]:
    """What the page says of hostile requests."""
    after = "as before" if kept["well"] else "NOT as before"
    return [
        "## Hostile requests",
        "",
        f"{sum(n for *_, n in kept['seen']):,} requests over sockets, eight at a time, drawn by "
        f"`tests/attack/requests.py`; not refused as they must be: {len(kept['worst'])}. After "
        f"them the service answered {after}.",
        "",
        "| kind | answered with |",
        "|---|---|",
        *rows(kept["seen"]),
        "",
        "Closed is a connection that HTTP lets a server close: what was sent was no HTTP, or more "
        "than it reads.",
    ]


def description_told(kept: dict) -> list[str]:
    """What the page says of requests made from the description."""
    return [
        "## Requests from the description",
        "",
        f"schemathesis made {sum(n for *_, n in kept['seen']):,} requests from `/openapi.json`. "
        "None was answered with a status, a kind of content or a body that is not described "
        "there, none with 5xx.",
        "",
        "| request | answered with |",
        "|---|---|",
        *rows(kept["seen"]),
    ]


def kills_told(kept: dict) -> list[str]:
    """What the page says of killed workers."""
    told = Told(**{name: kept[name] for name in Told._fields})
    return [
        "## Killed workers",
        "",
        f"Kills by `kill -9` of one of two workers while four clients asked: {len(told.seconds)}. "
        f"{told.right:,} right answers, {told.wrong} wrong ones, {told.broken} connections that "
        "ended without one. Another worker answered each time, after at most "
        f"{max(told.seconds):.0f} s, most of which it takes to import; the other went on.",
    ]


PARTS = {
    "requests": (lambda folder, n: measure(folder, n, 10)._asdict(), speed_told),
    "hostile": (bombarded, hostile_told),
    "examples": (examined, description_told),
    "kills": (killed, kills_told),
}


def rows(counts: list) -> list[str]:
    """The lines of a table: how each kind was answered."""
    by_kind: dict[str, list[str]] = {}
    for kind, how, n in sorted(counts, key=str):
        by_kind.setdefault(kind, []).append(f"{how}: {n}")
    return [f"| {kind} | {', '.join(hows)} |" for kind, hows in by_kind.items()]


def main() -> None:
    """Measure, attack, and write the page."""
    options = argparse.ArgumentParser(description=__doc__)
    for name, count in (("requests", 100_000), ("hostile", 2000), ("kills", 5), ("examples", 500)):
        options.add_argument(f"--{name}", type=int, default=count)
    chosen = vars(options.parse_args())
    KEPT.mkdir(parents=True, exist_ok=True)
    lines = ["# The service under load and under attack", "", "    python benchmarks/service.py"]
    lines += ["", f"Prefero {prefero.__version__}, {datetime.now(UTC):%Y-%m-%d}."]
    with tempfile.TemporaryDirectory() as folder:
        for name, (part, told) in PARTS.items():
            file = KEPT / f"{name}.json"
            if chosen[name]:
                load = os.getloadavg()[0]
                found = {**part(Path(folder), chosen[name]), "load": load}
                file.write_text(json.dumps(found))
            if file.exists():
                lines += ["", *told(json.loads(file.read_text()))]
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
