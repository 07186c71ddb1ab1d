"""What the tests of model files share: models of every kind, and files taken apart."""

import json
import struct

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import prefero
from prefero.cli.models import behind_columns
from prefero.persistence import ModelFileError
from prefero.persistence._container import read_container, write_container
from prefero.rankings import drop_labels, strict_ranks

TABLE = ["rain", "sun", "wind"]


def estimators_of(package):
    """The public estimators of a package; automatic ones of another task stand with that."""
    made = {"StackingLabelRanker": stack}
    task = {"AutoMultilabelRanker": "multilabel", "AutoOrderer": "ordering"}
    names = [name for name, place in prefero._PUBLIC.items() if task.get(name, place) == package]
    return [
        automatic(name) if name.startswith("Auto") else made.get(name, getattr(prefero, name))()
        for name in sorted(names)
    ]


def automatic(name="AutoLabelRanker"):
    """An automatic ranker that is quick, and keeps whatever is better than the consensus order."""
    estimator = getattr(prefero, name)(preset="quick", random_state=0)
    return (
        estimator.set_params(baseline_guard=0)
        if "baseline_guard" in estimator.get_params()
        else estimator
    )


def stack():
    """A stack of rankers of several kinds, one behind a transformer."""
    lines = prefero.make_ranking_pipeline(RobustScaler(), prefero.PairwiseLabelRanker())
    trees = prefero.ForestLabelRanker(3, random_state=0)
    rankers = [("trees", trees), ("boosts", small(prefero.BoostingLabelRanker())), ("lines", lines)]
    return prefero.StackingLabelRanker(rankers, cv=2, baseline_guard=0)


def problem(n=40, c=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, strict_ranks(X @ rng.normal(size=(3, c)))


def table(X):
    return pd.DataFrame(X, columns=TABLE).assign(soil=np.resize(["clay", "sand", "loam"], len(X)))


def notes(X):
    """A text a row that tells something of it."""
    words = [f"{'wet' if x > 0 else 'dry'} soil {'and' if y > 0 else 'or'} rain" for x, y, *_ in X]
    return pd.Series([f"{text} of day {i}" for i, text in enumerate(words)], dtype="string")


def small(estimator):
    """The estimator, with few trees: what a file holds is the same."""
    few = {"n_estimators": 3, "random_state": 0}
    known = estimator.get_params()
    return estimator.set_params(**{name: few[name] for name in few if name in known})


def fitted_models():
    """Small fitted models of every kind that can be saved, each with instances to predict."""
    X, Y = problem(24)
    new = problem(5, seed=1)[0]
    ranks, qid = np.tile([1, 2, 3, 4], 6), np.repeat(np.arange(6), 4)
    Yn = pd.DataFrame(drop_labels(Y, 0.2, random_state=0), columns=["a", "b", "<c>", "ä ö"])
    models = {}
    for estimator in [*estimators_of("label_ranking"), automatic(), stack()]:
        models[type(estimator).__name__] = small(estimator).fit(X, Yn), new
    for estimator in estimators_of("multilabel"):
        models[type(estimator).__name__] = small(estimator).fit(X, (Y < 3).astype(int)), new
    for estimator in estimators_of("ordering"):
        models[type(estimator).__name__] = small(estimator).fit(X, ranks, qid=qid), new
    counts, asked = np.abs(X).round(), np.abs(new).round()
    models["LogCountTransformer"] = prefero.LogCountTransformer().fit(counts), asked
    models["BoostingFeatureSelector"] = prefero.BoostingFeatureSelector(2).fit(counts, Y), asked
    prose = pd.DataFrame({"note": notes(X)})
    models["TextEncoder"] = prefero.TextEncoder(2).fit(prose), prose.iloc[:5]
    models["mallows"] = prefero.ConsensusLabelRanker("mallows").fit(X, Yn), new
    models["bayes"] = prefero.PairwiseLabelRanker(GaussianNB()).fit(X, Yn), new
    models["kernel"] = (
        prefero.RankSVMOrderer(kernel="rbf", n_components=4).fit(X, ranks, qid=qid),
        new,
    )
    models["square"] = prefero.ExpectedRankOrderer(degree=2).fit(X, ranks, qid=qid), new
    frame, asked = table(X), table(new)
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), TABLE),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["soil"]),
        (OrdinalEncoder(), ["soil"]),
    )
    pairs = prefero.PairwiseLabelRanker()
    models["columns"] = make_pipeline(columns, PCA(3), pairs).fit(frame, Yn), asked
    union = make_union(MinMaxScaler(), RobustScaler(), QuantileTransformer(n_quantiles=5))
    scaled = make_pipeline(union, PowerTransformer(), prefero.LogLinearLabelRanker())
    models["union"] = scaled.fit(X, Yn), new
    models["RankingPipeline"] = (
        prefero.make_ranking_pipeline(RobustScaler(), prefero.ConsensusLabelRanker()).fit(X, Yn),
        new,
    )
    words, asked_words = (one.astype({"soil": "category"}) for one in (frame, asked))
    models["categories"] = prefero.TreeLabelRanker(random_state=0).fit(words, Yn), asked_words
    return {**models, **_of_tables(words, Yn, asked_words), **_wrapped(X, Yn, new)}


def _of_tables(frame, Y, asked):
    """Models of columns of every kind: numbers, categories and texts."""
    mixed, new = (one.assign(note=notes(one[TABLE].to_numpy())) for one in (frame, asked))
    boosting = small(prefero.BoostingLabelRanker())
    behind = prefero.make_ranking_pipeline(
        prefero.TableTransformer(), small(prefero.ForestLabelRanker())
    )
    trained = behind_columns(prefero.LogLinearLabelRanker(), mixed)
    return {
        "boosted categories": (boosting.fit(frame, Y), asked),
        "automatic table": (automatic().fit(mixed, Y), new),
        "TableTransformer": (prefero.TableTransformer().fit(mixed), new),
        "table pipeline": (behind.fit(mixed, Y), new),
        "as commands train": (trained.fit(mixed, Y), new),
    }


def _wrapped(X, Y, new):
    """Models inside models."""
    features = pd.DataFrame({"size": [1.0, 2, 3, 4], "hue": [0.0, 1, 0, 1]}, index=list(Y.columns))
    ranker = prefero.make_ranking_pipeline(RobustScaler(), small(prefero.ForestLabelRanker()))
    relevance = (Y.fillna(4) < 3).astype(int)
    constant = stack().set_params(baseline_guard=1e9)
    return {
        "label table": (prefero.LabelFeatureRanker(label_features=features).fit(X, Y), new),
        "calibrated": (prefero.CalibratedMultilabelRanker(ranker).fit(X, relevance), new),
        "constant stack": (constant.fit(X, Y), new),
    }


def answers(model, X):
    """What a model says of instances, by the methods that it has."""
    methods = (
        *("predict", "predict_calibrated", "decision_function", "predict_pairwise"),
        *("predict_expected_tau", "predict_buckets", "predict_top_set", "predict_order"),
        *("predict_partial", "predict_rank_intervals", "predict_ranks", "predict_spread"),
        *("predict_ties", "predict_votes", "transform"),
    )
    return {name: np.asarray(getattr(model, name)(X)) for name in methods if hasattr(model, name)}


class TakenApart:
    """A model file taken apart, to be put together again with something changed."""

    def __init__(self, path):
        self.header, payload = read_container(path)
        payload = bytes(payload)
        (length,) = struct.unpack_from("<Q", payload)
        schema = json.loads(payload[8 : 8 + length])
        self.model, self.arrays, at = schema["model"], [], 8 + length
        for dtype, order, shape in schema["arrays"]:
            array = np.ndarray(shape, dtype, payload, at, order=order)
            self.arrays.append(array.copy(order=order))
            at += array.nbytes + -array.nbytes % 16

    def payload(self, about=None):
        """The payload; ``about`` replaces what it says of its arrays."""
        if about is None:
            about = [[a.dtype.str, "C", list(a.shape)] for a in self.arrays]
        text = json.dumps({"arrays": about, "model": self.model}).encode()
        text += b" " * (-(len(text) + 8) % 16)
        contents = [array.tobytes() + bytes(-array.nbytes % 16) for array in self.arrays]
        return b"".join([struct.pack("<Q", len(text)), text, *contents])

    def write(self, path, **changes):
        """Write the file with a right checksum."""
        write_container(path, self.header, [self.payload(**changes)])

    @property
    def state(self):
        """The state of the outermost estimator, as JSON."""
        return self.model["estimator"][2]

    def estimators(self):
        """The states of all estimators, by their class."""
        return [content for kind, content in nodes(self.model) if kind == "estimator"]


def nodes(value):
    """Every (kind, content) in a value of a model file."""
    if isinstance(value, list):
        for item in value:
            yield from nodes(item)
    elif isinstance(value, dict):
        for kind, content in value.items():
            yield kind, content
            inside = list(content[2].values()) if kind == "estimator" else content
            yield from nodes(inside)


def refused(parts, path, match="model.prefero", **changes):
    """Assert that a file of these parts is refused in one sentence that names it."""
    parts.write(path, **changes)
    with pytest.raises(ModelFileError, match=match) as caught:
        prefero.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
