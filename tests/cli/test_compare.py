"""compare, run as a user runs it."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import PredefinedSplit

from cli_program import prefero_inside as prefero
from prefero import ConsensusLabelRanker
from prefero.cli.experiments import CrossValidation, Sample, cross_validate
from prefero.cli.models import ranker_choice
from prefero.evaluation import run_experiment
from prefero.tables import DataTable

N = 30


def make_table(seed):
    """Yields that a number and a word decide, some of them missing."""
    rng = np.random.default_rng(seed)
    x, kind = rng.normal(size=N), rng.choice(["acid", "base"], N)
    scores = np.column_stack([x, -x, 2 * (kind == "acid") - 1]) + rng.normal(0, 0.1, (N, 3))
    scores[rng.random((N, 3)) < 0.1] = np.nan
    return pd.DataFrame({"x": x, "kind": kind}).join(pd.DataFrame(scores, columns=["a", "b", "c"]))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for i in range(3):
        make_table(i).to_csv(folder / f"set{i}.csv", index=False)
    return [folder / f"set{i}.csv" for i in range(3)]


READING = ("--labels", "a,b,c", "--format", "scores", "--higher-is-better")
TWO = ("--rankers", "consensus,neighbors", "--folds", "3")


def test_one_table_gets_every_measure(files):
    done = prefero("compare", files[0], *READING, *TWO)
    assert done.returncode == 0, done.stderr
    head, rows = done.stdout.splitlines()[2], done.stdout.splitlines()[4:]
    assert head.split() == "ranker tau rho top1 regret gap closed".split()
    names = ["neighbors", "single best: b", "virtual best"]
    assert [re.split(r"  +| (?=-?\d)", row)[0] for row in rows] == names
    assert (
        "neighbors beats the baseline, single best: b, on unseen rows: mean regret" in done.stderr
    )
    assert "(paired differences of 30 rows, level 0.05)" in done.stderr


def test_the_figures_are_those_of_an_experiment(files):
    options = ("--json", "--seed", "4", "--metric", "tau")
    done = prefero("compare", files[0], *READING, *TWO, *options)
    summary = {row["ranker"]: row for row in json.loads(done.stdout)["results"]}
    table = make_table(0)
    ranks = table[["a", "b", "c"]].rank(axis=1, ascending=False)
    ranked = ranks.notna().any(axis=1)
    results = run_experiment(
        {"consensus": ConsensusLabelRanker()},
        {"set0": (table.loc[ranked, ["x"]], ranks[ranked])},
        n_splits=3,
        random_state=4,
    )
    assert summary["consensus"]["tau"] == pytest.approx(results["tau"].mean())
    assert summary["consensus"]["tau_sd"] == pytest.approx(results["tau"].std(ddof=1))
    assert summary["consensus"]["runs"] == 3


def test_the_page_says_what_the_terminal_says(files, tmp_path):
    for some in (files[:1], files):
        done = prefero("compare", *some, *READING, *TWO, "--report", tmp_path / "page.html")
        assert done.returncode == 0, done.stderr
        verdict = done.stderr.splitlines()[-1]
        assert "neighbors is best" in verdict
        assert verdict in (tmp_path / "page.html").read_text("utf-8")


def test_rows_on_the_page_are_those_that_explain_takes(files, tmp_path):
    table = make_table(0)
    table.loc[0, ["a", "b", "c"]] = np.nan  # left out, but counted
    table.insert(0, "id", range(1, len(table) + 1))
    table.to_csv(tmp_path / "data.csv", index=False)
    page = tmp_path / "page.html"
    arguments = ("--rankers", "neighbors", "--folds", "3", "--ignore", "id", "--report", page)
    done = prefero("compare", tmp_path / "data.csv", *READING, *arguments)
    assert done.returncode == 0, done.stderr
    text = page.read_text("utf-8")
    assert "Row names are those of the table." in text
    told = json.loads(re.search(r'id="rows-data">(.*?)</script>', text).group(1))
    assert told["items"] == ["a", "b", "c"]
    for row in told["rows"]:
        scores = table.set_index("id").loc[int(row["name"]), ["a", "b", "c"]]
        ranks = scores.rank(ascending=False).tolist()
        assert row["true"] == [None if np.isnan(rank) else rank for rank in ranks]


def test_several_tables_get_a_test(files):
    report = json.loads(prefero("compare", *files, *READING, *TWO, "--json").stdout)
    assert report["datasets"] == ["set0", "set1", "set2"]
    assert report["test"] == "Wilcoxon"
    assert 0 < report["p_value"] <= 1
    assert report["average_ranks"] == [2.0, 1.0]
    assert report["critical_difference"] is None
    shown = prefero("compare", *files, *READING, *TWO).stdout
    assert "average rank" in shown
    assert "set2" in shown


def test_a_run_goes_on_where_it_stopped(files, tmp_path):
    def run(*rankers):
        done = prefero(
            *("compare", files[0], *READING, "--folds", "3", "--rankers", ",".join(rankers)),
            *("--resume", tmp_path / "cells", "--out", tmp_path / "out.csv"),
        )
        assert done.returncode == 0, done.stderr
        cells = (tmp_path / "cells" / "runs.jsonl").read_text().splitlines()
        return cells, pd.read_csv(tmp_path / "out.csv")

    first, _ = run("consensus")
    second, table = run("consensus", "neighbors")
    assert len(first) == 3
    assert second[:3] == first
    assert len(second) == len(table) == 6
    third, again = run("consensus", "neighbors")
    assert third == second
    # Even the seconds are those of the first time.
    pd.testing.assert_frame_equal(again, table)


def test_quick_takes_few_rows_and_folds(tmp_path):
    table = pd.concat([make_table(i) for i in range(20)])
    table.to_csv(tmp_path / "data.csv", index=False)
    arguments = ("--rankers", "consensus", "--quick", "--json")
    report = json.loads(prefero("compare", tmp_path / "data.csv", *READING, *arguments).stdout)
    assert report["folds"] == 3
    assert report["results"][0]["runs"] == 3


def test_gaps_disqualify_no_ranker(files, tmp_path):
    table = make_table(1)
    table.loc[3, "x"] = np.nan
    table.to_csv(tmp_path / "holes.csv", index=False)
    rankers = ("--rankers", "consensus,pairwise", "--folds", "3")
    done = prefero("compare", tmp_path / "holes.csv", files[0], *READING, *rankers)
    assert done.returncode == 0, done.stderr
    assert "filled with the mean of their column for: pairwise" in done.stderr
    assert "not ranked" not in done.stderr


def test_the_constant_order_is_always_there_and_the_measure_sorts(files):
    done = prefero(
        "compare", files[0], *READING, "--rankers", "neighbors", "--folds", "3", "--json"
    )
    report = json.loads(done.stdout)
    assert report["rankers"] == ["single best: b", "neighbors"]
    assert report["best"] == "neighbors"
    assert [row["ranker"] for row in report["against_baseline"]] == ["neighbors"]
    done = prefero("compare", *files[:2], *READING, *TWO, "--metric", "regret")
    assert done.returncode == 0, done.stderr
    assert "mean regret" in done.stdout
    assert "average rank by regret" in done.stderr


def test_the_layout_of_the_benchmark_collection(tmp_path):
    rows = [f"{i},{i % 2},{1 + i % 2},{2 - i % 2}" for i in range(12)]
    (tmp_path / "set.csv").write_text("\n".join(["12,2,2", *rows, ""]))
    done = prefero("compare", tmp_path / "set.csv", "--rankers", "tree,consensus", "--folds", "3")
    assert done.returncode == 0, done.stderr
    assert "tree is best" in done.stderr
    report = json.loads(prefero("check", tmp_path / "set.csv", "--json").stdout)
    assert [label["label"] for label in report["labels"]] == ["L1", "L2"]
    (tmp_path / "set.csv").write_text("\n".join(["12,2,2", *rows[:4], "1,2,3", ""]))
    done = prefero("compare", tmp_path / "set.csv")
    assert done.returncode == 3
    assert "set.csv:6: 4 cells were expected, got 3" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--rankers", "magic"], 2, "'magic' is none of"),
        (["--folds", "1"], 2, "--folds"),
        (["--ignore", "b,c", "--labels", "a"], 3, "set0.csv: no row ranks two labels"),
        (["--folds", "31"], 3, "set0.csv: too few rankings for 31 folds: 30"),
    ],
)
def test_what_cannot_be_compared(files, arguments, code, sentence):
    done = prefero("compare", files[0], *READING, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_labels_must_be_named(files):
    done = prefero("compare", files[0])
    assert done.returncode == 2
    assert "--labels" in done.stderr


def test_page(files, tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    done = prefero("compare", *files[:2], *READING, *TWO, "--report", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text("utf-8")
    assert "neighbors is best" in text
    assert "prefero compare" in text
    assert "set1" in text
    assert len(text) < 1_000_000


def test_folds_that_come_with_a_table_are_kept(capsys):
    table = make_table(0)
    ranks = table[["a", "b", "c"]].rank(axis=1, ascending=False)
    table, ranks = table[ranks.notna().any(axis=1)], ranks[ranks.notna().any(axis=1)]
    fold = np.arange(len(ranks)) % 4
    rankings = SimpleNamespace(
        table=DataTable(table),
        ranks=ranks.to_numpy(),
        labels=list("abc"),
        rows=np.arange(len(ranks)),
        scores=None,
        folds=np.column_stack([fold, fold[::-1]]),
        calibrated=None,
        values={},
    )
    sample = Sample.of("own", rankings, table[["x"]], None, CrossValidation())
    assert "own: divided into the folds that come with it." in capsys.readouterr().err
    results = cross_validate([ranker_choice("consensus")], [sample], CrossValidation()).results
    assert results["test_rows"].tolist() == np.bincount(fold).tolist()
    expected = run_experiment(
        {"consensus": ConsensusLabelRanker()},
        {"own": (table[["x"]], ranks)},
        cv=PredefinedSplit(fold),
    )
    np.testing.assert_allclose(results["tau"], expected["tau"])
    for groups, plan in ((None, CrossValidation(default_folds=False)), (fold, CrossValidation())):
        assert Sample.of("own", rankings, table[["x"]], groups, plan).folds is None
