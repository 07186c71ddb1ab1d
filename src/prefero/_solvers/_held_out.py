"""The strength of a penalty, chosen by rows that a model has not seen."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from prefero._sampling import numbered_rows
from prefero._typing import Indices, Values
from prefero.base import copy_of
from prefero.preferences import PreferenceGraphs, decompose
from prefero.rankings import strict_ranks

Value = TypeVar("Value", float, str)

N_FOLDS = 3
# So many cases tell the values apart, and a large set costs little more than one fit; of many
# labels fewer cases, as each tells of so many more pairs.
_FEWEST_CASES, _MANY_CASES, _MOST_CASES, _MOST_PAIRS = 10, 500, 2000, 2**22


class HeldOutModels:
    """One model per fold, trained on the other folds, whose penalty is relaxed step by step.

    Equal rows are one case and share a fold. Cases are sorted by their features, then by their
    target, and dealt out in turn: neither the order of the rows nor whether a row is written
    twice or weighs twice plays a part, nor does that of the labels where features differ.

    Parameters
    ----------
    ranker : label ranker
        Its ``_learn(X, target, weight)`` goes on from its last solution.
    parameter : str
        The name of the ranker's parameter that holds the penalty.
    X, target, weight
        Training data as ``_fit`` gets them.
    """

    def __init__(self, ranker: Any, parameter: str, X: Any, target: Any, weight: Values) -> None:
        self._parameter, self._X, self._weight = parameter, X, weight
        graphs = isinstance(target, PreferenceGraphs)
        self._graphs = target if graphs else PreferenceGraphs.from_ranks(target)
        case = case_numbers(X, self._graphs)
        n_cases = int(case.max()) + 1
        n_pairs = max(1, self._graphs.n_labels * (self._graphs.n_labels - 1) // 2)
        most = min(_MOST_CASES, max(_MANY_CASES, _MOST_PAIRS // n_pairs))
        step = -(-n_cases // most)
        self.possible = n_cases >= _FEWEST_CASES
        # Cases left out of a large number were seen by no model.
        self._used = case % step == 0
        self._fold = case // step % N_FOLDS
        self._models = [copy_of(ranker, anew=False) for _ in range(N_FOLDS)]
        rows = [np.flatnonzero(self._used & (self._fold != fold)) for fold in range(N_FOLDS)]
        self._training = [(X[part], target[part], weight[part]) for part in rows]

    def choose(self, path: Sequence[Value]) -> Value:
        """Return the value with the largest tau over all held-out pairs, the first if several.

        Parameters
        ----------
        path : sequence
            Values of the parameter, the most cautious first.

        Returns
        -------
        float or str
            The value; the models are left with another one.
        """
        rows = np.flatnonzero(self._used)
        pairs = decompose(self._graphs[rows], "edges")
        found: list[float] = []
        for value in path:
            self.relax(value)
            order = -strict_ranks(self.scores(rows)).astype(np.float64)
            violated, known = pairs.violations(order).T
            found.append(float(self._weight[rows] @ (known - 2 * violated)))
            if found[-3:] == sorted(found[-3:], reverse=True) and len(set(found[-3:])) == 3:
                break  # it fell twice running: what follows is weaker still
        return path[int(np.argmax(found))]

    def relax(self, value: float | str) -> None:
        """Train all models with a value of the parameter, each from where it stands."""
        for model, training in zip(self._models, self._training, strict=True):
            setattr(model, self._parameter, value)
            model._learn(*training)

    def scores(
        self, rows: Indices, at: float | str | None = None, method: str = "_decision"
    ) -> Values:
        """Return what the models say of training rows that they did not see.

        ``at`` is the value of the parameter; the last one if None.
        """
        if at is not None:
            self.relax(at)
        parts = [rows[self._fold[rows] == fold] for fold in range(N_FOLDS)]
        found = [
            getattr(model, method)(self._X[part])
            for model, part in zip(self._models, parts, strict=True)
        ]
        scores = np.empty((len(rows), found[0].shape[1]))
        for fold, values in enumerate(found):
            scores[self._fold[rows] == fold] = values
        return scores


def case_numbers(X: Any, graphs: PreferenceGraphs) -> Indices:
    """Return the number of each row's case, in the order of features, then graphs.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Instances.
    graphs : PreferenceGraphs
        Their preferences.

    Returns
    -------
    ndarray of shape (n_samples,)
        From 0 on; equal rows share a number.
    """
    known = graphs.touched() if graphs.layers is None else graphs.layers
    return numbered_rows(X, known)
