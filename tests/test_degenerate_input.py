"""What must never happen: inputs that users bring, to every estimator and command they touch."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags

from cli_program import prefero_inside
from model_files import TakenApart, estimators_of, problem, small
from prefero import ConsensusLabelRanker, save
from prefero.base import GraphRankerMixin
from prefero.preferences import PreferenceGraphs

PACKAGES = ("automatic", "label_ranking", "multilabel", "ordering")
ESTIMATORS = [
    (package, small(estimator))
    for package in PACKAGES
    for estimator in estimators_of(package)
    if package == "ordering" or hasattr(estimator, "decision_function")
]


def of(*packages):
    """Run a test for every estimator of some packages."""
    chosen = [pair for pair in ESTIMATORS if pair[0] in packages]
    names = [type(estimator).__name__ for _, estimator in chosen]
    return pytest.mark.parametrize(("package", "estimator"), chosen, ids=names)


EVERY, RANKERS = of(*PACKAGES), of("automatic", "label_ranking")
LABELS = of("automatic", "label_ranking", "multilabel")


def data(package, n=24):
    """Features and the arguments of fit that follow them."""
    X, Y = problem(n)
    if package == "ordering":
        return X, {"y": np.resize([1.0, 2.0, 3.0, 4.0], n), "qid": np.arange(n) // 4}
    return X, {"y": (Y < 3).astype(float) if package == "multilabel" else Y.astype(float)}


def answer(model, X):
    """Predictions, which must be whole: a rank, 0 or 1, or a coordinate for everything."""
    found = model.transform(X) if hasattr(model, "transform") else model.predict(X)
    assert len(found) == len(X)
    assert np.isfinite(found).all()
    return found


def fit(estimator, X, targets, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(X, **targets, **more)


def refused(estimator, X, targets, words, **more):
    with pytest.raises(ValueError, match=words):
        fit(estimator, X, targets, **more)


# Features


@EVERY
def test_nan_in_features_is_accepted_or_its_place_is_named(package, estimator):
    X, targets = data(package)
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    frame.loc[5, "v"] = np.nan
    if get_tags(estimator).input_tags.allow_nan:
        answer(fit(estimator, frame, targets), frame)
        return
    refused(estimator, frame, targets, "column 'v', first in row 5")
    model = fit(estimator, frame.fillna(0), targets)
    with pytest.raises(ValueError, match="column 'v', first in row 5"):
        answer(model, frame)


@EVERY
def test_infinite_features_are_refused(package, estimator):
    X, targets = data(package)
    broken = X.copy()
    broken[3, 1] = np.inf
    refused(estimator, broken, targets, "infinity")
    with pytest.raises(ValueError, match="infinity"):
        answer(fit(estimator, X, targets), broken)


@EVERY
def test_features_that_never_change(package, estimator):
    X, targets = data(package)
    answer(fit(estimator, np.ones_like(X), targets), X)


@EVERY
def test_other_features_than_in_training_are_refused(package, estimator):
    X, targets = data(package)
    model = fit(estimator, X, targets)
    with pytest.raises(ValueError, match="features"):
        answer(model, X[:, :2])


# Targets


@EVERY
def test_infinite_targets_are_refused(package, estimator):
    X, targets = data(package)
    broken = np.where(targets["y"] == 1, np.inf, targets["y"])
    refused(estimator, X, {**targets, "y": broken}, "infinity|1, 0 or NaN")


@LABELS
def test_an_empty_row_is_ignored_with_one_warning(package, estimator):
    X, targets = data(package)
    targets["y"][[2, 7]] = np.nan
    with pytest.warns(UserWarning, match=r"2 of 24 rows .* \(the first is row 2\)"):
        answer(clone(estimator).fit(X, **targets), X)


@EVERY
def test_a_target_that_says_nothing_is_refused(package, estimator):
    X, targets = data(package)
    nothing = {**targets, "y": np.full_like(targets["y"], np.nan)}
    refused(estimator, X, nothing, "nothing to learn from")


@EVERY
def test_a_row_with_one_label_and_an_order_of_one_object_are_kept(package, estimator):
    X, targets = data(package)
    if package == "ordering":
        targets["qid"] = np.append(targets["qid"][:-1], 99)
        targets["y"][-1] = 1
    else:
        targets["y"][4, 1:] = np.nan
    answer(fit(estimator, X, targets), X)


@EVERY
def test_scores_given_as_ranks_are_refused_with_what_to_do(package, estimator):
    X, targets = data(package)
    words = {"multilabel": "1, 0 or NaN", "ordering": "ranks_in_queries"}
    scores = targets["y"] * 100 - 500
    refused(estimator, X, {**targets, "y": scores}, words.get(package, "ranks_from_scores"))


@EVERY
def test_ties_are_legal(package, estimator):
    X, targets = data(package)
    ties = np.ones_like(targets["y"])
    answer(fit(estimator, X, {**targets, "y": ties}), X)
    if package != "multilabel":
        answer(fit(estimator, X, {**targets, "y": np.ceil(targets["y"] / 2)}), X)


@EVERY
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_work_or_say_so(package, estimator, n):
    X, targets = data(package)
    few = {name: target[:n] for name, target in targets.items()}
    try:
        model = fit(estimator, X[:n], few)
    except ValueError:
        refused(estimator, X[:n], few, "sample|row|nothing|object|order")
    else:
        answer(model, X)


@LABELS
def test_one_label(package, estimator):
    X, targets = data(package)
    answer(fit(estimator, X, {"y": targets["y"][:, :1]}), X)


@LABELS
def test_a_label_that_nobody_knows_comes_last_with_a_warning(package, estimator):
    X, targets = data(package)
    targets["y"][:, 2] = np.nan
    with pytest.warns(UserWarning, match="predicted last: 2"):
        model = clone(estimator).fit(X, **targets)
    assert (model.predict_order(X)[:, -1] == 2).all()


@LABELS
def test_any_name_is_kept(package, estimator):
    X, targets = data(package)
    names = ["<script>", "NA", "ä ö", "日本"]
    frame = pd.DataFrame(targets["y"], columns=names)
    assert set(fit(estimator, X, {"y": frame}).predict_order(X)[0]) == set(names)


@LABELS
def test_weights(package, estimator):
    X, targets = data(package)
    for bad in (-1.0, np.nan, np.inf):
        weight = np.where(np.arange(len(X)) == 3, bad, 1.0)
        refused(estimator, X, targets, "sample_weight|weights", sample_weight=weight)
    refused(estimator, X, targets, "zero", sample_weight=np.zeros(len(X)))


@RANKERS
def test_contradicting_pairs_are_learned_from_or_refused_in_words(package, estimator):
    X, _ = data(package)
    cycle = PreferenceGraphs.from_pairs([[(0, 1), (1, 2), (2, 0)]] * len(X), n_labels=3)
    if isinstance(estimator, GraphRankerMixin):
        answer(fit(estimator, X, {"y": cycle}), X)
    else:
        refused(estimator, X, {"y": cycle}, "learns from rankings, not from preference graphs")


@pytest.mark.parametrize("name", ["PairwiseLabelRanker", "PairwiseMultilabelRanker"])
def test_a_thousand_labels_are_refused_where_pairs_are_learned(name):
    [(package, estimator)] = [pair for pair in ESTIMATORS if type(pair[1]).__name__ == name]
    rng = np.random.default_rng(0)
    Y = np.argsort(rng.random((6, 1000)), axis=1) + 1.0
    target = {"y": (Y < 9).astype(float) if package == "multilabel" else Y}
    refused(estimator, rng.normal(size=(6, 2)), target, r"\d+,\d+ pairs.* MB")


# Files


# What is bad, and what the sentence says of it.
TABLES = {
    "empty": (b"", "is empty"),
    "a header alone": (b"u,v,y_a,y_b\n", "no row after the names"),
    "ragged": (b"u,y_a,y_b\n1,1,2\n1,1,2,5,6\n", "3 cells were expected, got 5"),
    "binary": (bytes(range(256)), "is no text"),
    "a number that is none": (b"u,y_a,y_b\n1,1,2\n1,one,2\n", "'one', which is no finite number"),
    "infinite": (b"u,y_a,y_b\ninf,1,2\n1,1,2\n", "'inf', which is no finite number"),
    "ranks out of range": (b"u,y_a,y_b\n1,100,2\n", "outside 1..2"),
    "a column twice": (b"u,u,y_a,y_b\n1,1,1,2\n", "occurs twice"),
}

# Converting reads no features; one object may have any place among others that are not there.
LEGAL = [("convert", "infinite"), ("order train", "ranks out of range")]
OTHER_WORDS = {("order compare", "ranks out of range"): "too few objects"}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(
    "command", ["check", "convert", "train", "compare", "order train", "order compare"]
)
def test_a_bad_table_ends_in_a_sentence_that_names_it(tmp_path, command, kind):
    path, out = tmp_path / "table.csv", tmp_path / "out"
    content, words = TABLES[kind]
    path.write_bytes(content)
    options = {
        "check": ["--labels", "y_*"],
        "convert": [out.with_suffix(".csv"), "--labels", "y_*", "--to", "orders"],
        "train": ["-o", out, "--labels", "y_*", "--model", "tree"],
        "compare": ["--labels", "y_*", "--rankers", "tree,consensus"],
        "order train": ["-o", out, "--rank", "y_a"],
        "order compare": ["--rank", "y_a"],
    }
    done = prefero_inside(*command.split(), path, *options[command])
    if (command, kind) in LEGAL:
        assert done.returncode == 0
        return
    assert done.returncode == 3
    assert "table.csv" in done.stderr
    assert OTHER_WORDS.get((command, kind), words) in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [path]


def _cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def _newer(path):
    content = path.read_bytes()
    path.write_bytes(content[:8] + b"\xff\xff" + content[10:])


def _hostile(path):
    parts = TakenApart(path)
    parts.state["votes_"] = {"type": ["os", "system"]}
    parts.write(path)


@pytest.mark.parametrize(
    "damage",
    [_cut, _newer, _hostile, lambda path: path.write_text("a,b\n1,2\n")],
    ids=["truncated", "newer", "hostile", "foreign"],
)
@pytest.mark.parametrize(
    "command", ["predict", "explain", "order predict", "order explain", "serve", "info"]
)
def test_a_bad_model_file_is_refused_by_every_command(tmp_path, command, damage):
    path, new = tmp_path / "model.prefero", tmp_path / "new.csv"
    X, Y = problem()
    save(ConsensusLabelRanker().fit(X, Y), path)
    damage(path)
    pd.DataFrame(X).to_csv(new, index=False)
    done = prefero_inside(*command.split(), path, *([] if command in ("info", "serve") else [new]))
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "model.prefero" in done.stderr
