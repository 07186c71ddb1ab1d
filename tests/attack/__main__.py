"""The long run: python -m attack [--models N] [--tables N] [--kills N], from the folder tests.

What is done is kept in build/attack, so that a run that was stopped goes on; the counts go to
docs/results/reliability.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attack.disks import fill_a_disk, save_into_a_closed_folder
from attack.killing import kill_comparisons, kill_saves, kill_trainings
from attack.models import BAD, GOOD, attack

ROOT = Path(__file__).parents[2]
DONE = ROOT / "build" / "attack"
PAGE = ROOT / "docs" / "results" / "reliability.md"
_STRETCH = 500


def attack_models(count):
    """Open hostile model files in two processes; return one result a file."""
    file = DONE / "models.jsonl"
    results = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    known = {result["number"] for result in results}
    stretches = [range(first, min(first + _STRETCH, count)) for first in range(0, count, _STRETCH)]
    missing = [numbers for numbers in stretches if not known.issuperset(numbers)]
    with file.open("a") as log, ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda numbers: list(attack(numbers)), missing):
            new = [result for result in found if result["number"] not in known]
            log.writelines(json.dumps(result) + "\n" for result in new)
            log.flush()
            results += new
    return [result for result in results if result["number"] < count]


def attack_tables(count):
    """Read hostile tables in a child process; return what it printed and whether it went well."""
    command = [sys.executable, str(Path(__file__).parent / "fuzz_tables.py"), "--count", str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout, done.returncode == 0


def attack_files(kills):
    """Kill, fill, close; return a line each: what, how often, what went wrong."""
    lines = []
    for name, killer in (
        ("kill -9 in a save", kill_saves),
        ("kill -9 in prefero train", kill_trainings),
        ("kill -9 in prefero compare", kill_comparisons),
    ):
        with tempfile.TemporaryDirectory() as folder:
            wrong, _ = killer(folder, kills)
        lines.append((name, kills, wrong))
    with tempfile.TemporaryDirectory() as folder:
        kind, wrong = fill_a_disk(folder)
    lines.append((f"a full disk ({kind})", 1, wrong))
    return [*lines, ("a folder that may not be written", 1, save_into_a_closed_folder())]


def page(models, tables, files, seconds):
    """The page of results."""
    verdicts = Counter(result["verdict"] for result in models)
    repaired = sum(result["number"] % 2 == 0 for result in models)
    kinds = Counter(result["kind"] for result in models)
    lines = [
        "# Reliability: what an attack finds",
        "",
        "Written by `make attack`. Each file is made from its own number, so that it can be made",
        "again; it is opened in a child process with 3 GB of memory and 20 s, asked for every",
        "prediction, and watched for anything that it makes Python do.",
        "",
        f"## {len(models):,} hostile model files, {repaired:,} of them with a right checksum",
        "",
        "| verdict | files |",
        "|---|---:|",
        *(f"| {verdict} | {verdicts[verdict]:,} |" for verdict in (*GOOD, *BAD)),
        "",
        "*Answered otherwise* is a number changed inside its range; only a signature tells.",
        "",
        "Made by: " + ", ".join(f"{kind} {n:,}" for kind, n in sorted(kinds.items())) + ".",
    ]
    lines += ["", "## Hostile tables", "", tables.strip()]
    lines += ["", "## Kills and disks", "", "| what | times | wrong |", "|---|---:|---|"]
    lines += [f"| {what} | {n} | {'; '.join(wrong) or 'nothing'} |" for what, n, wrong in files]
    return "\n".join([*lines, "", f"The run took {seconds / 60:.0f} minutes.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=20_000)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    os.chdir(ROOT / "tests")
    DONE.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    models = attack_models(options.models)
    tables, tables_well = attack_tables(options.tables)
    files = attack_files(options.kills)
    options.page.write_text(page(models, tables, files, time.perf_counter() - start))
    bad = [result for result in models if result["verdict"] in BAD]
    for result in bad:
        print(result)
    raise SystemExit(bool(bad or not tables_well or any(wrong for _, _, wrong in files)))


if __name__ == "__main__":
    main()
