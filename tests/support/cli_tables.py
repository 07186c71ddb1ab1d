"""A table that one number and one word decide, and what commands say of it."""

import io

import numpy as np
import pandas as pd

N = 24
LABELS = ["y_a", "y_b", "y_c"]


def colours():
    """Rankings that one number and one word decide, with ids and without missing cells."""
    rng = np.random.default_rng(0)
    size, colour = np.linspace(-3, 3, N).round(2), rng.choice(["red", "blue"], N)
    scores = np.column_stack([size, -size, 9 * (colour == "red") - 4]) + rng.normal(0, 0.1, (N, 3))
    columns = {"id": [f"i{i}" for i in range(N)], "size": size, "colour": colour}
    return pd.DataFrame(columns).join(pd.DataFrame(scores.round(2), columns=LABELS))


def predictions(done):
    assert done.returncode == 0, done.stderr
    return pd.read_csv(io.StringIO(done.stdout))


def refused(done, code, *sentences):
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert "Traceback" not in done.stderr
    for sentence in sentences:
        assert sentence in done.stderr
    if code != 2:
        assert done.stderr.startswith("prefero: ")
        assert done.stderr.count("\n") == 1


# Formats
