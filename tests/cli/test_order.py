"""The command line that orders objects, run as a user runs it."""

import csv
import io
from string import ascii_lowercase

import pytest

from cli_program import prefero_inside as prefero

TRAINING = """query,place,sweet,sour
a,1,3.0,0.1
a,3,1.0,0.9
a,2,2.0,0.4
b,2,0.5,0.3
b,1,2.5,0.2
"""
FISH = {1: "tuna", 2: "squid", 3: "eel"}
NEW = "sour,sweet,query\n0.5,1.0,x\n0.2,2.5,x\n0.9,0.1,y\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "train.csv").write_text(TRAINING)
    (tmp_path / "new.csv").write_text(NEW)
    return tmp_path


@pytest.mark.parametrize("model", ["svm", "order-svm", "regression", "rankboost", "cohen"])
def test_train_and_predict(files, model):
    saved = files / "model.prefero"
    columns = ("--group", "query", "--rank", "place")
    done = prefero("order", "train", files / "train.csv", "-o", saved, *columns, "--model", model)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "2 orders of 5 objects" in done.stderr
    done = prefero("order", "predict", saved, files / "new.csv", "--group", "query")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["query"], row["rank"]) for row in rows] == [("x", "2"), ("x", "1"), ("y", "1")]
    assert ("score" in rows[0]) == (model != "cohen")


def test_grades_count_upwards(files):
    graded = files / "graded.csv"
    graded.write_text("grade,x\n2,5\n0,1\n1,3\n")
    saved = files / "model.prefero"
    assert prefero("order", "train", graded, "-o", saved, "--grade", "grade").returncode == 0
    done = prefero("order", "predict", saved, "-", stdin="x\n1\n9\n")
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["rank", "2", "1"]


def test_key_files(files):
    saved, key, other = files / "model.prefero", files / "key", files / "other"
    key.write_bytes(b"sixteen bytes or more")
    other.write_bytes(b"another sixteen bytes")
    columns = ("--group", "query", "--rank", "place", "--key-file", key)
    done = prefero("order", "train", files / "train.csv", "-o", saved, *columns)
    assert done.returncode == 0, done.stderr
    predict = ("order", "predict", saved, files / "new.csv", "--key-file")
    assert prefero(*predict, key).returncode == 0
    done = prefero(*predict, other)
    assert done.returncode == 4
    assert "another key" in done.stderr


def test_mistakes_are_named(files):
    saved = files / "model.prefero"
    train = ("order", "train", files / "train.csv", "-o", saved, "--group", "query")
    neither = prefero(*train)
    assert neither.returncode == 2
    assert "--rank" in neither.stderr
    assert prefero(*train, "--rank", "place").returncode == 0
    (files / "new.csv").write_text("sour,query\n0.5,x\n")
    lacking = prefero("order", "predict", saved, files / "new.csv")
    assert lacking.returncode == 3
    assert "trained on: 'sweet'" in lacking.stderr
    (files / "train.csv").write_text(TRAINING.replace("0.9", "much"))
    mixed = prefero(*train, "--rank", "place")
    assert mixed.returncode == 3
    assert "--categorical 'sour'" in mixed.stderr
    (files / "train.csv").write_text(TRAINING.replace("0.9", ""))
    assert prefero(*train, "--rank", "place").returncode == 0
    assert prefero(*train, "--rank", "place", "--model", "svm").returncode == 0
    empty = prefero(*train, "--rank", "place", "--model", "trees", "--reduce", "1")
    assert empty.returncode == 3
    assert "'sour' is empty, and --reduce needs every number" in empty.stderr
    assert "--model rankboost or trees" in empty.stderr
    assert prefero(*train, "--rank", "place", "--model", "rankboost").returncode == 0
    nothing = prefero(*train, "--rank", "place", "--ignore", "sweet,sour")
    assert nothing.returncode == 3
    assert "no column is left" in nothing.stderr


@pytest.mark.parametrize("model", ["svm", "rankboost", "trees", "cohen"])
def test_text_features_are_learned_from(files, model):
    rows = [f"{panel},{place},{kind}" for panel in ascii_lowercase for place, kind in FISH.items()]
    (files / "tasted.csv").write_text("\n".join(["panel,place,kind", *rows]) + "\n")
    saved = files / "model.prefero"
    options = ("--group", "panel", "--rank", "place", "--model", model)
    done = prefero("order", "train", files / "tasted.csv", "-o", saved, *options)
    assert done.returncode == 0, done.stderr
    done = prefero("order", "predict", saved, "-", stdin="kind\neel\ntuna\n")
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["rank", "2", "1"]


def test_grades_taken_for_ranks_are_refused_with_the_line(files):
    graded = files / "graded.csv"
    graded.write_text("query,grade,x\na,2,5\na,0,1\nb,1,3\nb,0,2\n")
    out = ("-o", files / "model.prefero", "--group", "query")
    done = prefero("order", "train", graded, *out, "--rank", "grade")
    assert done.returncode == 3
    assert "graded.csv:3: column 'grade' holds 0, but ranks start at 1" in done.stderr
    assert "--grade grade; line 5 is wrong too" in done.stderr


def test_data_that_the_orderer_refuses_is_named(files):
    empty = files / "empty.csv"
    empty.write_text("place,x\n,5\n,1\n")
    done = prefero("order", "train", empty, "-o", files / "model.prefero", "--rank", "place")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "empty.csv: y ranks no object" in done.stderr


def test_a_letor_file_names_its_own_columns(files):
    letor, saved = files / "letor.txt", files / "model.prefero"
    letor.write_text("2 qid:1 1:3 2:1\n0 qid:1 1:1\n1 qid:2 1:2\n0 qid:2 1:0.5\n")
    done = prefero("order", "train", letor, "-o", saved)
    assert done.returncode == 0, done.stderr
    assert "2 orders of 4 objects" in done.stderr
    (files / "new.txt").write_text("0 qid:7 1:1\n0 qid:7 1:4\n")
    done = prefero("order", "predict", saved, files / "new.txt")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["query"], row["rank"]) for row in rows] == [("7", "2"), ("7", "1")]
