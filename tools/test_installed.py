"""Whether an installed Prefero works without its source tree: learn, save, load, rank, explain.

::

    python tools/test_installed.py

Run it outside the project's folder, in an environment that holds nothing but the wheel.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import prefero
from prefero.datasets import make_label_ranking


def run(*arguments: str, folder: str) -> str:
    """Return what a command prints."""
    command = [sys.executable, "-c", "from prefero.cli.main import main; main()", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"prefero {' '.join(arguments)} exits with {done.returncode}: {done.stderr}"
        )
    return done.stdout


def main() -> None:
    """Exit with 1 and a sentence if something does not work."""
    package = Path(prefero.__file__).parent
    if "site-packages" not in package.parts:
        raise SystemExit(f"prefero comes from {package}, not from an installed wheel.")
    X, Y = make_label_ranking(300, 4, 5, random_state=0)
    settings = {"ForestLabelRanker": {"random_state": 0}}
    for name in ("ForestLabelRanker", "PairwiseLabelRanker", "NeighborsLabelRanker"):
        ranker = getattr(prefero, name)(**settings.get(name, {})).fit(X[:200], Y[:200])
        constant = prefero.ConsensusLabelRanker().fit(X[:200], Y[:200]).score(X[200:], Y[200:])
        found = ranker.score(X[200:], Y[200:])
        print(f"{name}: tau {found:.3f}, the consensus order {constant:.3f}")
        if not found > constant:
            raise SystemExit(f"{name} is not better than the consensus order.")
        with tempfile.TemporaryDirectory() as folder:
            prefero.save(ranker, Path(folder) / "model.prefero")
            again = prefero.load(Path(folder) / "model.prefero")
            np.testing.assert_array_equal(again.predict(X), ranker.predict(X))
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        header = [*(f"x{k}" for k in range(4)), *(f"rank_{k}" for k in range(5))]
        rows = np.hstack([X, Y])
        table.write_text("\n".join([",".join(header), *(",".join(map(str, r)) for r in rows)]))
        run(
            "train",
            "table.csv",
            "--labels",
            "rank_*",
            "--model",
            "forest",
            "--out",
            "m",
            folder=folder,
        )
        print(run("predict", "m", "table.csv", folder=folder).splitlines()[1])
        print(run("reproduce", "--help", folder=folder).strip().splitlines()[0])


if __name__ == "__main__":
    main()
