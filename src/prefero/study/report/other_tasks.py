"""The pages of multilabel rankers and of orderers: sections of words, tables and cards."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from prefero._optional import require
from prefero._sklearn import safe_indexing
from prefero._typing import Values
from prefero.metrics import multilabel as sets
from prefero.metrics import ordering
from prefero.rankings import split_calibrated, text_from_calibrated
from prefero.study._data import DataSet
from prefero.study._tasks import HEAD, Task
from prefero.study.comparison import Comparison
from prefero.study.experiment import seeded
from prefero.study.explanation import ZERO_POINT, explain
from prefero.study.report import findings
from prefero.study.report.close_look import MOST_ROWS, splits
from prefero.study.report.rendering import listed_importance
from prefero.study.table import Table

_IMPORTANCE_ROWS = 300
_TYPICAL, _WORST, _LISTED_OBJECTS = 1, 3, 5
_SHUFFLED = "How much the mean {} of unseen rows falls when the feature's values are shuffled."

ABOUT = {
    "multilabel_ranker": (
        "Rho is Spearman’s correlation over the labels and the zero point between relevant and "
        "irrelevant ones: 1 is all in place, 0 is chance. Precision is the mean share of relevant "
        "labels at or above each relevant one. Losses and one-error are better the smaller they "
        "are: the share of pairs in the wrong order, of first labels that are irrelevant, of "
        "labels on the wrong side, of rows with any label on the wrong side."
    ),
    "orderer": (
        "Means over groups that no model was trained on. Rho and tau are the correlations of true "
        f"and predicted order: 1 is right, 0 is chance. NDCG looks at the first {HEAD}, MAP at all "
        "relevant objects, MRR at the first relevant one: 1 is best. Relevant is what has a "
        "positive grade or, without grades, the first of each group."
    ),
}


@dataclass(frozen=True)
class Card:
    """One row or group looked at closely."""

    title: str
    facts: dict[str, str]
    words: str = ""
    table: Table | None = None
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a page."""

    name: str
    title: str
    words: list[str] = field(default_factory=list)
    tables: list[tuple[str, Table, int | None]] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class TaskPage:
    """Everything that the template of the sections shows."""

    title: str
    verdict: str
    in_words: str
    sections: list[Section]
    importance: tuple[str, list[tuple[str, float, float]]]
    n_features: int
    command: str | None
    rankers: dict[str, str]
    made: dict[str, str]


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


def leaderboard_section(
    task: Task, found: Comparison, results: Table, constant: list[str], protocol: str
) -> Section:
    """Return the leaderboard, with words about its measures and the baseline."""
    caption = "Means over all folds and data sets, the best first"
    tables: list[tuple[str, Table, int | None]] = [
        (caption, findings.leaderboard(found, results), 0)
    ]
    if len(found.datasets) > 1:
        per_set = (
            f"Mean {found.measure} on each data set",
            findings.scores_by_dataset(found),
            None,
        )
        tables.append(per_set)
    words = [f"{protocol} {ABOUT[task.kind]}"]
    if constant:
        listed = ", ".join(constant)
        words.append(
            f"{listed}: the same answer for everyone. What the others gain over it is what the "
            "features tell."
        )
    return Section("leaderboard", "Leaderboard", words, tables)


def shuffled_importance(
    task: Task, look: Unseen, measure: str, random_state: int
) -> tuple[str, list[tuple[str, float, float]]]:
    """Return how much a measure of unseen rows falls when a feature is shuffled among them."""
    test = np.flatnonzero(look.fold == 0)
    if look.data.groups is None:
        test = test[:_IMPORTANCE_ROWS]
    X, rows, model = safe_indexing(look.X, test), look.rows[test], look.models[0]
    random = check_random_state(random_state)

    def value(X: Any) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = task.predict(model, X, look.data, rows)
            return task.measure(model, X, predicted, look.data, rows, rows)[measure]

    whole = value(X)
    falls = [whole - value(shuffled) for shuffled in _each_shuffled(X, random)]
    return listed_importance(_SHUFFLED.format(measure), look.features, np.array(falls))


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


def _middle_and_low(values: Values) -> list[tuple[str, int]]:
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))].tolist()
    start = max(0, (len(order) - _TYPICAL) // 2)
    middle = order[start : start + _TYPICAL]
    low = [i for i in order[:_WORST] if middle and values[i] < values[middle[0]]]
    return [("typical", i) for i in middle] + [("worst", i) for i in low]


# Multilabel ranking


def sections_of_sets(look: Unseen) -> tuple[str, list[Section]]:
    """Return a sentence about a multilabel ranker, and sections on labels and rows."""
    data = look.data
    calibrated = np.empty((len(look.rows), len(data.labels) + 1))
    for number, (_, ranks) in enumerate(look.predicted):
        calibrated[look.fold == number] = ranks
    truth, (relevance, _) = data.ranks[look.rows], split_calibrated(data.ranks[look.rows])
    chosen = (calibrated[:, :-1] < calibrated[:, -1:]).astype(np.float64)
    wrong = sets.hamming_loss(relevance, chosen)
    words = (
        f"For rows that it has not seen, it puts about {100 * (1 - wrong):.0f} of 100 labels on "
        "the right side of the zero point."
    )
    labels = Table(
        {
            "label": str(name),
            "judged": int(np.isfinite(relevance[:, j]).sum()),
            "relevant": _share(relevance[:, j] == 1, np.isfinite(relevance[:, j])),
            "predicted": _share(chosen[:, j] == 1, np.isfinite(relevance[:, j])),
            "precision": _share(relevance[:, j] == 1, (chosen[:, j] == 1) & (relevance[:, j] >= 0)),
            "recall": _share(chosen[:, j] == 1, relevance[:, j] == 1),
        }
        for j, name in enumerate(data.labels)
    )
    caption = "Shares of the rows that judge the label; precision and recall of the prediction"
    rho = np.asarray(sets.calibrated_rho(truth, calibrated, average=False))
    cards = [
        _row_card(look, truth[i], calibrated[i], float(rho[i]), kind, i)
        for kind, i in _middle_and_low(rho)
    ]
    note = "The relevant labels stand in the first brackets. Row numbers are those of the table."
    return words, [
        Section("labels", "Labels", [], [(caption, labels, None)]),
        Section("rows", "Typical and worst rows", [note], cards=cards),
    ]


def _share(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> str:
    return f"{(part & whole).sum() / whole.sum():.0%}" if whole.any() else "–"


def _row_card(
    look: Unseen, truth: Values, predicted: Values, rho: float, kind: str, i: int
) -> Card:
    names = look.data.labels.tolist()
    sides = np.where(np.isnan(truth[:-1]), 0, np.sign(truth[-1] - truth[:-1]))
    said = np.sign(predicted[-1] - predicted[:-1])
    mistaken = np.flatnonzero(sides * said < 0)
    label = names[int(mistaken[0]) if len(mistaken) else int(np.argmin(predicted[:-1]))]
    why = explain(look.models[look.fold[i]], look.X, i, pair=(label, ZERO_POINT))
    reverse = " It is the reverse in truth." if len(mistaken) else ""
    return Card(
        f"Row {look.name(i)}: {kind}, rho {rho:.3f}",
        {
            "true": text_from_calibrated(truth[None], names)[0],
            "predicted": text_from_calibrated(predicted[None], names)[0],
        },
        why.verdict() + reverse,
        why.effect_table(_LISTED_OBJECTS) if why.effects else None,
        why.how,
    )


# Supervised ordering


def sections_of_objects(look: Unseen) -> tuple[str, list[Section]]:
    """Return a sentence about an orderer, and a section on groups."""
    data = look.data
    predicted = np.empty(len(look.rows))
    for number, ranks in enumerate(look.predicted):
        predicted[look.fold == number] = ranks
    members = np.zeros(len(look.rows)) if data.groups is None else data.groups[look.rows]
    names, codes = np.unique(members, return_inverse=True)
    truth = data.ranks[look.rows]
    rho = np.array([_rho(truth[codes == g], predicted[codes == g]) for g in range(len(names))])
    known = rho[~np.isnan(rho)]
    right = f"{(known > 0).mean():.0%}" if len(known) else "none"
    words = (
        f"In groups that it has not seen, {right} of the orders are nearer to the true one than to "
        "its reverse; guessing would make it 50%."
    )
    shares = (0.1, 0.25, 0.5, 0.75, 0.9)
    quantiles = np.quantile(known, shares) if len(known) else np.full(len(shares), np.nan)
    table = Table(
        {"share of groups below": f"{share:.0%}", "rho": float(value)}
        for share, value in zip(shares, quantiles, strict=True)
    )
    cards = [
        _group_card(look, str(names[g]), np.flatnonzero(codes == g), predicted, rho[g], kind)
        for kind, g in _middle_and_low(rho)
    ]
    note = f"The first {_LISTED_OBJECTS} objects as predicted. Row numbers are those of the table."
    return words, [
        Section("groups", "Groups", [], [("How rho differs between groups", table, None)]),
        Section("rows", "Typical and worst groups", [note], cards=cards),
    ]


def _rho(truth: Values, predicted: Values) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ordering.group_rho(truth, -predicted)


def _group_card(
    look: Unseen, name: str, rows: NDArray[np.intp], predicted: Values, rho: float, kind: str
) -> Card:
    order = rows[np.argsort(predicted[rows], kind="stable")][:_LISTED_OBJECTS]
    grades = look.data.scores
    truth: Callable[[int], float] = lambda i: float(look.data.ranks[look.rows[i]])  # noqa: E731
    table = Table(
        {
            "row": look.name(i),
            "predicted": int(predicted[i]),
            "true rank": truth(i),
            **({} if grades is None else {"grade": float(grades[look.rows[i]])}),
        }
        for i in order.tolist()
    )
    facts = {"objects": str(len(rows))}
    return Card(f"Group {name}: {kind}, rho {rho:.3f}", facts, "", table, "Objects in order")


SECTIONS: Mapping[str, Callable[[Unseen], tuple[str, list[Section]]]] = {
    "multilabel_ranker": sections_of_sets,
    "orderer": sections_of_objects,
}
