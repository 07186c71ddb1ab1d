"""``kill -9`` at any moment of a save, a training and a comparison: what was finished stays."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from model_files import problem
from prefero import ForestLabelRanker, load, save

# Each line says that a file is whole under its name; the killer strikes in between.
_SAVING = """
import sys
from prefero import load, save
model = load(sys.argv[1])
while True:
    save(model, sys.argv[2])
    print("saved", flush=True)
"""


def _start(arguments, **options):
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen([sys.executable, *map(str, arguments)], env=environment, **options)


def _kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _parts(folder):
    return [path.name for path in Path(folder).iterdir() if path.name.endswith(".part")]


def _model(folder):
    X, Y = problem(200)
    path = Path(folder) / "honest.prefero"
    save(ForestLabelRanker(20, random_state=0).fit(X, Y), path)
    return path


def kill_saves(folder, times, seed=0):
    """Kill a process that saves again and again; return what went wrong and the parts left."""
    rng = random.Random(seed)
    honest, target = _model(folder), Path(folder) / "target.prefero"
    expected = load(honest).predict(problem()[0])
    wrong, left = [], 0
    for number in range(times):
        saver = _start(["-c", _SAVING, honest, target], stdout=subprocess.PIPE)
        saver.stdout.readline()
        time.sleep(rng.random() * 0.05)
        _kill(saver)
        left += len(_parts(folder))
        if not np.array_equal(load(target).predict(problem()[0]), expected):
            wrong.append(f"save {number}: the file answers otherwise")
        save(load(honest), target)
        if _parts(folder):
            wrong.append(f"save {number}: {_parts(folder)} is left after the next save")
    return wrong, left


def _table(folder):
    X, Y = problem(60)
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    for label, column in zip("abcd", Y.T, strict=True):
        frame[f"y_{label}"] = column
    path = Path(folder) / "table.csv"
    frame.to_csv(path, index=False)
    return path


def _prefero(*arguments, **options):
    code = "from prefero.cli.main import main; main()"
    return _start(["-c", code, *arguments], stderr=subprocess.DEVNULL, **options)


def kill_trainings(folder, times, seed=0):
    """Kill a training at any moment, the last ones of a training that takes as long as it can."""
    rng = random.Random(seed)
    table, target = _table(folder), Path(folder) / "trained.prefero"
    command = ("train", table, "-o", target, "--labels", "y_*", "--model", "forest")
    start = time.perf_counter()
    assert _prefero(*command).wait() == 0
    seconds, whole = time.perf_counter() - start, target.read_bytes()
    wrong, left = [], 0
    for number in range(times):
        trainer = _prefero(*command)
        time.sleep(seconds * rng.uniform(0.5, 1.1))
        _kill(trainer)
        left += len(_parts(folder))
        if target.read_bytes() != whole:
            wrong.append(f"train {number}: the file has changed")
    save(load(target), target)
    if _parts(folder):
        wrong.append(f"{_parts(folder)} is left after the next save")
    return wrong, left


def kill_comparisons(folder, times, seed=0):
    """Kill a comparison again and again; each goes on where the last one was."""
    rng = random.Random(seed)
    table, cells = _table(folder), Path(folder) / "cells" / "runs.jsonl"
    command = ("compare", table, "--labels", "y_*", "--rankers", "forest,consensus", "--folds", "5")
    command += ("--repeats", "40", "--resume", cells.parent)
    wrong, finished = [], {}
    for number in range(times):
        comparison = _prefero(*command, stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(1.0, 4.0))
        _kill(comparison)
        found = _finished(cells)
        if any(found.get(key) != values for key, values in finished.items()):
            wrong.append(f"compare {number}: a finished cell is lost or changed")
        finished = found
    return wrong, len(finished)


def _finished(cells):
    lines = cells.read_bytes().split(b"\n")[:-1] if cells.exists() else []
    found = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        found[record["key"]] = record["values"]
    return found
