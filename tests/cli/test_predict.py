"""predict and info, run as a user runs them."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import prefero as library
from cli_program import prefero_inside as prefero
from cli_tables import LABELS, N, predictions, refused
from prefero import _prediction
from prefero.rankings import parse_order


def test_ranks_are_those_of_the_library(table, folder):
    ranks = predictions(prefero("predict", folder / "model.prefero", folder / "new.csv"))
    model = library.load(folder / "model.prefero")
    np.testing.assert_array_equal(ranks, model.predict(table[["size", "colour"]]))
    assert list(ranks) == LABELS


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        (
            "from prefero.cli.main import main; main()",
            (
                *("rich", "prefero.automatic", "prefero.ordering", "prefero.cli.train"),
                *("prefero.cli.label_tables", "prefero.cli.experiments"),
            ),
        ),
        (
            "import prefero; prefero.load(sys.argv[2]).predict([[0.0], [1.0]])",
            ("typer", "pydantic", "prefero.cli", "prefero.tables", "prefero._prediction"),
        ),
    ],
    ids=["command", "library"],
)
def test_a_forest_answers_with_no_room_that_it_does_not_need(code, unused, tmp_path):
    forest = library.ForestLabelRanker(2, random_state=0)
    library.save(forest.fit([[0.0], [1.0]] * 9, [[1, 2], [2, 1]] * 9), tmp_path / "m.prefero")
    (tmp_path / "new.csv").write_text("x\n0\n1\n")
    unused += ("matplotlib", "prefero.datasets", "prefero.distributed", "prefero.serve")
    unused += ("prefero.evaluation",)
    program = (
        f"import sys\ntry:\n    {code}\nexcept SystemExit as done:\n    assert not done.code\n"
        f"print(*(name for name in sys.modules if name.startswith({unused})))"
    )
    words = ["predict", "m.prefero", "new.csv", "-o", "out.csv"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_forms_agree(folder):
    def run(*options):
        return predictions(
            prefero("predict", folder / "model.prefero", folder / "new.csv", *options)
        )

    ranks = run().to_numpy()
    scores = run("--output", "scores").to_numpy()
    np.testing.assert_array_equal(np.argsort(-scores, kind="stable"), np.argsort(ranks))
    orders = run("--output", "order", "--keep", "id,size", "--expected-tau")
    assert list(orders) == ["id", "size", "order", "expected_tau"]
    expected = [[LABELS[j] for j in row] for row in np.argsort(ranks)]
    assert [parse_order(order) for order in orders["order"]] == expected
    best = run("--output", "order", "--top", "1")
    assert best["order"].tolist() == [order[0] for order in expected]
    np.testing.assert_array_equal(run("--top", "2"), np.where(ranks <= 2, ranks, np.nan))
    pairs = run("--output", "pairs", "--keep", "id")
    assert len(pairs) == 3 * N
    assert pairs.loc[pairs["row"] == 1, "preferred"].tolist() == [
        *(expected[0][0], expected[0][0], expected[0][1])
    ]
    assert (pairs["probability"] >= 0.5).all()
    assert pairs["id"].iloc[3] == "i1"


def test_buckets_are_those_of_the_library(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60).round(3)
    ranks = np.column_stack([np.where(x > 0, 1, 3), np.where(x > 0, 2, 1), np.where(x > 0, 2, 1)])
    frame = pd.DataFrame(ranks, columns=LABELS).assign(x=x)
    data, model = tmp_path / "tied.csv", tmp_path / "tied.prefero"
    frame.to_csv(data, index=False)
    trained = prefero("train", data, "--labels", "y_*", "--model", "forest", "-o", model)
    assert trained.returncode == 0, trained.stderr
    expected = library.persistence.load(model).predict_buckets(frame[["x"]])
    assert (expected[:, 1] == expected[:, 2]).any()
    found = predictions(prefero("predict", model, data, "--output", "buckets"))
    np.testing.assert_array_equal(found, expected)
    done = prefero("predict", model, data, "--output", "buckets", "--json")
    np.testing.assert_array_equal(pd.DataFrame(json.loads(done.stdout)), expected)
    best = predictions(prefero("predict", model, data, "--output", "buckets", "--top", "1"))
    np.testing.assert_array_equal(best, np.where(expected <= 1, expected, np.nan))


def test_probabilities_are_those_of_the_library(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60).round(3)
    relevance = (x[:, None] + rng.normal(size=(60, 3)) > [0.0, 0.5, 1.0]).astype(int)
    frame = pd.DataFrame(relevance, columns=LABELS).assign(x=x)
    data, model = tmp_path / "sets.csv", tmp_path / "sets.prefero"
    frame.to_csv(data, index=False)
    words = ("--labels", "y_*", "--format", "relevance", "--model", "binary-relevance")
    trained = prefero("train", data, *words, "-o", model)
    assert trained.returncode == 0, trained.stderr
    fitted = library.persistence.load(model)
    expected = fitted.predict_proba(frame[["x"]])
    found = predictions(prefero("predict", model, data, "--output", "probabilities"))
    np.testing.assert_allclose(found, expected)
    best = predictions(prefero("predict", model, data, "--output", "probabilities", "--top", "1"))
    np.testing.assert_array_equal(np.isnan(best).sum(axis=1), 2)
    ranker = library.BinaryRelevanceRanker(threshold=None).fit(frame[["x"]], frame[LABELS])
    library.persistence.save(ranker, model)
    refused = prefero("predict", model, data, "--output", "probabilities")
    assert refused.returncode == 3
    assert "the model knows no probabilities" in refused.stderr


def test_json_and_stdin(folder):
    new = (folder / "new.csv").read_text()
    done = prefero("predict", folder / "model.prefero", "-", "--json", stdin=new)
    records = json.loads(done.stdout)
    assert len(records) == N
    assert sorted(records[0].values()) == [1, 2, 3]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".parquet"])
@pytest.mark.parametrize("form", ["ranks", "order", "scores", "pairs"])
def test_the_number_of_rows_at_a_time_changes_nothing(folder, tmp_path, monkeypatch, form, suffix):
    def predicted(*options):
        out = tmp_path / f"out{suffix}"
        done = prefero(
            *("predict", folder / "model.prefero", folder / "new.csv", "--output", form),
            *("--expected-tau", "--keep", "id", "--out", out, *options),
        )
        assert done.returncode == 0, done.stderr
        assert f"of {N} predictions" in done.stderr
        return pd.read_parquet(out).to_csv() if suffix == ".parquet" else out.read_text()

    whole, best = predicted(), predicted("--top", "1")
    monkeypatch.setattr(_prediction, "CHUNK_ROWS", 7)
    monkeypatch.setattr(_prediction, "CHUNK_PAIRS", 9)  # three labels: one row at a time
    assert predicted() == whole
    assert predicted("--top", "1") == best


def test_a_bad_row_far_down_leaves_the_old_file(folder, write, tmp_path, monkeypatch):
    monkeypatch.setattr(_prediction, "CHUNK_ROWS", 2)
    lines = (folder / "new.csv").read_text().splitlines()
    at = lines[0].split(",").index("size")
    cells = lines[8].split(",")
    lines[8] = ",".join([*cells[:at], "much", *cells[at + 1 :]])
    out = tmp_path / "out.csv"
    out.write_text("old")
    new = write("\n".join(lines), "bad.csv")
    done = prefero("predict", folder / "model.prefero", new, "--out", out)
    assert done.returncode == 3
    assert "bad.csv:9: column 'size' holds 'much'" in done.stderr
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "out.csv"]


def test_columns_are_found_by_name(table, folder, write):
    usual = prefero("predict", folder / "model.prefero", folder / "new.csv").stdout
    shuffled = table.assign(more=1)[["more", "size", "y_a", "colour"]]
    path = write(shuffled.to_csv(index=False))
    assert prefero("predict", folder / "model.prefero", path).stdout == usual
    path = write("more,shape\n1,2\n")
    done = prefero("predict", folder / "model.prefero", path)
    refused(done, 3, f"{path}: these columns are missing", "'size', 'colour'")


PREDICT_REFUSES = {
    "empty": ("", "data.csv:1: the file is empty"),
    "text for a number": (
        "size,colour\n1,red\nbig,red\n",
        "data.csv:3: column 'size' holds 'big', which is no finite number",
    ),
    "infinite": ("size,colour\n-inf,red\n", "data.csv:2: column 'size' holds '-inf'"),
    "missing number": (
        "size,colour\n1,red\nNA,red\n",
        "data.csv:3: column 'size' is empty, and NeighborsLabelRanker needs every number",
    ),
}


@pytest.mark.parametrize("case", PREDICT_REFUSES)
def test_predict_refuses_bad_data_in_one_sentence(folder, write, case):
    content, sentence = PREDICT_REFUSES[case]
    out = write("old", "out.csv")
    done = prefero("predict", folder / "model.prefero", write(content), "-o", out)
    refused(done, 3, sentence)
    assert out.read_text() == "old"


def test_unknown_and_missing_words_are_no_error(folder):
    done = prefero("predict", folder / "model.prefero", "-", stdin="size,colour\n1,pink\n1,\n")
    assert len(predictions(done)) == 2


@pytest.mark.parametrize("command", ["predict", "info"])
@pytest.mark.parametrize("damage", ["foreign", "cut", "flipped", "newer"])
def test_bad_model_files_exit_4(folder, write, command, damage):
    content = bytearray((folder / "model.prefero").read_bytes())
    if damage == "foreign":
        content = b"PK\x03\x04 a zip"
    elif damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[-100] ^= 1
    else:
        content[8] += 1
    path = write(bytes(content), "bad.prefero")
    data = [folder / "new.csv"] if command == "predict" else []
    refused(prefero(command, path, *data), 4, str(path))


def test_a_model_of_another_task_is_told_apart(folder, tmp_path):
    orderer = library.ExpectedRankOrderer().fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    library.save(orderer, tmp_path / "m.prefero")
    done = prefero("predict", tmp_path / "m.prefero", folder / "new.csv")
    refused(done, 4, "holds a ExpectedRankOrderer, which ranks no labels")


def test_reliability_needs_a_calibrated_model(write, tmp_path):
    data, model = write("x,a,b\n0,1,2\n1,2,1\n"), tmp_path / "m"
    prefero("train", data, "-o", model, "--labels", "a,b", "--model", "constraint")
    done = prefero("predict", model, data, "--expected-tau")
    assert done.stdout.splitlines()[0] == "a,b,expected_tau"
    ranker = library.load(model)
    del ranker[-1].calibration_
    library.save(ranker, model)
    refused(
        prefero("predict", model, data, "--expected-tau"),
        2,
        "holds no probabilities: it was trained",
    )


def test_a_model_without_names_takes_columns_as_they_come(tmp_path):
    model = library.NeighborsLabelRanker(1).fit([[0.0, 0.0], [1.0, 1.0]], [[1, 2], [2, 1]])
    library.save(model, tmp_path / "m.prefero")
    done = prefero("predict", tmp_path / "m.prefero", "-", stdin="u,v\n0,0\n1,1\n")
    assert done.stdout == "0,1\n1,2\n2,1\n"
    done = prefero("predict", tmp_path / "m.prefero", "-", stdin="u\n0\n")
    refused(done, 3, "2 features without names, but there are 1 columns")


# info


def test_info(folder):
    header = json.loads(prefero("info", folder / "model.prefero", "--json").stdout)
    assert header["model"] == "NeighborsLabelRanker"
    assert header["labels"] == LABELS
    assert header["features"] == ["size", "colour"]
    assert header["bytes"] == (folder / "model.prefero").stat().st_size
    shown = prefero("info", folder / "model.prefero").stdout
    assert "3: y_a, y_b, y_c" in shown
    assert header["sha256"] in shown


@pytest.mark.parametrize(
    ("keep", "output", "column"),
    [("y_a", "ranks", "y_a"), ("row,id", "pairs", "row"), ("order", "order", "order")],
)
def test_a_column_to_keep_is_never_dropped(table, folder, write, keep, output, column):
    path = write(table.assign(row=1, order=2).to_csv(index=False))
    done = prefero("predict", folder / "model.prefero", path, "--output", output, "--keep", keep)
    refused(done, 3, f"the output has a column '{column}' of its own")


def test_a_model_is_asked_once(folder, monkeypatch):
    calls = []
    decide = library.NeighborsLabelRanker._decision
    monkeypatch.setattr(
        library.NeighborsLabelRanker,
        "_decision",
        lambda self, X: calls.append(len(X)) or decide(self, X),
    )
    options = ("--output", "pairs", "--expected-tau")
    done = prefero("predict", folder / "model.prefero", folder / "new.csv", *options)
    assert done.returncode == 0, done.stderr
    assert calls == [N]


def test_help_says_which_guarantee_top_sets_have():
    told = " ".join(prefero("predict", "--help").stdout.split())
    assert "with probability at least 1 - 2 ERROR" in told


def test_no_command_replaces_its_own_input(tmp_path):
    table, model, other = tmp_path / "t.csv", tmp_path / "m.prefero", tmp_path / "other.csv"
    table.write_text("x,y_a,y_b\n" + "1,1,2\n2,2,1\n" * 6)
    labels = ("--labels", "y_*")
    before = table.read_bytes()
    os.link(table, other)
    for output in (table, other):
        for command in (
            ("train", table, "-o", output, *labels, "--model", "consensus"),
            ("convert", table, output, "--to", "orders", *labels),
        ):
            done = prefero(*command)
            assert done.returncode == 3
            assert "is the file that is read" in done.stderr
    assert prefero("train", table, "-o", model, *labels, "--model", "tree").returncode == 0
    for output in (table, other, model):
        done = prefero("predict", model, table, "-o", output)
        assert done.returncode == (2 if output == model else 3)  # no table ends in .prefero
    for option in ("--out", "--report"):
        for command in ("compare", "order compare"):
            done = prefero(*command.split(), table, other, option, table)
            assert done.returncode == 3
            assert "is the file that is read" in done.stderr
    for output in (table, other):
        done = prefero("order", "predict", model, table, "-o", output)
        assert "is the file that is read" in done.stderr
        assert "is the file that is read" in prefero("order", "train", table, "-o", output).stderr
    assert table.read_bytes() == before


def test_a_sparse_table_must_be_about_the_features_of_the_model(tmp_path):
    table, model, new = (tmp_path / name for name in ("t.csv", "m.prefero", "new.svm"))
    table.write_text("x1,x2,y_a,y_b\n" + "1,0,1,2\n2,1,2,1\n" * 6)
    done = prefero("train", table, "-o", model, "--labels", "y_*", "--model", "tree")
    assert done.returncode == 0
    for content, code in (("1 1:2\n", 0), ("1 7:2\n", 3), ("1 1:2 3:1\n", 3)):
        new.write_text(content)
        assert prefero("predict", model, new).returncode == code
    new.write_text("1 2:0\n")
    done = prefero("predict", model, new)
    assert done.returncode == 0  # x1 and x2 are zero, which the file says


def test_formulas_are_written_as_texts_on_request(tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "m.prefero"
    table.write_text("x,=1+1,-2,@b\n" + "1,1,2,3\n2,2,1,3\n" * 6)
    labels = ("--labels", "=1+1,-2,@b")
    assert prefero("train", table, "-o", model, *labels, "--model", "tree").returncode == 0
    plain = prefero("predict", model, table).stdout.splitlines()[0]
    safe = prefero("predict", model, table, "--safe-csv").stdout.splitlines()[0]
    assert (plain, safe) == ("=1+1,-2,@b", "'=1+1,-2,'@b")
