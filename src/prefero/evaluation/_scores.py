"""The scores in a table of results: of one missing rate, as a matrix, and which way is better."""

import numpy as np
from numpy.typing import NDArray

from prefero.evaluation.experiment import summarize
from prefero.evaluation.table import Table


def score_matrix(
    results: Table, scoring: str = "tau", missing: float | None = None
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Return the data sets, the rankers and their mean scores as a matrix.

    Parameters
    ----------
    results : Table
        What `run_experiment` returned.
    scoring : str, default="tau"
        The column to take.
    missing : float, optional
        The missing rate to look at, if the results hold several.

    Returns
    -------
    datasets, rankers : list of str
        The names, in order of first appearance.
    scores : ndarray of shape (n_datasets, n_rankers)
        The means over folds and repetitions; NaN where there is no result.
    """
    results = of_rate(results, missing)
    means = {
        (row["dataset"], row["ranker"]): row[scoring]
        for row in summarize(results, by=("dataset", "ranker"))
    }
    datasets = list(dict.fromkeys(dataset for dataset, _ in means))
    rankers = list(dict.fromkeys(ranker for _, ranker in means))
    scores = [[means.get((row, column), np.nan) for column in rankers] for row in datasets]
    return datasets, rankers, np.array(scores, dtype=np.float64)


def of_rate(results: Table, missing: float | None) -> Table:
    if "missing" not in results.columns:
        return results
    if missing is None:
        rates = sorted(set(results["missing"]))
        if len(rates) > 1:
            listed = ", ".join(f"{rate:g}" for rate in rates)
            raise ValueError(f"The results hold the missing rates {listed}: choose one.")
        return results
    chosen = results.where(missing=missing)
    if not len(chosen):
        raise ValueError(f"The results hold no missing rate {missing!r}.")
    return chosen


def smaller_is_better(scoring: str) -> bool:
    return scoring in ("regret", "cost", "one_error", "PAR10") or scoring.endswith(
        ("_seconds", "_loss")
    )
