"""prefero train --out-of-core: Parquet files that need not fit into memory."""

import json

import numpy as np
import pytest

from cli_program import prefero_inside as prefero
from prefero import load
from prefero._progress import RowProgress
from prefero.datasets import make_label_ranking
from prefero.tables import row_groups

pd = pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

FEATURES, LABELS = ["age", "size", "price"], ["y_tea", "y_milk", "y_beer"]


@pytest.fixture(scope="module")
def frame():
    X, Y = make_label_ranking(120, 3, 3, theta=1.0, random_state=0)
    ranks = pd.DataFrame(Y, columns=LABELS)
    return pd.DataFrame(X, columns=FEATURES).join(ranks).assign(id=range(120), counts=1.0)


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "big.parquet"
    frame.to_parquet(path, row_group_size=50)
    return path


def train(file, *arguments):
    out = file.parent / "model.prefero"
    usual = ("--labels", "y_*", "--ignore", "id", "--out-of-core", "--jobs", 1)
    return prefero("train", file, "-o", out, *usual, *arguments), out


def test_parts_of_a_file_and_of_a_folder(file, frame):
    parts = row_groups(file)
    assert [part.first_row for part in parts] == [0, 50, 100]
    frame.to_parquet(file.parent / "more.parquet")
    parts = row_groups(file.parent)
    assert [part.first_row for part in parts] == [0, 50, 100, 120]
    assert parts[1].read().frame.equals(frame[50:100].reset_index(drop=True))


@pytest.mark.parametrize("model", ["auto", "boosting", "loglinear"])
def test_a_model_is_trained_part_by_part(file, frame, model):
    given = ("--param", "alpha=0.1" if model == "loglinear" else "n_estimators=4")
    done, out = train(file, "--model", model, "--weights", "counts", *given)
    assert done.returncode == 0, done.stderr
    assert "on 120 rows of 3 labels by 3 features" in done.stderr
    ranker = load(out)
    assert list(ranker.feature_names_in_) == FEATURES
    assert list(ranker.labels_) == LABELS
    assert ranker.score(frame[FEATURES], frame[LABELS]) > 0.3


def with_words(frame):
    """The frame with a column of words of which the parts hold different ones, and a rare gap."""
    towns = np.array(["Ulm", "Bonn", "Celle", "Essen"], dtype=object)[np.arange(120) // 35]
    towns[7] = None
    return frame.assign(town=towns)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("model", ["forest", "boosting", "loglinear", "pairwise", "neighbors"])
def test_words_and_scales_are_those_of_all_parts(file, frame, model, parts):
    table = with_words(frame).assign(price=1000 * frame.price)
    table.to_parquet(file, row_group_size=-(-120 // parts))
    given = {
        "forest": (
            *("max_features=null", "criterion=spearman", "n_estimators=3"),
            "min_samples_leaf=3",
        ),
        "boosting": ("subsample=1", "validation=null", "n_estimators=3"),
        "loglinear": ("alpha=0.1",),
        "pairwise": ("C=1",),
        "neighbors": ("n_neighbors=5", "feature_weights=equal"),
    }[model]
    given = [word for one in given for word in ("--param", one)]
    done, out = train(file, "--model", model, *given)
    assert done.returncode == 0, done.stderr
    found = load(out)
    usual = ("--labels", "y_*", "--ignore", "id", "--jobs", 1)
    done = prefero("train", file, "-o", out, *usual, "--model", model, *given)
    assert done.returncode == 0, done.stderr
    local, features = load(out), table.drop(columns=[*LABELS, "id"])
    assert type(found) is type(local)
    assert np.allclose(
        found.decision_function(features), local.decision_function(features), atol=1e-6
    )


def test_words_in_one_part_and_numbers_in_another_are_refused(file, frame):
    towns = np.where(np.arange(120) < 60, "Ulm", "7")
    frame.assign(town=towns).to_parquet(file, row_group_size=60)
    done, _ = train(file)
    assert done.returncode == 3
    assert "row 61: column 'town' holds numbers in some parts" in done.stderr
    done, out = train(file, "--categorical", "town", "--param", "n_estimators=3")
    assert done.returncode == 0, done.stderr
    assert load(out).categories_[4] == ["7", "Ulm"]


def test_a_missing_number_is_named_as_it_stands_in_the_file(file, frame):
    frame.assign(size=frame["size"].where(frame.id != 70)).to_parquet(file, row_group_size=50)
    done, _ = train(file, "--model", "loglinear")
    assert done.returncode == 3
    assert "row 71: column 'size' is empty, and LogLinearLabelRanker needs" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "tree"), "knows the models forest, boosting, loglinear"),
        (("--format", "orders"), "reads --format ranks and scores"),
        (("--model", "loglinear", "--param", "alhpa=1"), "did you mean 'alpha'"),
    ],
    ids=["model", "format", "parameter"],
)
def test_what_it_cannot_do_is_said(file, arguments, said):
    done, out = train(file, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not out.exists()


def test_a_wrong_row_is_named_as_it_stands_in_the_file(file, frame):
    frame.assign(y_tea=frame.y_tea.where(frame.id != 70, 9.0)).to_parquet(file, row_group_size=50)
    done, _ = train(file)
    assert done.returncode == 3
    assert "row 71: label 'y_tea' has rank 9" in done.stderr


def test_no_parquet_file_is_said(write):
    done, _ = train(write("a,y_b\n1,1\n"))
    assert done.returncode == 3
    assert "no parquet file" in done.stderr


def test_progress_counts_rows():
    told = []
    progress = RowProgress(lambda *about: told.append(about))
    progress()  # before anyone knows how many rows there are
    progress.expect(3, 50)
    for _ in range(3):
        progress()
    assert [about[:2] for about in told] == [(100, 150), (150, 200), (200, 250)]
    assert all(speed > 0 for *_, speed in told)


def test_groups_are_no_feature_and_json_is_printed(file, frame):
    done, out = train(file, "--groups", "counts", "--model", "loglinear", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["features"] == list(load(out).feature_names_in_) == FEATURES
    assert (report["rows"], report["labels"], report["model"]) == (120, LABELS, "loglinear")


@pytest.mark.parametrize(
    "option",
    [
        ("--metric", "tau"),
        ("--time-limit", "9"),
        ("--preset", "quick"),
        ("--label-table", __file__),
        ("--format", "scores", "--higher-is-better", "--cost", "c*", "--mean-budget", "1"),
    ],
    ids=lambda option: option[-2],
)
def test_what_cannot_be_honoured_is_refused(file, option):
    done, out = train(file, *option)
    assert done.returncode == 2
    assert f"--out-of-core and {option[-2]} exclude each other" in done.stderr
    assert not out.exists()
