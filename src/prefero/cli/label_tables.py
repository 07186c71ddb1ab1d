"""Tables of labels: what commands do with labels that have features of their own."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import BadParameter

from prefero._names import did_you_mean
from prefero._pipelines import final_step, fit_final
from prefero._prediction import refuse_missing, takes_missing
from prefero._progress import reporting
from prefero.cli.automatic import FEWEST_ROWS, Found
from prefero.cli.console import say
from prefero.cli.models import behind_columns, refuse_unknown
from prefero.cli.options import Reading
from prefero.cli.rankers import AUTO, BASELINE, ORDERERS, make_orderer
from prefero.cli.tables import read
from prefero.cli.trials import Plan, Sample, Trials, refuse_gaps
from prefero.exceptions import DataError, ModelFileError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from prefero.cli.train import Training

PLACED, MEAN_RANKS = "placed", "mean-ranks"
PLACED_WORDS = (
    f"{PLACED}: how often the pairs of a label that was left out of the training are put right; "
    f"0.5 is a guess. {BASELINE.name} puts it in the middle, {MEAN_RANKS} fits the mean ranks of "
    "the others by their features; both do so for everyone."
)
# Its orders come from a greedy search in each group, which with many labels takes long.
_SLOW = ("cohen",)
_QUICK_LABELS = 3
_UNLESS_TOLD = "regression"


@dataclass(frozen=True)
class NewLabels:
    """A ranker of labels with features, asked about the labels of another table."""

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
    """Read the features of labels: the first column names them, all others are numbers or names.

    A column of names becomes one of 0 and 1 for each of them, called ``column=name``; where such
    columns are known of a training table, so does any column that they come from.
    """
    import pandas

    table = read(path)
    if not len(table) or len(table.frame.columns) < 2:
        raise table.error("a table of labels has a line a label: its name, then its features.")
    first, *columns = map(str, table.frame.columns)
    names = table.features([first], [first])[first]
    for row in names[names.isna() | names.duplicated()].index:
        what = "is empty" if pandas.isna(names[row]) else f"names {names[row]!r} twice"
        raise table.error(f"column {first!r}, the name of the label, {what}.", int(row))
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

    A label that is named by a pattern such as 'score *' may be called by what the star stands for.
    """
    features = read_label_table(path)
    begin, star, end = (pattern or "").partition("*")
    rows = []
    for label in labels:
        short = label[len(begin) : len(label) - len(end)]
        called = label if label in features.index or not star else short
        if called not in features.index:
            near = did_you_mean(called, list(features.index))
            raise DataError(f"no line is for the label {label!r}{near}.", str(path))
        rows.append(called)
    return features.loc[rows].set_axis(labels)


def other_labels(ranker: Any, path: Path) -> NewLabels:
    """Return a ranker that is asked about the labels of another table."""
    known = getattr(ranker, "label_feature_names_in_", None)
    if known is None:
        raise ModelFileError(
            "the model knows no features of labels: train it with --label-table labels.csv."
        )
    features = read_label_table(path, known)
    made = {name.partition("=")[0] for name in features if "=" in name}
    blank = [name for name in known if "=" in name and name.partition("=")[0] in made]
    for name in features:
        if "=" in name and name not in known:
            say(f"{path}: {name!r} was not in the training data and is taken as unknown.")
    features = features.reindex(columns=[*dict.fromkeys([*features, *blank])], fill_value=0.0)
    if lost := [name for name in known if name not in features]:
        raise ModelFileError(f"{path} lacks the column {lost[0]!r} that the model was trained on.")
    return NewLabels(ranker, features[list(known)])


def build_ranker(
    name: str, features: "pd.DataFrame", seed: int, settings: Mapping[str, Any] | None = None
) -> Any:
    """Return an untrained ranker of labels with features, by an orderer, for some instances."""
    from prefero import LabelFeatureRanker

    orderer = make_orderer(name)
    given = dict(settings or {})
    refuse_unknown(given, orderer)
    if "random_state" in orderer.get_params(deep=False):
        given = {"random_state": seed} | given
    return behind_columns(LabelFeatureRanker(orderer.set_params(**given)), features)


def orderers_for(name: str | None) -> list[str]:
    """Return the orderers that a list names; by default, or if it is auto, those that are quick."""
    if name is None or name == AUTO:
        return [name for name in ORDERERS if name not in _SLOW]
    return [one.strip() for one in name.split(",")]


@dataclass(frozen=True)
class LabelTable:
    """The features of the labels, and the instances that rank them."""

    features: "pd.DataFrame"
    sample: Sample
    plan: Plan

    @classmethod
    def of(cls, path: Path, sample: Sample, reading: Reading, plan: Plan) -> "LabelTable":
        """Read the features of the labels that some instances rank."""
        if sample.multilabel:
            raise BadParameter(f"--label-table is for rankings, not for --format {reading.format}.")
        return cls(label_features(path, list(sample.ranks), reading.labels), sample, plan)

    def fit(
        self,
        model: str,
        training: "Training",
        instances: "pd.DataFrame",
        settings: Mapping[str, Any],
    ) -> Found:
        """Train on all rows, after labels were left out to see how well they are placed."""
        found, rankings = self._placed(model, settings), training.rankings
        ranker = build_ranker(found.name, instances, self.plan.seed, settings)
        final_step(ranker).set_params(label_features=self.features)
        if not takes_missing(ranker):
            able = "--model rankboost or trees"
            refuse_missing(rankings.table, instances, rankings.rows, found.name, able)
        trained = fit_final(ranker, instances, rankings.y, sample_weight=training.weights)
        return replace(found, ranker=trained)

    def _placed(self, model: str, settings: Mapping[str, Any]) -> Found:
        """The orderer that places labels best, and how well it and the others do."""
        if len(self.features) < 3 or self.sample.witnesses < FEWEST_ROWS:
            say("Too few labels or rankings to see how well labels never seen are placed.")
            return Found(None, _UNLESS_TOLD if model == AUTO else model, {}, None, PLACED)
        trials = self.trials(orderers_for(model), settings)
        for (name, _), reason in trials.failed.items():
            say(f"{name} is left out: {reason}")
        judged = trials.judged(PLACED)
        held_out = dict(zip(judged.rankers, judged.scores[0].tolist(), strict=True))
        able = [judged.rankers[i] for i in judged.order if judged.rankers[i] in ORDERERS]
        say(PLACED_WORDS)
        return Found(None, able[0] if model == AUTO else model, held_out, judged.verdict(), PLACED)

    def trials(
        self,
        names: Iterable[str],
        settings: Mapping[str, Any] | None = None,
        *,
        quick: bool = False,
    ) -> Trials:
        """Measure how orderers place each label, left out of the training in turn."""
        import numpy as np

        from prefero.evaluation import ResultTable as Table
        from prefero.evaluation import leave_one_label_out

        n, sample, seed = len(self.features), self.sample, self.plan.seed
        some = np.linspace(0, n - 1, min(n, _QUICK_LABELS) if quick else n)
        done, names, kept = Trials(Table([])), list(names), {BASELINE.name, MEAN_RANKS}
        with reporting("auto", len(names) * len(some), what="Leaving labels out") as advance:
            for name in names:
                model = build_ranker(name, sample.features, seed, settings)
                final_step(model).set_params(calibrate=False)  # only the order is measured
                try:
                    refuse_gaps(sample, model)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # iterations that ran out in a fold
                        found = leave_one_label_out(
                            {name: model},
                            sample.features,
                            sample.ranks,
                            self.features,
                            n_splits=min(self.plan.folds, sample.witnesses),
                            groups=sample.groups,
                            labels=some.astype(int).tolist(),
                            dataset=sample.name,
                            random_state=seed,
                            progress=advance,
                        )
                except ValueError as error:
                    done.failed[name, sample.name] = str(error)
                    continue
                done.results += Table(row for row in found if row["ranker"] in kept | {name})
                kept = set()
        return done


def compare_placing(
    rankers: str | None,
    samples: Iterable[Sample],
    path: Path,
    reading: Reading,
    plan: Plan,
    *,
    quick: bool = False,
) -> Trials:
    """Measure on some samples how well orderers place labels that are left out."""
    from prefero.evaluation import ResultTable as Table

    done = Trials(Table([]))
    for sample in samples:
        own = LabelTable.of(path, sample, reading, plan).trials(orderers_for(rankers), quick=quick)
        done.results += own.results
        done.failed |= own.failed
    return done
