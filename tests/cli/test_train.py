"""train, run as a user runs it, on every format and on bad files."""

import json
import os
import signal
import subprocess

import numpy as np
import pandas as pd
import pytest

from cli_program import PROGRAM
from cli_program import prefero_inside as prefero
from cli_tables import LABELS, N, predictions, refused
from prefero import load

FORMATS = {
    "ranks": (["--labels", "a,b,c"], "x,a,b,c\n0,1,2,3\n5,3,2,1\n10,2,1,2\n15,1,,2\n"),
    "scores": (
        ["--labels", "a,b,c", "--higher-is-better"],
        "x,a,b,c\n0,9,5,1\n5,1,5,9\n10,5,9,5\n15,9,,5\n",
    ),
    "orders": (
        ["--labels", "o"],
        "x,o\n0,a > b > c\n5,c > b > a\n10,b > a ~ c\n15,a > c\n",
    ),
    "pairs": (
        ["--labels", "p,q", "--instance", "i"],
        "i,x,p,q\n1,0,a,b\n1,0,b,c\n2,5,c,b\n2,5,b,a\n3,10,b,a\n3,10,b,c\n4,15,a,c\n",
    ),
    "best-worst": (
        ["--labels", "s1,s2,s3,best,worst"],
        "x,s1,s2,s3,best,worst\n0,a,b,c,a,c\n5,a,b,c,c,a\n10,a,b,c,b,c\n15,a,c,,a,c\n",
    ),
    "long": (
        ["--labels", "l,v", "--instance", "i", "--lower-is-better"],
        "i,x,l,v\n1,0,a,1\n1,0,b,2\n1,0,c,3\n2,5,a,3\n2,5,b,2\n2,5,c,1\n"
        "3,10,a,2\n3,10,b,1\n3,10,c,2\n4,15,a,1\n4,15,c,2\n",
    ),
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_teaches_the_same(write, tmp_path, form):
    options, content = FORMATS[form]
    model, data = tmp_path / "m.prefero", write(content)
    set_ = ("--param", "n_neighbors=1", "--param", "weights=uniform")
    nearest = ("--model", "neighbors", *set_)
    done = prefero("train", data, "-o", model, "--format", form, *options, *nearest)
    assert done.returncode == 0, done.stderr
    assert "Trained neighbors on 4 rankings of 3 labels by 1 feature;" in done.stderr
    found = predictions(prefero("predict", model, write("x\n0\n5\n", "new.csv")))
    assert found[["a", "b", "c"]].to_numpy().tolist() == [[1, 2, 3], [3, 2, 1]]


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
def test_other_files_than_csv(table, folder, tmp_path, suffix):
    data, out = tmp_path / f"data.{suffix}", tmp_path / f"out.{suffix}"
    new = tmp_path / f"new.{suffix}"
    for frame, path in ((table, data), (table.drop(columns=LABELS), new)):
        frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, sep="\t", index=False)
    model = tmp_path / "m.prefero"
    options = ("--labels", "y_*", "--format", "scores", "--higher-is-better", "--ignore", "id")
    assert prefero("train", data, "-o", model, "--model", "neighbors", *options).returncode == 0
    done = prefero("predict", model, new, "-o", out)
    assert (done.returncode, done.stdout) == (0, "")
    written = pd.read_parquet(out) if suffix == "parquet" else pd.read_csv(out, sep="\t")
    expected = predictions(prefero("predict", folder / "model.prefero", folder / "new.csv"))
    pd.testing.assert_frame_equal(written, expected, check_dtype=False)


# The forms of predictions


def test_words_that_look_like_numbers_stay_words(write, tmp_path):
    rows = "".join(f"{i % 2},{1 + i % 2},{2 - i % 2}\n" for i in range(12))
    data, model = write(f"code,a,b\n{rows}"), tmp_path / "m.prefero"
    options = ("--labels", "a,b", "--categorical", "code", "--model", "pairwise")
    assert prefero("train", data, "-o", model, *options).returncode == 0
    found = prefero("predict", model, "-", "--output", "order", stdin="code\n0\n1\n?\nnew\n")
    assert predictions(found)["order"].tolist()[:2] == ["a > b", "b > a"]


# Choosing a ranker


def test_auto_says_what_it_is_made_of_and_repeats_itself(table, folder, tmp_path):
    options = ("--labels", "y_*", "--format", "scores", "--higher-is-better", "--ignore", "id")
    runs = []
    for name in ("one", "two"):
        model = tmp_path / name
        command = ("train", folder / "data.csv", "-o", model, *options, "--preset", "quick")
        done = prefero(*command, "--json")
        assert done.returncode == 0, done.stderr
        runs.append({**json.loads(done.stdout), "file": ""})
    assert runs[0] == runs[1]
    assert runs[0]["metric"] == "regret"
    lost = runs[0]["cross_validated"]
    assert lost["single best: b"] > lost["stack"]
    assert runs[0]["model"] == "auto"
    assert "beats the baseline, single best: b, on held-out rows" in runs[0]["summary"]
    assert f"mean regret {lost['stack']:.3f} against" in runs[0]["summary"]
    assert runs[0]["features"] == ["size", "colour"]
    found = predictions(prefero("predict", model, folder / "new.csv", "--output", "order"))
    assert len(found) == N
    done = prefero("predict", model, folder / "new.csv", "--top-set", "0.2")
    assert set(predictions(done)["may be first"].str.split(", ").explode()) <= set(LABELS)
    single = prefero("predict", folder / "model.prefero", folder / "new.csv", "--top-set", "0.2")
    refused(single, 2, "needs a model that --model auto trained")
    done = prefero("explain", model, folder / "new.csv", "--row", "3")
    assert done.returncode == 0, done.stderr


def test_the_measure_is_that_of_the_report(folder, tmp_path):
    options = ("--labels", "y_*", "--format", "scores", "--higher-is-better", "--ignore", "id")
    model = ("-o", tmp_path / "m.prefero", "--preset", "quick")
    done = prefero("train", folder / "data.csv", *model, *options, "--metric", "regret", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    costs = report["cross_validated"]
    assert report["metric"] == "regret"
    assert costs["single best: b"] > costs["stack"] >= 0
    assert "beats the baseline, single best: b, on held-out rows: mean regret" in report["summary"]


def test_compare_lists_auto_if_asked(folder):
    options = ("--labels", "y_*", "--format", "scores", "--higher-is-better", "--ignore", "id")
    command = ("compare", folder / "data.csv", *options, "--rankers", "auto", "--folds", "2")
    done = prefero(*command, "--json")
    assert done.returncode == 0, done.stderr
    assert {row["ranker"] for row in json.loads(done.stdout)["results"]} == {
        "auto",
        "single best: b",
    }


def test_regret_needs_scores(write, tmp_path):
    data = write("x,a,b\n" + "0,1,2\n1,2,1\n" * 5)
    options = ("--labels", "a,b", "--metric", "regret")
    for command in (("train", data, "-o", tmp_path / "m"), ("compare", data)):
        refused(prefero(*command, *options), 3, "--metric regret needs scores")


def test_a_leaked_label_is_warned_of(write, tmp_path):
    rows = [f"{i % 7},{1 + i % 2},{1 + i % 2},{2 - i % 2}" for i in range(40)]
    data = write("\n".join(["x,old rank,a,b", *rows]))
    options = ("--labels", "a,b", "--model", "tree")
    done = prefero("train", data, "-o", tmp_path / "m.prefero", *options)
    assert done.returncode == 0
    sentence = "'old rank' says the rank of 'a' (+1.00 correlated)"
    assert f"warning: {sentence}" in done.stderr
    assert sentence in prefero("check", data, "--labels", "a,b").stderr
    assert (
        sentence in json.loads(prefero("check", data, "--labels", "a,b", "--json").stdout)["leaks"]
    )
    done = prefero("train", data, "-o", tmp_path / "m", *options, "--ignore", "old rank")
    assert "warning" not in done.stderr


def test_groups_are_no_feature_and_stay_together(write, tmp_path):
    lines = ["s,t,u,v,w,a,b"]
    for i in range(40):
        g = i // 5
        first = 1 + (g + i) % 2
        lines.append(f"g{g},{3 - g},{g / 7:.3f},{g * 0.31:.3f},{g**2},{first},{3 - first}")
    data = write("\n".join(lines))
    options = ("-o", tmp_path / "m.prefero", "--labels", "a,b")
    done = prefero("train", data, *options, "--ignore", "s")
    assert "40 rows of data repeat the features of another row" in done.stderr
    done = prefero("train", data, *options, "--groups", "s", "--json")
    assert done.returncode == 0, done.stderr
    assert "repeat" not in done.stderr
    assert json.loads(done.stdout)["features"] == ["t", "u", "v", "w"]
    refused(
        prefero("compare", data, "--labels", "a,b", "--groups", "s"), 3, "too few groups for 10"
    )
    done = prefero("compare", data, "--labels", "a,b", "--groups", "s", "--folds", "4")
    assert done.returncode == 0, done.stderr


def test_auto_with_hardly_any_rows(write, tmp_path):
    for number in ("0", ""):
        data = write(f"x,a,b\n{number},1,2\n")
        done = prefero("train", data, "-o", tmp_path / "m", "--labels", "a,b")
        assert done.returncode == 0, done.stderr
        assert "Too few rankings to choose a ranker by (1)" in done.stderr
        assert "on 1 ranking of 2 labels by 1 feature;" in done.stderr


def test_no_convergence_exits_5_with_the_model_written(table, folder, tmp_path):
    options = ("--labels", "y_*", "--format", "scores", "--higher-is-better", "--ignore", "id")
    model = tmp_path / "m.prefero"
    done = prefero(
        *("train", folder / "data.csv", "-o", model, *options),
        *("--model", "loglinear", "--param", "max_iter=1"),
    )
    assert done.returncode == 5
    assert prefero("predict", model, folder / "new.csv").returncode == 0


# Bad input


TRAIN_REFUSES = {
    "empty": ("", ["--labels", "a,b"], "data.csv:1: the file is empty"),
    "ragged": ("x,a,b\n1,1,2\n2,1\n", ["--labels", "a,b"], "data.csv:3: 3 cells were expected"),
    "no such label": ("x,a,b\n1,1,2\n", ["--labels", "q_*"], "no column is named 'q_*'"),
    "scores as ranks": ("x,a,b\n1,1,2\n2,0.3,9\n", ["--labels", "a,b"], "data.csv:3:", "scores"),
    "no feature": ("a,b\n1,2\n", ["--labels", "a,b"], "there is no feature"),
    "a word among numbers": (
        "x,a,b\n1,1,2\n1;5,1,2\n",
        ["--labels", "a,b"],
        "data.csv:3: column 'x' holds '1;5'",
        "--categorical 'x'",
    ),
    "infinite": ("x,a,b\n1,1,2\ninf,1,2\n", ["--labels", "a,b"], "data.csv:3: column 'x' holds"),
    "nothing ranked": (
        "x,a,b\n1,,\n2,,\n",
        ["--labels", "a,b"],
        "data.csv: no row ranks any label: there is nothing to learn from",
    ),
    "unknown label": (
        "x,o\n1,a > b > a\n",
        ["--labels", "o", "--format", "orders"],
        "data.csv:2: label 'a' occurs twice",
    ),
    "bad weight": (
        "x,w,a,b\n1,-1,1,2\n",
        ["--labels", "a,b", "--weights", "w"],
        "data.csv:2: the weight",
    ),
}


@pytest.mark.parametrize("case", TRAIN_REFUSES)
def test_train_refuses_bad_data_in_one_sentence(write, tmp_path, case):
    content, options, *sentences = TRAIN_REFUSES[case]
    old = write("old", "m.prefero")
    refused(prefero("train", write(content), "-o", old, *options), 3, *sentences)
    assert old.read_text() == "old"


def test_byte_order_mark_and_latin_1(write, tmp_path):
    for content in (
        "\ufeffx,ä,b\n0,1,2\n1,2,1\n".encode(),
        "x,ä,b\n0,1,2\n1,2,1\n".encode("latin-1"),
    ):
        model = tmp_path / "m.prefero"
        done = prefero("train", write(content), "-o", model, "--labels", "ä,b")
        assert done.returncode == 0, done.stderr
        assert json.loads(prefero("info", model, "--json").stdout)["labels"] == ["ä", "b"]


def test_a_column_that_names_every_row_is_wondered_at(table, folder, tmp_path):
    options = ("--labels", "y_*", "--format", "scores", "--higher-is-better", "--model", "tree")
    out = ("-o", tmp_path / "m.prefero")
    done = prefero("train", folder / "data.csv", *out, *options)
    assert done.returncode == 0
    assert "warning: column 'id' holds a different text in every row" in done.stderr
    done = prefero("train", folder / "data.csv", *out, *options, "--ignore", "id")
    assert "warning" not in done.stderr


def test_too_many_words(write, tmp_path):
    rows = "".join(f"id{i},1,2\n" for i in range(300))
    done = prefero("train", write(f"x,a,b\n{rows}"), "-o", tmp_path / "m", "--labels", "a,b")
    refused(done, 3, "300 different texts", "--ignore 'x'")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "--labels"),
        (["--labels", "a,b", "--format", "scores"], "--higher-is-better"),
        (["--labels", "a,b", "--model", "magic"], "'magic' is none of auto"),
        (["--labels", "a,b", "--param", "k=3"], "--model"),
        (["--labels", "a,b", "--model", "neighbors", "--param", "k=3"], "n_neighbors"),
        (["--labels", "a,b", "--model", "neighbors", "--param", "k"], "NAME=VALUE"),
    ],
)
def test_wrong_usage_exits_2(write, tmp_path, options, sentence):
    data = write("x,a,b\n1,1,2\n2,2,1\n")
    refused(prefero("train", data, "-o", tmp_path / "m", *options), 2, sentence)


def test_nowhere_to_write(write, tmp_path):
    data = write("x,a,b\n1,1,2\n")
    for out in (tmp_path, tmp_path / "none" / "m.prefero"):
        refused(prefero("train", data, "-o", out, "--labels", "a,b"), 2, "no file can be written")


def test_interrupted_training_exits_130_and_leaves_the_old_file(table, tmp_path):
    data, old = tmp_path / "data.csv", tmp_path / "m.prefero"
    unranked = table[:1].assign(**dict.fromkeys(LABELS, np.nan))
    pd.concat([table] * 1500 + [unranked]).to_csv(data, index=False)
    old.write_text("old")
    options = ["--labels", "y_*", "--format", "scores", "--higher-is-better", "--ignore", "id"]
    process = subprocess.Popen(
        [PROGRAM, "train", data, "-o", old, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},
    )
    # The last word before the training begins.
    assert b"1 of 36001 rankings are empty" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=120)
    assert process.returncode == 130, words
    assert b"Traceback" not in words
    assert old.read_text() == "old"
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("model", ["forest", "loglinear"])
def test_single_precision_trains_the_same_model(model, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3)).astype(np.float32)
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        y_a=1 + (X[:, 0] > 0), y_b=2 - (X[:, 0] > 0)
    )
    found = []
    for name, table in {"narrow": frame, "wide": frame.astype(dict.fromkeys("abc", float))}.items():
        file, out = tmp_path / f"{name}.parquet", tmp_path / f"{name}.prefero"
        table.to_parquet(file)
        done = prefero("train", file, "-o", out, "--labels", "y_*", "--model", model)
        assert done.returncode == 0, done.stderr
        found.append(load(out).decision_function(table[list("abc")].astype(float)))
    assert np.array_equal(*found)


def test_empty_cells_are_filled_for_rankers_that_need_every_number(write, tmp_path):
    rows = "".join(f"{'' if i % 5 == 0 else i},{1 + i % 2},{2 - i % 2}\n" for i in range(20))
    data, model = write(f"x,a,b\n{rows}"), tmp_path / "m.prefero"
    done = prefero("train", data, "-o", model, "--labels", "a,b", "--model", "pairwise")
    assert done.returncode == 0, done.stderr
    assert "filled with the mean of their column for: pairwise" in done.stderr
    # So they are at prediction, from a file too.
    gap, mean = (
        predictions(prefero("predict", model, "-", "--output", "scores", stdin=f"x,y\n{x},1\n"))
        for x in ("", np.mean([i for i in range(20) if i % 5]))
    )
    np.testing.assert_allclose(gap.to_numpy(float), mean.to_numpy(float))
