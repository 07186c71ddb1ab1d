"""The close look at multilabel rankers and at orderers."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from prefero._names import without_common_start
from prefero._optional import require
from prefero._sklearn import safe_indexing
from prefero._typing import Values
from prefero.evaluation._data import DataSet
from prefero.evaluation._tasks import Task
from prefero.evaluation.experiment import seeded
from prefero.evaluation.table import Table
from prefero.inspection.explanation import ZERO_POINT, explain
from prefero.metrics import multilabel as sets
from prefero.metrics import ordering
from prefero.rankings import split_calibrated
from prefero.report.close_look import MOST_ROWS, splits
from prefero.report.rendering import listed_importance
from prefero.report.rows import MOST_PICKED, explanation, ranks_or_none, spread
from prefero.report.sections import ClosePart, Importance, Section

_IMPORTANCE_ROWS = 300
_EXPLAINED, _LISTED_OBJECTS = 12, 40
_SHUFFLED = "How much the mean {} of unseen rows falls when the feature's values are shuffled."


@dataclass(frozen=True, eq=False)
class Unseen:
    """Rows of a data set, and what models that were not trained on them predict."""

    data: DataSet
    rows: NDArray[np.intp]
    X: Any
    models: list[Any]
    fold: NDArray[np.intp]
    predicted: list[Any]

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        columns = getattr(self.X, "columns", range(self.X.shape[1]))
        return [name if isinstance(name, str) else f"x{name}" for name in columns]

    def name(self, i: int) -> str:
        """What the table calls a row."""
        index = getattr(self.data.X, "index", None)
        return str(self.rows[i] + 1 if index is None else index[self.rows[i]])


def foresee(task: Task, data: DataSet, ranker: Any, random_state: int) -> Unseen:
    """Cross-validate a ranker and keep every prediction; groups are not divided.

    Parameters
    ----------
    task : Task
        What the ranker does.
    data : DataSet
        The data set.
    ranker : estimator
        A ranker, or a pipeline that ends in one.
    random_state : int
        The seed of folds and ranker.

    Returns
    -------
    Unseen
        The predictions of a fold stand together; ``fold`` says which rows they are of.
    """
    rows = np.arange(len(data.ranks))
    if data.groups is None and len(rows) > MOST_ROWS:
        rows = np.sort(check_random_state(random_state).choice(rows, MOST_ROWS, replace=False))
    X = safe_indexing(data.X, rows)
    fold, models, predicted = np.empty(len(rows), dtype=np.intp), [], []
    for number, (train, test) in enumerate(splits(data.groups, rows, random_state)):
        model = seeded(ranker, random_state)
        with warnings.catch_warnings():
            # What a ranker has to say about the data it said in the experiment.
            warnings.simplefilter("ignore")
            ranks = _named(data, data.ranks[rows[train]])
            task.fit(model, safe_indexing(X, train), ranks, data, rows[train])
        fold[test] = number
        predicted.append(task.predict(model, safe_indexing(X, test), data, rows[test]))
        models.append(model)
    return Unseen(data, rows, X, models, fold, predicted)


def _named(data: DataSet, ranks: Values) -> Any:
    """Calibrated ranks under the names of the labels; ranks of objects as they are."""
    if ranks.ndim == 1:
        return ranks
    pandas = require("pandas", extra="study", purpose="The page")
    return pandas.DataFrame(ranks, columns=[*data.labels, ZERO_POINT])


def shuffled_importance(task: Task, look: Unseen, scoring: str, random_state: int) -> Importance:
    """Return how much a metric of unseen rows falls when a feature is shuffled among them."""
    test = np.flatnonzero(look.fold == 0)
    if look.data.groups is None:
        test = test[:_IMPORTANCE_ROWS]
    X, rows, model = safe_indexing(look.X, test), look.rows[test], look.models[0]
    random = check_random_state(random_state)

    def value(X: Any) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = task.predict(model, X, look.data, rows)
            return task.metrics_of(model, X, predicted, look.data, rows, rows)[scoring]

    whole = value(X)
    falls = [whole - value(shuffled) for shuffled in _each_shuffled(X, random)]
    return listed_importance(_SHUFFLED.format(scoring), look.features, np.array(falls))


def _each_shuffled(X: Any, random: np.random.RandomState) -> Iterator[Any]:
    order = random.permutation(X.shape[0])
    for j in range(X.shape[1]):
        changed = X.copy()
        if hasattr(changed, "iloc"):
            name = changed.columns[j]
            changed[name] = changed[name].iloc[order].set_axis(changed.index)
        else:
            changed[:, j] = changed[order, j]
        yield changed


# Multilabel ranking


def part_of_sets(
    task: Task, data: DataSet, ranker: Any, scoring: str, random_state: int
) -> ClosePart:
    """Look closely at a multilabel ranker: labels and rows, the zero point as a label more."""
    look = foresee(task, data, ranker, random_state)
    calibrated = np.empty((len(look.rows), len(data.labels) + 1))
    for number, (_, ranks) in enumerate(look.predicted):
        calibrated[look.fold == number] = ranks
    truth, (relevance, _) = data.ranks[look.rows], split_calibrated(data.ranks[look.rows])
    chosen = (calibrated[:, :-1] < calibrated[:, -1:]).astype(np.float64)
    start, names = without_common_start(data.labels)
    right = 100 * (1 - sets.hamming_loss(relevance, chosen))
    return ClosePart(
        in_words=f"For rows that it has not seen, it puts about {right:.0f} of 100 labels on the "
        "right side of the zero point.",
        about=f"{len(look.rows)} rows that it was not trained on",
        labels=names,
        start=start,
        sections=[_labels(names, relevance, chosen)],
        rows=_picked_sets(look, truth, calibrated, names),
        importance=shuffled_importance(task, look, scoring, random_state),
        n_features=len(look.features),
    )


def _labels(names: list[str], relevance: Values, chosen: Values) -> Section:
    judged = np.isfinite(relevance)
    table = Table(
        {
            "label": name,
            "judged": int(judged[:, j].sum()),
            "relevant": _share(relevance[:, j] == 1, judged[:, j]),
            "predicted": _share(chosen[:, j] == 1, judged[:, j]),
            "precision": _share(relevance[:, j] == 1, (chosen[:, j] == 1) & judged[:, j]),
            "recall": _share(chosen[:, j] == 1, relevance[:, j] == 1),
        }
        for j, name in enumerate(names)
    )
    caption = "Shares of the rows that judge the label; precision and recall of the prediction"
    return Section("labels", "Labels", [], [(caption, table)])


def _share(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> str:
    return f"{(part & whole).sum() / whole.sum():.0%}" if whole.any() else "–"


def _picked_sets(
    look: Unseen, truth: Values, predicted: Values, names: list[str]
) -> dict[str, Any]:
    rho = np.asarray(sets.calibrated_rho(truth, predicted, average=False))
    chosen = spread(rho, MOST_PICKED).tolist()
    explained = {
        chosen[int(at)] for at in spread(np.arange(len(chosen), dtype=float), _EXPLAINED)
    } | set(chosen[len(chosen) // 2 : len(chosen) // 2 + 1])
    rows = [
        {
            "name": look.name(i),
            "value": round(float(rho[i]), 3),
            "true": ranks_or_none(truth[i]),
            "predicted": predicted[i].tolist(),
            "facts": _sides(truth[i], predicted[i]),
            "why": _why_relevant(look, truth[i], predicted[i], names, i)
            if i in explained
            else None,
        }
        for i in chosen
    ]
    return {
        "noun": "Row",
        "title": "Rows",
        "note": "Labels before the zero point are relevant.",
        "metric": "rho",
        "items": [*names, ZERO_POINT],
        "rows": rows,
        "unexplained": "This row is not explained on the page: prefero explain does so for any.",
    }


def _mistaken(truth: Values, predicted: Values) -> NDArray[np.intp]:
    """The labels on the wrong side of the zero point."""
    sides = np.where(np.isnan(truth[:-1]), 0, np.sign(truth[-1] - truth[:-1]))
    return np.flatnonzero(sides * np.sign(predicted[-1] - predicted[:-1]) < 0)


def _sides(truth: Values, predicted: Values) -> list[list[str]]:
    wrong = len(_mistaken(truth, predicted))
    return [["labels on the wrong side", f"{wrong} of {int(np.isfinite(truth[:-1]).sum())}"]]


def _why_relevant(
    look: Unseen, truth: Values, predicted: Values, names: list[str], i: int
) -> dict[str, Any]:
    """Explain a label on the wrong side or, if there is none, the first one that is judged."""
    mistaken = _mistaken(truth, predicted)
    known = np.where(np.isnan(truth[:-1]), np.inf, predicted[:-1])
    j = int(mistaken[0]) if len(mistaken) else int(np.argmin(known))
    why = explain(look.models[look.fold[i]], look.X, i, pair=(look.data.labels[j], ZERO_POINT))
    side = "relevant" if predicted[j] < predicted[-1] else "not relevant"
    chance = "" if why.probability is None else f" (probability {why.probability:.2f} to be)"
    reverse = " It is the reverse in truth." if len(mistaken) else ""
    called = dict(zip(look.data.labels.tolist(), names, strict=True))
    return explanation(why, f"Why {names[j]} is {side}{chance}.{reverse}", called)


# Supervised ordering


def part_of_objects(
    task: Task, data: DataSet, ranker: Any, scoring: str, random_state: int
) -> ClosePart:
    """Look closely at an orderer: how groups differ, and groups to pick."""
    look = foresee(task, data, ranker, random_state)
    predicted = np.empty(len(look.rows))
    for number, ranks in enumerate(look.predicted):
        predicted[look.fold == number] = ranks
    members = np.zeros(len(look.rows)) if data.groups is None else data.groups[look.rows]
    names, codes = np.unique(members, return_inverse=True)
    groups = [np.flatnonzero(codes == g) for g in range(len(names))]
    truth = data.ranks[look.rows]
    rho = np.array([_rho(truth[rows], predicted[rows]) for rows in groups])
    known = rho[~np.isnan(rho)]
    right = f"{(known > 0).mean():.0%}" if len(known) else "none"
    return ClosePart(
        in_words=f"In groups that it has not seen, {right} of the orders are nearer to the true "
        "one than to its reverse; guessing would make it 50%.",
        about=f"{len(names)} groups that it was not trained on",
        sections=[_quantiles(known)] if len(known) > 1 else [],
        rows=_picked_groups(look, names, groups, predicted, rho),
        importance=shuffled_importance(task, look, scoring, random_state),
        n_features=len(look.features),
    )


def _quantiles(rho: Values) -> Section:
    shares = (0.1, 0.25, 0.5, 0.75, 0.9)
    table = Table(
        {"share of groups below": f"{share:.0%}", "rho": float(value)}
        for share, value in zip(shares, np.quantile(rho, shares), strict=True)
    )
    return Section("groups", "How groups differ", [], [("How rho differs between groups", table)])


def _rho(truth: Values, predicted: Values) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ordering.query_rho(truth, -predicted)


def _picked_groups(
    look: Unseen,
    names: NDArray[Any],
    groups: list[NDArray[np.intp]],
    predicted: Values,
    rho: Values,
) -> dict[str, Any]:
    rows = []
    for g in spread(rho, MOST_PICKED).tolist():
        # The objects put first, as far as they can be read.
        shown = groups[g][np.argsort(predicted[groups[g]], kind="stable")][:_LISTED_OBJECTS]
        rows.append(
            {
                "name": str(names[g]),
                "value": round(float(rho[g]), 3),
                "item": "row",
                "items": [look.name(i) for i in shown.tolist()],
                "true": ranks_or_none(look.data.ranks[look.rows[shown]]),
                "predicted": predicted[shown].tolist(),
                "facts": [["objects", str(len(groups[g]))]],
                "why": None,
            }
        )
    note = f"At most {_LISTED_OBJECTS} objects of a group, by their rows in the table."
    return {
        "noun": "Group",
        "title": "Groups",
        "note": note,
        "metric": "rho",
        "items": [],
        "rows": rows,
    }


PARTS: Mapping[str, Callable[[Task, DataSet, Any, str, int], ClosePart]] = {
    "multilabel_ranker": part_of_sets,
    "orderer": part_of_objects,
}
