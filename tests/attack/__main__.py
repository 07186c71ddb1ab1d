"""The long run: python -m attack [--models N] [--tables N] [--kills N], as make attack calls it.

What is done is kept in build/attack, so that a run that was stopped goes on; the counts go to
docs/results/reliability.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

from attack.cost import Largest
from attack.disks import fill_a_disk, save_into_a_closed_folder
from attack.killing import kill_comparisons, kill_saves, kill_trainings
from attack.models import BAD, GOOD, attack
from attack.tables import table_of

ROOT = Path(__file__).parents[2]
DONE = ROOT / "build" / "attack"
PAGE = ROOT / "docs" / "results" / "reliability.md"
SANITIZED = ROOT / "build" / "sanitize" / "report.xml"


def kept(name):
    """Return the results that earlier runs left under a name."""
    file = DONE / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def keep(name, results):
    """Add results to those of earlier runs: a run that is stopped goes on from there."""
    with (DONE / f"{name}.jsonl").open("a") as log:
        log.writelines(json.dumps(result) + "\n" for result in results)


def stretches(count, length):
    """Cut the numbers below a count into ranges."""
    return [range(first, min(first + length, count)) for first in range(0, count, length)]


def attack_models(count):
    """Open hostile model files in two processes; return one result a file."""
    results = kept("models")
    known = {result["number"] for result in results}
    missing = [numbers for numbers in stretches(count, 1000) if not known.issuperset(numbers)]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda numbers: list(attack(numbers)), missing):
            new = [result for result in found if result["number"] not in known]
            keep("models", new)
            results += new
    return [result for result in results if result["number"] < count]


def attack_tables(count):
    """Read hostile tables in child processes; return how often which kind ended how."""
    counts, largest = Counter(), Largest()
    done = {(found["first"], found["count"]): found for found in kept("tables")}
    for numbers in stretches(count, 1000):
        found = done.get((numbers.start, len(numbers)))
        if found is None:
            span = ("--first", str(numbers.start), "--count", str(len(numbers)))
            command = [
                sys.executable,
                str(Path(__file__).parent / "fuzz_tables.py"),
                *span,
                "--json",
            ]
            output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout
            new, costs = json.loads(output)
            found = {"first": numbers.start, "count": len(numbers), "counts": new, "costs": costs}
            keep("tables", [found])
        counts.update({(kind, outcome): n for kind, outcome, n in found["counts"]})
        for kind, cost in found["costs"].items():
            largest.add(kind, *cost)
    return counts, largest


def attack_files(kills):
    """Kill, fill, close; return a line each: what, how often, what went wrong."""
    lines = []
    done = {(found["what"], found["first"], found["times"]): found for found in kept("kills")}
    for name, killer in (
        ("kill -9 in a save", kill_saves),
        ("kill -9 in prefero train", kill_trainings),
        ("kill -9 in prefero compare", kill_comparisons),
    ):
        wrong = []
        for numbers in stretches(kills, 25):
            found = done.get((name, numbers.start, len(numbers)))
            if found is None:
                with tempfile.TemporaryDirectory() as folder:
                    new, _ = killer(folder, len(numbers), seed=numbers.start)
                found = {"what": name, "first": numbers.start, "times": len(numbers), "wrong": new}
                keep("kills", [found])
            wrong += found["wrong"]
        lines.append((name, kills, wrong))
    with tempfile.TemporaryDirectory() as folder:
        kind, wrong = fill_a_disk(folder)
    lines.append((f"a full disk ({kind})", 1, wrong))
    return [*lines, ("a folder that may not be written", 1, save_into_a_closed_folder())]


def page(models, tables, largest, files):
    """The page of results."""
    verdicts = Counter(result["verdict"] for result in models)
    repaired = sum(result["number"] % 2 == 0 for result in models)
    kinds, costs = Counter(result["kind"] for result in models), Largest()
    for result in models:
        costs.add(result["verdict"], result.get("MB", 0), result.get("seconds", 0))
    lines = [
        "# Reliability: what an attack finds",
        "",
        "Written by `make attack`. Each file is made from its own number, so that it can be made",
        "again; it is opened in a child process with 3 GB of memory and 20 s of work, asked for",
        "every prediction and, as the commands do, for an explanation, and watched for anything",
        "that it makes Python do. *Costly* is an input below a megabyte that takes more than 500",
        "MB or 10 s of a processor, or a MemoryError.",
        "",
        f"## {len(models):,} hostile model files, {repaired:,} of them with a right checksum",
        "",
        "| verdict | files | largest memory per input | largest CPU per input |",
        "|---|---:|---:|---:|",
        *(
            f"| {verdict} | {verdicts[verdict]:,} | {costs.cells(verdict)} |"
            for verdict in (*GOOD, *BAD)
        ),
        "",
        "*Answered otherwise* is a number changed inside its range; only a signature tells.",
        "",
        "Made by: " + ", ".join(f"{kind} {n:,}" for kind, n in sorted(kinds.items())) + ".",
    ]
    lines += ["", f"## {tables.total():,} hostile tables", "", table_of(tables, largest)]
    lines += ["", "## Kills and disks", "", "| what | times | wrong |", "|---|---:|---|"]
    lines += [f"| {what} | {n} | {'; '.join(wrong) or 'nothing'} |" for what, n, wrong in files]
    return "\n".join([*lines, *sanitized(), ""])


def sanitized():
    """What the last ``make sanitize`` found."""
    if not SANITIZED.exists():
        return []
    suites = list(ElementTree.parse(SANITIZED).getroot().iter("testsuite"))
    tests, failed, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites for name in names)
        for names in (["tests"], ["failures", "errors"], ["skipped"])
    )
    said = f"{tests - failed - skipped:,} tests passed, {skipped} were skipped, {failed} failed"
    return ["", "## Under AddressSanitizer and UBSan", "", f"{said} (`make sanitize`)."]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=20_000)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    os.chdir(ROOT / "tests")
    DONE.mkdir(parents=True, exist_ok=True)
    tables, largest = attack_tables(options.tables)
    files = attack_files(options.kills)
    models = attack_models(options.models)
    options.page.write_text(page(models, tables, largest, files))
    bad = [result for result in models if result["verdict"] in BAD]
    fallen = any(tables[key] for key in tables if key[1] in ("failed", "hung", "costly"))
    for result in bad:
        print(result)
    raise SystemExit(bool(bad or fallen or any(wrong for _, _, wrong in files)))


if __name__ == "__main__":
    main()
