"""Labels with features of their own: models that also rank labels never seen in training."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import BadParameter

from prefero._model_inputs import refuse_missing, takes_missing
from prefero._names import did_you_mean
from prefero._pipelines import final_step, fit_final
from prefero._progress import reporting
from prefero.cli import models
from prefero.cli.console import say
from prefero.cli.experiments import CrossValidation, FitResult, Sample, Trials
from prefero.cli.options import Reading
from prefero.cli.tables import TrainingData, read
from prefero.exceptions import DataError, ModelFileError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

PLACED, MEAN_RANKS = "placed", "mean-ranks"
PLACED_HELP = (
    f"{PLACED}: the share of pairs in the right order, of labels left out of the training; 0.5 is "
    f"a guess. {models.BASELINE.name} puts them in the middle, {MEAN_RANKS} predicts their mean "
    "rank from their features; both give every row the same order."
)
# Its greedy search takes long with many labels.
_SLOW = ("cohen",)
_QUICK_LABELS = 3
_DEFAULT = "regression"
# With fewer rows cross-validation says nothing.
_FEWEST_ROWS = 6


@dataclass(frozen=True)
class NewLabels:
    """A ranker of labels with features, applied to the labels of another table."""

    ranker: Any
    features: "pd.DataFrame"

    @property
    def labels_(self) -> "NDArray[Any]":
        """The names of those labels."""
        return self.features.index.to_numpy()

    def predict(self, X: Any) -> "NDArray[Any]":
        """Predict their ranks."""
        return self.ranker.predict(X, labels=self.features)

    def decision_function(self, X: Any) -> "NDArray[Any]":
        """Return their scores."""
        return self.ranker.decision_function(X, labels=self.features)


def read_label_table(path: Path, known: Iterable[str] = ()) -> "pd.DataFrame":
    """Read the features of labels: names in the first column, then numbers or categories.

    A column of categories becomes one indicator per category, called ``column=category``; so does
    any column that ``known`` features of a training table come from.
    """
    import pandas

    table = read(path)
    if not len(table) or len(table.frame.columns) < 2:
        raise table.error("a table of labels has one row per label: its name, then its features.")
    first, *columns = map(str, table.frame.columns)
    names = table.features([first], [first])[first]
    for row in names[names.isna() | names.duplicated()].index:
        problem = "is empty" if pandas.isna(names[row]) else f"names {names[row]!r} twice"
        raise table.error(f"column {first!r}, the name of the label, {problem}.", int(row))
    named = {name.partition("=")[0] for name in known if "=" in name}
    features = table.features(columns, [name for name in columns if name in named] or None)
    refuse_missing(table, features, range(len(features)), "a label", "without the column, labels")
    texts = [name for name in columns if features[name].dtype == object]
    indicators = [
        pandas.get_dummies(features[name], prefix=name, prefix_sep="=", dtype=float)
        if name in texts
        else features[[name]]
        for name in columns
    ]
    return pandas.concat(indicators, axis=1).set_axis(names.to_numpy(object))


def label_features(path: Path, labels: list[str], pattern: str | None) -> "pd.DataFrame":
    """Return the features of labels, found by their names.

    Labels that match a pattern such as 'score *' may be named by what the star stands for.
    """
    features = read_label_table(path)
    begin, star, end = (pattern or "").partition("*")
    rows = []
    for label in labels:
        short = label[len(begin) : len(label) - len(end)]
        name = label if label in features.index or not star else short
        if name not in features.index:
            near = did_you_mean(name, list(features.index))
            raise DataError(f"there is no row for the label {label!r}{near}.", str(path))
        rows.append(name)
    return features.loc[rows].set_axis(labels)


def other_labels(ranker: Any, path: Path) -> NewLabels:
    """Return a ranker of the labels of another table."""
    known = getattr(ranker, "label_feature_names_in_", None)
    if known is None:
        raise ModelFileError(
            "the model knows no features of labels: train it with --label-table labels.csv."
        )
    features = read_label_table(path, known)
    encoded = {name.partition("=")[0] for name in features if "=" in name}
    blank = [name for name in known if "=" in name and name.partition("=")[0] in encoded]
    for name in features:
        if "=" in name and name not in known:
            say(f"{path}: {name!r} was not in the training data and is taken as unknown.")
    features = features.reindex(columns=[*dict.fromkeys([*features, *blank])], fill_value=0.0)
    if missing := [name for name in known if name not in features]:
        raise ModelFileError(
            f"{path} lacks the column {missing[0]!r} that the model was trained on."
        )
    return NewLabels(ranker, features[list(known)])


def build_ranker(
    name: str, features: "pd.DataFrame", seed: int, parameters: Mapping[str, Any] | None = None
) -> Any:
    """Return an untrained ranker of labels with features, by an orderer."""
    from prefero import LabelFeatureRanker

    choice = models.ORDERERS[models.known_name(name, models.ORDERERS, "the orderers: ")]
    orderer = choice.make()
    models.refuse_unknown(parameters or {}, orderer)
    given = {"random_state": seed} if "random_state" in models.seeded(choice, seed) else {}
    orderer.set_params(**given | dict(parameters or {}))
    return models.behind_columns(LabelFeatureRanker(orderer), features)


def orderers_for(names: str | None) -> list[str]:
    """Return the orderers in a list; by default, or for auto, those that are quick."""
    if names is None or names == models.AUTO:
        return [name for name in models.ORDERERS if name not in _SLOW]
    return [name.strip() for name in names.split(",")]


def fit_with_label_table(
    path: Path,
    sample: Sample,
    reading: Reading,
    plan: CrossValidation,
    model: str,
    data: TrainingData,
    instances: "pd.DataFrame",
    parameters: Mapping[str, Any],
) -> FitResult:
    """Train on all rows, after measuring how well labels that are left out are placed."""
    labels = _features_for(path, sample, reading)
    chosen, held_out, summary = _placed(labels, sample, plan, model, parameters)
    ranker = build_ranker(chosen, instances, plan.seed, parameters)
    final_step(ranker).set_params(label_features=labels)
    rankings = data.rankings
    if not takes_missing(ranker):
        refuse_missing(
            rankings.table, instances, rankings.rows, chosen, models.ORDERERS_WITH_MISSING
        )
    fit_final(ranker, instances, rankings.y, sample_weight=data.weights)
    return FitResult(ranker, chosen, PLACED, held_out, summary)


def _features_for(path: Path, sample: Sample, reading: Reading) -> "pd.DataFrame":
    if sample.multilabel:
        raise BadParameter(f"--label-table is for rankings, not for --format {reading.format}.")
    return label_features(path, list(sample.target), reading.labels)


def _placed(
    labels: "pd.DataFrame",
    sample: Sample,
    plan: CrossValidation,
    model: str,
    parameters: Mapping[str, Any],
) -> tuple[str, dict[str, float], str | None]:
    """The orderer that places labels best, how well each does, and a summary."""
    if len(labels) < 3 or sample.independent_units < _FEWEST_ROWS:
        say("Too few labels or rankings to measure how well unseen labels are placed.")
        return _DEFAULT if model == models.AUTO else model, {}, None
    trials = leave_labels_out(orderers_for(model), labels, sample, plan, parameters)
    for (name, _), reason in trials.failed.items():
        say(f"{name} is left out: {reason}")
    found = trials.compared(PLACED)
    held_out = dict(zip(found.rankers, found.scores[0].tolist(), strict=True))
    able = [found.rankers[i] for i in found.order if found.rankers[i] in models.ORDERERS]
    say(PLACED_HELP)
    return able[0] if model == models.AUTO else model, held_out, found.summary()


def leave_labels_out(
    names: Iterable[str],
    labels: "pd.DataFrame",
    sample: Sample,
    plan: CrossValidation,
    parameters: Mapping[str, Any] | None = None,
    *,
    quick: bool = False,
) -> Trials:
    """Measure how orderers place each label, left out of the training in turn."""
    import numpy as np

    from prefero.evaluation import ResultTable, leave_one_label_out

    n = len(labels)
    some = np.linspace(0, n - 1, min(n, _QUICK_LABELS) if quick else n).astype(int).tolist()
    done, names, kept = Trials(ResultTable([])), list(names), {models.BASELINE.name, MEAN_RANKS}
    with reporting("auto", len(names) * len(some), what="Leaving labels out") as advance:
        for name in names:
            model = build_ranker(name, sample.features, plan.seed, parameters)
            final_step(model).set_params(calibrate=False)  # only the order is measured
            try:
                sample.refuse_missing(model, name)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # solvers that did not converge in a fold
                    found = leave_one_label_out(
                        {name: model},
                        sample.features,
                        sample.target,
                        labels,
                        n_splits=min(plan.folds, sample.independent_units),
                        groups=sample.groups,
                        labels=some,
                        dataset=sample.name,
                        random_state=plan.seed,
                        progress=advance,
                    )
            except ValueError as error:
                done.failed[name, sample.name] = str(error)
                continue
            done.results += ResultTable(row for row in found if row["ranker"] in kept | {name})
            kept = set()
    return done


def compare_placing(
    rankers: str | None,
    samples: Iterable[Sample],
    path: Path,
    reading: Reading,
    plan: CrossValidation,
    *,
    quick: bool = False,
) -> Trials:
    """Measure on some samples how well orderers place labels that are left out."""
    from prefero.evaluation import ResultTable

    done = Trials(ResultTable([]))
    for sample in samples:
        labels = _features_for(path, sample, reading)
        own = leave_labels_out(orderers_for(rankers), labels, sample, plan, quick=quick)
        done.results += own.results
        done.failed |= own.failed
    return done
