"""Labels with features on the command line: trained, compared by labels left out, asked anew."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from cli_program import prefero_inside as prefero
from prefero import LabelFeatureRanker, load
from prefero._pipelines import final_step
from prefero.datasets import make_dyad_ranking

KINDS = np.array(["liquid", "solid"])
SEEN, NEW = "abcdefgh", "i"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Scores of nine labels, a table of eight of them with a name and numbers, and new ones."""
    place = tmp_path_factory.mktemp("labels")
    X, Y, Z = make_dyad_ranking(60, n_labels=9, personal=2.0, noise=0.1, random_state=0)
    x = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(time="day")
    x.loc[::3, "time"] = "night"
    scores = pd.DataFrame(-Y, columns=[f"yield {name}" for name in SEEN + NEW])
    x.join(scores.iloc[:, :-1]).to_csv(place / "data.csv", index=False)
    x.to_csv(place / "new.csv", index=False)
    labels = pd.DataFrame(Z, columns=[f"z{j}" for j in range(Z.shape[1])])
    labels.insert(0, "label", list(SEEN + NEW))
    labels["kind"] = KINDS[np.arange(9) % 2]
    labels.head(8).to_csv(place / "labels.csv", index=False)
    # In another order, with one more column, and a label that nobody has ranked.
    labels.assign(note=1)[["label", "kind", "note", *labels.columns[1:-1]]].to_csv(
        place / "all.csv", index=False
    )
    pd.DataFrame(Y, columns=list(SEEN + NEW)).to_csv(place / "truth.csv", index=False)
    return place


READING = ("--labels", "yield *", "--format", "scores", "--higher-is-better")


@pytest.fixture(scope="module")
def model(folder):
    path = folder / "m.prefero"
    table = ("--label-table", folder / "labels.csv")
    done = prefero("train", folder / "data.csv", "-o", path, *READING, *table, "--model", "svm")
    assert done.returncode == 0, done.stderr
    assert "placed: the share of pairs" in done.stderr
    assert "mean-ranks" in done.stderr
    assert "consensus" in done.stderr
    return path


def test_train_writes_a_ranker_of_labels_with_features(model):
    ranker = final_step(load(model))
    assert isinstance(ranker, LabelFeatureRanker)
    assert list(ranker.labels_) == [f"yield {name}" for name in SEEN]
    assert ranker.label_feature_names_in_.tolist()[-2:] == ["kind=liquid", "kind=solid"]


def test_a_label_never_seen_is_ranked_by_its_features(folder, model):
    done = prefero("predict", model, folder / "new.csv", "--label-table", folder / "all.csv")
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(io.StringIO(done.stdout))
    assert list(found) == list(SEEN + NEW)
    truth = pd.read_csv(folder / "truth.csv")
    right = [(found[NEW] < found[name]) == (truth[NEW] < truth[name]) for name in SEEN]
    assert np.mean(right) > 0.7


@pytest.mark.parametrize("form", ["order", "scores", "pairs"])
def test_every_form_names_the_new_labels(folder, model, form):
    done = prefero(
        *("predict", model, folder / "new.csv", "--label-table", folder / "all.csv"),
        *("--output", form),
    )
    assert done.returncode == 0, done.stderr
    assert NEW in done.stdout.replace(",", " ").replace(">", " ").split()


def test_without_a_table_the_labels_of_training_are_ranked(folder, model):
    done = prefero("predict", model, folder / "new.csv", "--expected-tau")
    found = pd.read_csv(io.StringIO(done.stdout))
    assert list(found)[:8] == [f"yield {name}" for name in SEEN]


def test_compare_leaves_each_label_out(folder):
    table = ("--label-table", folder / "labels.csv", "--rankers", "regression,trees")
    done = prefero("compare", folder / "data.csv", *READING, *table, "--json")
    found = json.loads(done.stdout)
    assert found["metric"] == "placed"
    placed = {row["ranker"]: row for row in found["results"]}
    assert {row["runs"] for row in placed.values()} == {8}
    assert set(placed) == {"consensus", "mean-ranks", "regression", "trees"}
    assert placed["regression"]["placed"] > placed["mean-ranks"]["placed"]
    quick = prefero("compare", folder / "data.csv", *READING, *table, "--quick")
    assert "Labels left out" in quick.stdout
    assert "0.5 is a guess" in quick.stderr


def test_auto_takes_an_orderer_that_places_labels_well(folder, monkeypatch):
    monkeypatch.setattr("prefero.cli.label_tables._SLOW", ("cohen", "order-svm", "rankboost"))
    out, table = folder / "auto.prefero", ("--label-table", folder / "labels.csv")
    done = prefero("train", folder / "data.csv", "-o", out, *READING, *table, "--json")
    found = json.loads(done.stdout)
    held_out = found["cross_validated"]
    able = {name: held_out[name] for name in ("svm", "regression", "trees")}
    assert found["model"] == max(able, key=able.get)
    assert found["metric"] == "placed"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("label,z\na,1\nb,2\n", "no row for the label 'yield c'"),
        ("label,z\na,1\na,2\n", "'label', the name of the label, names 'a' twice"),
        ("label,z\n,1\n", "the name of the label, is empty"),
        ("label\na\n", "one row per label"),
        ("label,z\na,1\nb,\n", "column 'z' is empty"),
    ],
)
def test_a_bad_table_of_labels_is_one_sentence(folder, tmp_path, content, said):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    out = tmp_path / "m.prefero"
    done = prefero("train", folder / "data.csv", "-o", out, *READING, "--label-table", path)
    assert done.returncode == 3
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


def test_what_does_not_go_together_is_refused(folder, model, tmp_path):
    table = ("--label-table", folder / "labels.csv")
    data = folder / "data.csv"
    for command, code, said in (
        (
            ("compare", data, *READING, *table, "--metric", "tau"),
            2,
            "--label-table and --metric exclude each other",
        ),
        (("compare", data, *READING, *table, "--rankers", "forest"), 2, "none of the orderers"),
        (("train", data, "-o", tmp_path / "m", *READING, "--model", "svm"), 2, "which rank labels"),
        (
            ("predict", model, folder / "new.csv", *table, "--expected-tau"),
            2,
            "holds no probabilities",
        ),
    ):
        done = prefero(*command)
        assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_a_kind_that_training_never_saw_is_said(folder, model, tmp_path):
    labels = pd.read_csv(folder / "labels.csv").assign(kind="gas")
    labels.to_csv(tmp_path / "gas.csv", index=False)
    done = prefero("predict", model, folder / "new.csv", "--label-table", tmp_path / "gas.csv")
    assert done.returncode == 0, done.stderr
    assert "'kind=gas' was not in the training data" in done.stderr


def test_a_model_without_label_features_says_how_to_train_one(folder, tmp_path):
    out = tmp_path / "m.prefero"
    prefero("train", folder / "data.csv", "-o", out, *READING, "--model", "consensus")
    done = prefero("predict", out, folder / "new.csv", "--label-table", folder / "labels.csv")
    assert done.returncode == 4
    assert "train it with --label-table" in done.stderr
