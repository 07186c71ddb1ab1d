"""Rankers cross-validated on tables, for train to choose by and for compare to show."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefero.cli.console import counting
from prefero.cli.models import as_input, build, takes_missing
from prefero.cli.rankers import RankerChoice

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.study import Table
    from prefero.tables import Rankings


@dataclass
class Problem:
    """A table as an experiment takes it; scores are there only if it holds some."""

    name: str
    features: "pd.DataFrame"
    ranks: "pd.DataFrame"
    scores: "NDArray[np.float64] | None" = None

    @classmethod
    def of(
        cls, name: str, rankings: "Rankings", features: "pd.DataFrame", rows: "NDArray[np.intp]"
    ) -> "Problem":
        """Return some rows of a table as a problem; each keeps its number, the first being 1."""
        from pandas import DataFrame

        scores = None if rankings.scores is None else rankings.scores[rows]
        ranks = DataFrame(rankings.ranks[rows], columns=rankings.labels)
        return cls(name, features.iloc[rows].set_axis(rankings.rows[rows] + 1), ranks, scores)

    def source(self, model: Any) -> tuple[Any, ...]:
        """Return X, Y and perhaps scores for one model."""
        parts = (as_input(model, self.features), self.ranks, self.scores)
        return parts if self.scores is not None else parts[:2]


@dataclass
class Trials:
    """The results of all rankers; and by ranker and problem why there is none."""

    results: "Table"
    failed: dict[tuple[str, str], str] = field(default_factory=dict)


def run_trials(
    choices: Iterable[RankerChoice],
    problems: Iterable[Problem],
    *,
    folds: int,
    repeats: int = 1,
    seed: int = 0,
    jobs: int | None = None,
    folder: Path | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Trials:
    """Cross-validate every ranker on every problem, with the same folds for all.

    A ranker that refuses the data of a problem is left out of it.
    """
    from prefero.study import Table, run_experiment
    from prefero.study.experiment import RefusedDataError

    runs = [(problem, choice) for problem in problems for choice in choices]
    trials = Trials(Table([]))
    with counting(len(runs) * folds * repeats, "Cross-validating") as advance:
        for done, (problem, choice) in enumerate(runs):
            model = build(choice, problem.features, (settings or {}).get(choice.name))
            try:
                _refuse(problem, model)
                with warnings.catch_warnings():
                    # Folds lack labels that the table holds: no news for its owner.
                    warnings.simplefilter("ignore")
                    trials.results += run_experiment(
                        {choice.name: model},
                        {problem.name: problem.source(model)},
                        n_splits=folds,
                        n_repeats=repeats,
                        random_state=seed,
                        n_jobs=jobs,
                        folder=folder,
                        progress=partial(_advance, advance, done * folds * repeats),
                    )
            except RefusedDataError as error:
                trials.failed[choice.name, problem.name] = error.problem
            except ValueError as error:
                trials.failed[choice.name, problem.name] = str(error)
    return trials


def _advance(advance: Callable[[int], None], before: int, cells: int, total: int) -> None:
    advance(before + cells)


def _refuse(problem: Problem, model: Any) -> None:
    if problem.features.select_dtypes("number").isna().to_numpy().any():
        if not takes_missing(model):
            raise ValueError("it needs every number of every feature, and some are missing.")
