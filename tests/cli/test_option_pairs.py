"""Options meet: every pair of option values of a command, and no option without effect."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import prefero as library
from cli_program import prefero_inside as prefero
from covering import covering

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

N = 16
SCORES = ["--format", "scores", "--higher-is-better"]
NONE: tuple[str, ...] = ()


def words_of(options):
    """Yield the words of commands in which every pair of values of two options occurs."""
    for case in covering(options):
        yield [word for value in case.values() for word in value]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A table with rankings in every format, labels with features, objects, and models."""
    folder = tmp_path_factory.mktemp("pairs")
    rng = np.random.default_rng(0)
    x = rng.normal(size=N).round(2)
    scores = np.column_stack([x, -x, rng.normal(size=N)]).round(2)
    ranks = (-scores).argsort(axis=1).argsort(axis=1) + 1
    table = pd.DataFrame(
        {
            "x": x,
            "kind": np.where(np.arange(N) % 3, "red", "blue"),
            "note": ["", *(f"word {i % 4} and more" for i in range(N - 1))],
            "code": np.arange(N) % 4,
            "person": np.arange(N) // 2,
            "times": 1 + np.arange(N) % 2,
        }
    )
    labels = list("abc")
    table = table.join(pd.DataFrame(ranks, columns=[f"r_{name}" for name in labels]))
    table = table.join(pd.DataFrame(scores, columns=[f"s_{name}" for name in labels]))
    table = table.join(
        pd.DataFrame(rng.random((N, 3)).round(2), columns=[f"c_{n}" for n in labels])
    )
    table = table.join(pd.DataFrame((scores > 0).astype(int), columns=[f"y_{n}" for n in labels]))
    table["order"] = [" > ".join(labels[j] for j in np.argsort(row)[:2]) for row in ranks]
    table.to_csv(folder / "data.csv", index=False)
    table.drop(columns=["note", "order"]).to_parquet(folder / "data.parquet", row_group_size=8)
    pd.DataFrame({"label": labels, "z": [1.0, 2.0, 3.0]}).to_csv(folder / "labels.csv", index=False)
    new = table[["x", "kind", "note", "code", "person"]].assign(r_a=1, row=2, rank=3)
    new.to_csv(folder / "new.csv", index=False)
    objects = table[["x", "kind", "code", "times"]].assign(
        query=np.arange(N) // 4, place=np.tile([1, 2, 3, 4], N // 4)
    )
    objects.to_csv(folder / "objects.csv", index=False)
    X, target = table[["x", "code"]], pd.DataFrame(ranks, columns=[f"r_{n}" for n in labels])
    library.save(library.ForestLabelRanker(3, random_state=0).fit(X, target), folder / "forest")
    auto = library.AutoLabelRanker(preset="quick", random_state=0)
    library.save(auto.fit(pd.concat([X] * 2), pd.concat([target] * 2)), folder / "auto")
    sets = library.PairwiseMultilabelRanker().fit(X, pd.DataFrame(scores > 0, columns=labels))
    library.save(sets, folder / "sets")
    orderer = library.ExpectedRankOrderer().fit(
        objects[["x", "code"]], objects["place"], qid=objects["query"]
    )
    library.save(orderer, folder / "orderer")
    return folder


RANKINGS = {
    "ranks": ("--labels", "r_*"),
    "scores": ("--labels", "s_*", *SCORES),
    "orders": ("--labels", "order", "--format", "orders"),
    "relevance": ("--labels", "y_*", "--format", "relevance"),
    "calibrated": ("--labels", "s_*", "--format", "calibrated"),
}


def ignoring(words):
    """Columns of rankings and costs that a command does not use are no features."""
    words = [str(word) for word in words]
    used = " ".join(words)
    free = [name for name in ("r_*", "s_*", "c_*", "y_*", "order") if f" {name}" not in f" {used}"]
    if "data.parquet" in used:
        free = [name for name in free if name != "order"]
    if "--text" not in words and "data.csv" in used:
        free.append("note")
    return [*words, "--ignore", ",".join(free)] if free else words


def run(*words):
    """Run a command; it ends without a traceback and leaves the filters of warnings alone."""
    before = list(warnings.filters)
    done = prefero(*words)
    assert warnings.filters == before
    assert done.returncode in (0, 2, 3), (words, done.stderr)
    assert "Traceback" not in done.stderr, (words, done.stderr)
    assert "unexpected" not in done.stderr, (words, done.stderr)
    return done


def models(*names):
    return [("--model", name) for name in names]


def everywhere():
    """Options of train that go with nearly all others."""
    return {
        "weights": [NONE, ("--weights", "times")],
        "groups": [NONE, ("--groups", "person")],
        "text": [NONE, ("--text", "note")],
        "categorical": [NONE, ("--categorical", "code")],
        "json": [NONE, ("--json",)],
    }


COSTS = [
    NONE,
    ("--cost", "c_*", "--cost-weight", "0.1"),
    ("--cost", "c_*", "--budget", "0.9"),
    ("--cost", "c_*", "--mean-budget", "0.9"),
]
PARTS = {  # by what is trained: options of its own, and the least share of commands that work
    "one ranker": (
        {
            "rankings": list(RANKINGS.values()),
            "model": models(*("consensus", "neighbors", "tree", "forest", "boosting"))
            + models("loglinear", "pairwise", "constraint", "binary-relevance", "calibrated"),
        },
        0.4,
    ),
    "by scores": (
        {
            "rankings": [RANKINGS["scores"]],
            "model": models("forest", "loglinear", "neighbors", "boosting"),
            "metric": [NONE, ("--metric", "tau"), ("--metric", "regret"), ("--metric", "utility")],
            "costs": COSTS,
        },
        0.9,
    ),
    "run times": (
        {
            "rankings": [("--labels", "c_*", "--format", "scores", "--lower-is-better")],
            "model": models("forest", "tree", "svm"),
            "cutoff": [NONE, ("--cutoff", "0.8")],
        },
        0.5,
    ),
    "automatic": (
        {
            "rankings": list(RANKINGS.values()),
            "preset": [("--preset", "quick")],
            "metric": [NONE, ("--metric", "rho"), ("--metric", "regret")],
            "time": [NONE, ("--time-limit", "60")],
        },
        0.5,
    ),
    "label table": (
        {
            "rankings": [RANKINGS["ranks"], RANKINGS["scores"]],
            "model": models("auto", "svm", "regression", "trees"),
            "table": [("--label-table", "labels.csv")],
            "costs": COSTS[:2],
        },
        0.2,
    ),
    "out of core": (
        {
            "rankings": [RANKINGS["ranks"], RANKINGS["scores"]],
            "model": models("auto", "loglinear", "boosting", "neighbors", "pairwise"),
            "costs": COSTS[:2],
            "parts": [("--out-of-core",)],
        },
        0.2,
    ),
    "everything": (
        {
            "rankings": list(RANKINGS.values()),
            "model": [*models("consensus", "forest", "svm"), ("--preset", "quick")],
            "metric": [NONE, ("--metric", "top1"), ("--metric", "hamming-loss")],
            "table": [NONE, ("--label-table", "labels.csv")],
            "costs": [*COSTS, ("--cutoff", "1")],
            "unranked": [NONE, ("--unranked", "below")],
            "parts": [NONE, ("--out-of-core",)],
            "time": [NONE, ("--time-limit", "60")],
        },
        0.0,
    ),
}


@pytest.mark.parametrize("part", PARTS)
def test_train_and_every_pair_of_its_options(tables, tmp_path, monkeypatch, part):
    monkeypatch.chdir(tables)
    options, share = PARTS[part]
    codes = []
    for case in words_of({**options, **everywhere()}):
        data = "data.parquet" if "--out-of-core" in case else "data.csv"
        done = run("train", *ignoring([data, *case]), "-o", tmp_path / "m.prefero")
        codes.append(done.returncode)
    assert codes.count(0) >= share * len(codes), codes


FOLDS = {
    "folds": [("--folds", "2"), ("--folds", "2", "--repeats", "2"), ("--folds", "3")],
    "groups": [NONE, ("--groups", "person")],
    "categorical": [NONE, ("--categorical", "code")],
    "out": [NONE, ("--out", "out.csv")],
    "json": [NONE, ("--json",)],
}
COMPARED = {
    "rankers": (
        {
            "rankings": list(RANKINGS.values()),
            "rankers": [("--rankers", name) for name in ("consensus", "neighbors", "pairwise")],
            "rows": [NONE, ("--rows", "12"), ("--rows", "0")],
            "resume": [NONE, ("--resume", "runs")],
            **FOLDS,
        },
        0.9,
    ),
    "metrics": (
        {
            "rankings": [RANKINGS["scores"], RANKINGS["relevance"]],
            "rankers": [("--rankers", "pairwise")],
            "metric": [NONE, *(("--metric", n) for n in ("rho", "gap-closed", "subset-loss"))],
            "costs": COSTS,
            **FOLDS,
        },
        0.3,
    ),
    "label table": (
        {
            "rankings": [RANKINGS["scores"]],
            "rankers": [("--rankers", name) for name in ("svm", "regression")],
            "table": [("--label-table", "labels.csv")],
            **FOLDS,
            "folds": [("--folds", "2"), ("--quick",)],
        },
        0.9,
    ),
    "everything": (
        {
            "rankings": [RANKINGS["ranks"], RANKINGS["calibrated"]],
            "rankers": [("--rankers", "consensus"), ("--rankers", "svm")],
            "table": [NONE, ("--label-table", "labels.csv")],
            "quick": [NONE, ("--quick",)],
            "resume": [NONE, ("--resume", "runs")],
            "metric": [NONE, ("--metric", "top1")],
            "cutoff": [NONE, ("--cutoff", "1")],
            **FOLDS,
        },
        0.0,
    ),
}


@pytest.mark.parametrize("part", COMPARED)
def test_compare_and_every_pair_of_its_options(tables, monkeypatch, part):
    monkeypatch.chdir(tables)
    options, share = COMPARED[part]
    codes = [
        run("compare", *ignoring(["data.csv", *case])).returncode for case in words_of(options)
    ]
    assert codes.count(0) >= share * len(codes), codes


def test_predict_and_every_pair_of_its_options(tables, tmp_path):
    options = {
        "model": [(tables / name,) for name in ("forest", "auto", "sets", "orderer")],
        "output": [
            ("--output", name)
            for name in (
                "ranks",
                "order",
                "scores",
                "pairs",
                "relevant",
                "calibrated",
                "probabilities",
            )
        ],
        "top": [NONE, ("--top", "1")],
        "expected_tau": [NONE, ("--expected-tau",)],
        "top_set": [NONE, ("--top-set", "0.2")],
        "keep": [NONE, ("--keep", "kind"), ("--keep", "r_a"), ("--keep", "row")],
        "out": [NONE, ("--out", tmp_path / "out.csv"), ("--out", tmp_path / "out.json")],
        "json": [NONE, ("--json",)],
    }
    codes = []
    for model, *case in words_of(options):
        done = prefero("predict", model, tables / "new.csv", *case)
        assert done.returncode in (0, 2, 3, 4), (model, case, done.stderr)
        assert (done.returncode == 4) == (
            model.name == "orderer" and "names another" not in done.stderr
        )
        assert "Traceback" not in done.stderr
        codes.append(done.returncode)
    assert codes.count(0) >= 10


def test_order_and_every_pair_of_its_options(tables, tmp_path):
    columns = {
        "group": [NONE, ("--group", "query")],
        "target": [
            ("--rank", "place"),
            ("--grade", "times"),
            ("--rank", "place", "--grade", "times"),
        ],
        "features": [NONE, ("--features", "x,kind"), ("--ignore", "times,place,kind")],
        "categorical": [NONE, ("--categorical", "code")],
        "reduce": [NONE, ("--reduce", "1")],
        "json": [NONE, ("--json",)],
    }
    train = {
        "model": [("--model", name) for name in ("auto", "svm", "regression", "trees")],
        "preset": [NONE, ("--preset", "quick")],
        "param": [NONE, ("--param", "alpha=0.5")],
    }
    data, codes = tables / "objects.csv", []
    for case in words_of({**columns, **train}):
        codes.append(run("order", "train", data, "-o", tmp_path / "m", *case).returncode)
    compare = {
        "orderers": [("--orderers", "regression"), ("--orderers", "auto")],
        "metric": [NONE, ("--metric", "ndcg")],
        "folds": [("--folds", "2"), ("--folds", "2", "--repeats", "2")],
        "out": [NONE, ("--out", tmp_path / "out.csv")],
    }
    for case in words_of({**columns, **compare}):
        codes.append(run("order", "compare", data, *case).returncode)
    predict = {
        "group": [NONE, ("--group", "query"), ("--group", "person")],
        "keep": [NONE, ("--keep", "x"), ("--keep", "rank")],
        "out": [NONE, ("--out", tmp_path / "out.csv")],
    }
    for case in words_of(predict):
        codes.append(run("order", "predict", tables / "orderer", data, *case).returncode)
    assert codes.count(0) >= 15


CONTEXTS = {
    "named": ("--labels", "s_*", *SCORES, "--model", "forest"),
    "label table": ("--labels", "s_*", *SCORES, "--model", "regression", "--label-table"),
    "out of core": ("--labels", "s_*", *SCORES, "--model", "loglinear", "--out-of-core"),
    "multilabel": ("--labels", "y_*", "--format", "relevance", "--model", "pairwise"),
    "orders": ("--labels", "order", "--format", "orders", "--model", "neighbors"),
    "automatic": ("--labels", "s_*", *SCORES, "--preset", "quick"),
}
OPTIONS = (
    *(("--metric", "regret"), ("--metric", "tau-x"), ("--weights", "times")),
    *(("--groups", "person"), ("--categorical", "code"), ("--text", "note")),
    *(("--cost", "c_*", "--cost-weight", "3"), ("--cost", "c_*", "--budget", "0.2")),
    *(("--cost", "c_*", "--mean-budget", "0.4"), ("--cutoff", "1"), ("--unranked", "below")),
    *(("--ignore", "x"), ("--json",), ("--preset", "best"), ("--lower-is-better",)),
)


@pytest.mark.parametrize("context", CONTEXTS)
def test_no_option_of_train_is_silently_ignored(tables, tmp_path, context):
    words = list(CONTEXTS[context])
    if context == "label table":
        words.append(tables / "labels.csv")
    data = tables / ("data.parquet" if context == "out of core" else "data.csv")
    out = tmp_path / "m.prefero"

    def result(*option):
        out.unlink(missing_ok=True)
        case = ignoring([data, *words, *option])
        if option[:1] == ("--ignore",):
            case[-1] = f"{case[-1]},{option[1]}"
        done = run("train", *case, "-o", out)
        said = [line for line in done.stderr.splitlines() if "per second" not in line]
        return done.returncode, done.stdout, said, out.read_bytes() if out.exists() else b""

    usual = result()
    assert usual[0] == 0, usual[2]
    for option in OPTIONS:
        if option[0] not in words:
            found = result(*option)
            assert found[0] or found != usual, option


@pytest.mark.parametrize("model", ["forest", "boosting", "pairwise"])
def test_the_answer_does_not_depend_on_the_number_of_jobs(tables, tmp_path, model):
    answers = []
    for jobs in (1, 2):
        out = tmp_path / "m.prefero"
        words = ignoring([tables / "data.csv", *RANKINGS["ranks"], "--model", model])
        assert run("train", *words, "-o", out, "--jobs", jobs).returncode == 0
        answers.append(run("predict", out, tables / "new.csv", "--output", "pairs").stdout)
    assert answers[0] == answers[1]


def without_seconds(text):
    """Parse results, of which the seconds differ from run to run."""
    found = json.loads(text or "{}")
    for row in found.get("results", []):
        for name in [name for name in row if "seconds" in name]:
            del row[name]
    return found


COMPARE_CONTEXTS = {
    "scores": (*RANKINGS["scores"], "--rankers", "neighbors", "--folds", "2"),
    "multilabel": (*RANKINGS["relevance"], "--rankers", "pairwise", "--folds", "2"),
    "label table": (*RANKINGS["scores"], "--label-table", "labels.csv", "--rankers", "regression"),
}
COMPARE_OPTIONS = (
    *(("--metric", "top1"), ("--metric", "one-error"), ("--metric", "utility"), ("--quick",)),
    *(("--repeats", "2"), ("--rows", "10"), ("--groups", "person"), ("--categorical", "code")),
    *(("--text", "note"), ("--cost", "c_*", "--budget", "0.2"), ("--cutoff", "1"), ("--seed", "1")),
    *(("--unranked", "below"), ("--lower-is-better",), ("--folds", "4"), ("--rankers", "svm")),
)


@pytest.mark.parametrize("context", COMPARE_CONTEXTS)
def test_no_option_of_compare_is_silently_ignored(tables, monkeypatch, context):
    monkeypatch.chdir(tables)

    def result(*option):
        case = ignoring(["data.csv", *COMPARE_CONTEXTS[context], *option, "--json"])
        done = run("compare", *case)
        return done.returncode, without_seconds(done.stdout), done.stderr

    usual = result()
    assert usual[0] == 0, usual[2]
    for option in COMPARE_OPTIONS:
        found = result(*option)
        assert found[0] or found != usual, option


@pytest.mark.parametrize("model", ["forest", "auto", "sets"])
@pytest.mark.parametrize("output", ["ranks", "order", "scores", "pairs", "calibrated"])
def test_no_option_of_predict_is_silently_ignored(tables, model, output):
    usual = ("predict", tables / model, tables / "new.csv", "--output", output)
    plain = run(*usual)
    options = ("--top", "1"), ("--expected-tau",), ("--top-set", "0.2"), ("--keep", "kind")
    for option in (*options, ("--json",)):
        done = run(*usual, *option)
        assert done.returncode or done.stdout != plain.stdout, option
