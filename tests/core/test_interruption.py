"""Ctrl-C ends the compiled kernels."""

import signal
import subprocess
import sys
import time

import pytest

HANG = 20  # seconds after which a process that should end by itself counts as hanging

GROWS = """
import threading
import numpy as np
from prefero import ForestLabelRanker
X = np.random.default_rng(0).normal(size=(20_000, 5))
Y = np.argsort(np.argsort(X + np.random.default_rng(1).normal(size=X.shape))) + 1
forest = ForestLabelRanker(100_000, n_jobs={jobs}, random_state=0)
print("ready", flush=True)
try:
    forest.fit(X, Y)
except KeyboardInterrupt:
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join({hang})
    print("ended", threading.active_count(), hasattr(forest, "trees_"))
"""

COUNTS = """
import numpy as np
from prefero import _core
ranks = np.tile(np.arange(1.0, 81.0), (1000, 1))
rows = np.tile(np.arange(1000), 4000)
starts = np.arange(0, len(rows) + 1, 100)
weights = np.ones(len(rows))
print("ready", flush=True)
try:
    _core.{kernel}(ranks, starts, rows, weights, {more})
except KeyboardInterrupt:
    print("ended")
"""

SLOPES = """
import numpy as np
from prefero import _core
X, signs = np.ones((40_000, 200), np.float32), np.ones((40_000, 1000), np.int8)
weight, which, coef = np.ones(40_000), np.arange(1000), np.ones((1000, 200), np.float32)
print("ready", flush=True)
try:
    while True:
        _core.{kernel}(X, signs, weight, which, coef)
except KeyboardInterrupt:
    print("ended")
"""


def interrupted(program: str) -> list[str]:
    """Run a program, send it SIGINT once it works, and return the words it prints then."""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)  # until it is in the kernel; before that the interpreter itself stops
        process.send_signal(signal.SIGINT)
        try:
            output, errors = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert errors == ""
    return output.split()


@pytest.mark.parametrize("jobs", [1, 2])
def test_growing_stops_in_every_thread(jobs: int) -> None:
    assert interrupted(GROWS.format(jobs=jobs, hang=HANG)) == ["ended", "1", "False"]


@pytest.mark.parametrize(
    ("kernel", "more"), [("fit_mallows_batch", "9"), ("pair_votes_batch", "1.0")]
)
def test_the_votes_of_neighbours_stop(kernel: str, more: str) -> None:
    assert interrupted(COUNTS.format(kernel=kernel, more=more)) == ["ended"]


@pytest.mark.parametrize("kernel", ["logistic_gradients", "logistic_hessians"])
def test_the_derivatives_of_many_models_stop(kernel: str) -> None:
    assert interrupted(SLOPES.format(kernel=kernel)) == ["ended"]
