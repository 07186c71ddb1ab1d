"""Each user gets from a file to a decision with at most four commands."""

import gzip
import io
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli_program import prefero_inside as prefero
from prefero.tables import RANKING_FORMATS

REAL = Path(os.environ.get("PREFERO_DATA", "no such folder"))
N = 36


def run(*commands):
    """Run at most four commands; return the outputs of all."""
    assert len(commands) <= 4
    outputs = []
    for command in commands:
        done = prefero(*command)
        assert done.returncode == 0, (command, done.stderr)
        outputs.append(done)
    return outputs


def table_of(done):
    return pd.read_csv(io.StringIO(done.stdout))


def numbers(seed=0, n=N, labels=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)).round(2)
    scores = x @ rng.normal(size=(2, labels)) + 0.2 * rng.normal(size=(n, labels))
    return rng, pd.DataFrame(x, columns=["size", "heat"]), scores


def real_table(name):
    path = REAL / "real" / f"{name}.csv"
    if not path.is_file():
        pytest.skip("the data are not here")
    return pd.read_csv(path)


def made_prompts():
    rng, _, _ = numbers()
    topic = rng.integers(0, 2, N)
    words = [("sum the numbers", "prove the theorem"), ("write a poem", "tell a story")]
    prompts = [f"{words[t][rng.integers(2)]} number {i}" for i, t in enumerate(topic)]
    frame = pd.DataFrame({"prompt": prompts, "source": rng.choice(["a", "b"], N)})
    for j, name in enumerate(("large", "small", "tiny")):
        frame[f"score {name}"] = (0.9 - 0.2 * j + 0.1 * rng.normal(size=N)).round(3)
    for j, name in enumerate(("large", "small", "tiny")):
        frame[f"characters {name}"] = (1000 / 3**j * rng.uniform(0.8, 1.2, N)).round()
    return frame


def real_prompts():
    wanted = ["claude-2", "gpt-3.5-turbo-1106", "jina-chat"]
    frame = real_table("alpaca_eval").head(300)
    kinds = ("score", "characters")
    return frame[["prompt", "source", *(f"{kind} {name}" for kind in kinds for name in wanted)]]


@pytest.mark.parametrize("prompts", [made_prompts, real_prompts])
def test_routing(tmp_path, prompts):
    frame = prompts()
    frame.to_csv(tmp_path / "runs.csv", index=False)
    frame[["source", "prompt"]].head(4).to_csv(tmp_path / "new.csv", index=False)
    options = ("--labels", "score *", "--format", "scores", "--higher-is-better")
    options += ("--cost", "characters *", "--cost-weight", "0.0002", "--text", "prompt")
    model, page = tmp_path / "m.prefero", tmp_path / "page.html"
    quick = ("--quick", "--rankers", "neighbors")
    report = ("--report", page) if prompts is made_prompts else ()  # pictures take their time
    _, compared, _, told = run(
        ("check", tmp_path / "runs.csv", *options[:-2]),
        ("compare", tmp_path / "runs.csv", *options, *quick, *report),
        ("train", tmp_path / "runs.csv", "-o", model, *options, "--model", "neighbors"),
        ("predict", model, tmp_path / "new.csv", "--output", "order", "--top", "1"),
    )
    assert "utility" in compared.stdout
    assert "cost" in compared.stdout
    assert "regret: how much worse" in compared.stderr
    assert not report or "Quality against cost" in page.read_text("utf-8")
    assert set(table_of(told)["order"]) <= {name for name in frame if name.startswith("score ")}


def test_a_budget_shuts_out_what_is_too_dear(tmp_path):
    frame = pd.DataFrame({"x": range(8), "q a": 0.9, "q b": 0.5, "c a": 10.0, "c b": 1.0})
    frame.to_csv(tmp_path / "runs.csv", index=False)
    options = ("--labels", "q *", "--format", "scores", "--higher-is-better", "--cost", "c *")
    rich, poor = (
        prefero("convert", tmp_path / "runs.csv", "-", *options, "--to", "orders", *limit)
        for limit in (("--budget", "10"), ("--budget", "5"))
    )
    assert set(table_of(rich)["order"]) == {"q a > q b"}
    assert set(table_of(poor)["order"]) == {"q b > q a"} or "q a ~ q b" in poor.stdout
    mean = prefero(
        "convert", tmp_path / "runs.csv", "-", *options, "--to", "orders", "--mean-budget", "5"
    )
    assert set(table_of(mean)["order"]) == {"q b > q a"}
    assert "one unit of cost is worth 0.04444 of score" in mean.stderr
    neither = prefero("convert", tmp_path / "runs.csv", "-", *options, "--to", "orders")
    assert (neither.returncode, "--cost-weight" in neither.stderr) == (2, True)


def made_runs(folder):
    _, x, scores = numbers()
    times = np.exp(scores * 2 + 3).round(1)
    frame = x.assign(**{f"t {name}": times[:, j] for j, name in enumerate("abc")})
    frame.to_csv(folder / "runs.csv", index=False)
    options = ("--labels", "t *", "--format", "scores", "--lower-is-better", "--cutoff", "60")
    return folder / "runs.csv", options


def real_runs(folder):
    scenario = REAL / "aslib" / "QBF-2011"
    if not scenario.is_dir():
        pytest.skip("the data are not here")
    return scenario, ()


@pytest.mark.parametrize("runs", [made_runs, real_runs])
def test_solvers(tmp_path, runs):
    path, options = runs(tmp_path)
    model = tmp_path / "m.prefero"
    names = ("--rankers", "neighbors", "--rows", "200", "--folds", "3")
    compared, _, told = run(
        ("compare", path, *options, *names, "--metric", "gap-closed"),
        ("train", path, "-o", model, *options, "--model", "forest", "--metric", "regret"),
        ("predict", model, path, "--output", "order", "--top", "1"),
    )
    assert "PAR10" in compared.stdout
    assert "gap closed" in compared.stdout
    assert len(table_of(told))


def test_time_outs_tie_among_themselves_only(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("x,a,b,c,d\n1,3,60,75,59\n")
    options = ("--labels", "a,b,c,d", "--format", "scores", "--lower-is-better", "--cutoff", "60")
    done = prefero("convert", path, "-", "--to", "orders", *options)
    assert table_of(done)["order"].tolist() == ["a > d > b ~ c"]


def test_chemistry(tmp_path):
    _, x, scores = numbers(n=30)
    yields = np.where(np.random.default_rng(1).random(scores.shape) < 0.2, np.nan, scores)
    frame = x.assign(**{f"yield {name}": yields[:, j] for j, name in enumerate("abc")})
    frame.assign(substrate=[f"s{i // 2}" for i in range(30)]).to_csv(
        tmp_path / "y.csv", index=False
    )
    x.head(3).to_csv(tmp_path / "new.csv", index=False)
    options = ("--labels", "yield *", "--format", "scores", "--higher-is-better")
    options += ("--groups", "substrate")
    model = tmp_path / "m.prefero"
    told = run(
        ("train", tmp_path / "y.csv", "-o", model, *options, "--model", "neighbors"),
        ("predict", model, tmp_path / "new.csv", "--output", "order", "--expected-tau"),
        ("explain", model, tmp_path / "new.csv", "--row", "2"),
    )
    assert table_of(told[1])["order"].str.count(">").tolist() == [2, 2, 2]
    assert told[2].stdout.startswith("Row 2:")


def made_trial(folder):
    rng, x, _ = numbers()
    shown = np.array([rng.permutation(list("abcd"))[:3] for _ in range(N)])
    frame = x.assign(v1=shown[:, 0], v2=shown[:, 1], v3=shown[:, 2])
    frame.assign(best=shown[:, 0], worst=shown[:, 2]).to_csv(folder / "trial.csv", index=False)
    return "abcd", ("--labels", "v1,v2,v3,best,worst", "--format", "best-worst")


def real_trial(folder):
    frame = real_table("cassava").head(200)
    frame.to_csv(folder / "trial.csv", index=False)
    return [name for name in frame if name.startswith("r_")], ("--labels", "r_*")


@pytest.mark.parametrize("trial", [made_trial, real_trial])
def test_trial_of_three(tmp_path, trial):
    varieties, options = trial(tmp_path)
    model = tmp_path / "m.prefero"
    _, _, told = run(
        ("check", tmp_path / "trial.csv", *options),
        ("train", tmp_path / "trial.csv", "-o", model, *options, "--model", "forest"),
        ("predict", model, tmp_path / "trial.csv", "--output", "order"),
    )
    assert set(table_of(told)["order"].iloc[0].split(" > ")) == set(varieties)


def made_survey(folder):
    _, x, scores = numbers()
    ranks = pd.DataFrame((-scores).round(0), columns=["tea", "milk", "beer"])
    x.join(ranks.rank(axis=1, method="min")).to_csv(folder / "survey.csv", index=False)
    return ["tea", "milk", "beer"]


def real_survey(folder):
    frame = real_table("music").head(200)
    frame.to_csv(folder / "survey.csv", index=False)
    return [name for name in frame if name.startswith("r_")]


@pytest.mark.parametrize("survey", [made_survey, real_survey])
def test_survey_with_ties(tmp_path, survey):
    items = survey(tmp_path)
    options = ("--labels", ",".join(items))
    quick = ("--rankers", "neighbors", "--quick", "--metric", "tau-x")
    method = "kemeny" if len(items) < 10 else "borda"
    compared, winner = run(
        ("compare", tmp_path / "survey.csv", *options, *quick),
        ("aggregate", tmp_path / "survey.csv", *options, "--method", method),
    )
    assert "tau-x" in compared.stdout
    assert set(winner.stdout.strip().split(" > ")) == set(items)


def made_news(folder):
    _, x, scores = numbers(labels=4)
    topics = ["politics", "economy", "education", "sport"]
    path = folder / "news.csv"
    x.join(pd.DataFrame((scores > 0).astype(int), columns=topics)).to_csv(path, index=False)
    return path, ("--labels", ",".join(topics), "--format", "relevance")


def real_news(folder):
    """Songs and their moods, as Mulan keeps them: the list beside says what the labels are."""
    source = REAL / "multilabel" / "emotions" / "emotions.arff"
    if not source.is_file():
        pytest.skip("the data are not here")
    shutil.copy(source, folder / "songs.arff")
    shutil.copy(source.with_suffix(".xml"), folder / "songs.xml")
    return folder / "songs.arff", ()


@pytest.mark.parametrize("news", [made_news, real_news])
def test_news_with_topics(tmp_path, news):
    path, options = news(tmp_path)
    model, page = tmp_path / "m.prefero", tmp_path / "page.html"
    quick = ("--quick", "--rankers", "neighbors,binary-relevance")
    report = ("--report", page) if news is made_news else ()  # pictures take their time
    _, compared, _, told = run(
        ("check", path, *options),
        ("compare", path, *options, *quick, *report),
        ("train", path, "-o", model, *options, "--model", "binary-relevance"),
        ("predict", model, path),
    )
    assert "consensus" in compared.stdout
    assert not report or "Rows to choose from" in page.read_text("utf-8")
    assert table_of(told)["calibrated"].str.fullmatch(r"\[.*\]\[.*\]").all()


def made_results(folder):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)).round(3)
    grades = np.clip(np.round(x[:, 0] + 0.3 * rng.normal(size=60)), 0, 2).astype(int)
    lines = [
        f"{grade} qid:{i // 6} " + " ".join(f"{j + 1}:{value}" for j, value in enumerate(row))
        for i, (grade, row) in enumerate(zip(grades, x, strict=True))
    ]
    (folder / "judged.txt").write_text("\n".join(lines) + "\n")
    return folder / "judged.txt"


def real_results(folder):
    source = REAL / "letor" / "mq2008" / "S1.txt"
    if not source.is_file():
        pytest.skip("the data are not here")
    lines = source.read_text().splitlines(keepends=True)[:600]
    (folder / "judged.txt").write_text("".join(lines))
    return folder / "judged.txt"


@pytest.mark.parametrize("results", [made_results, real_results])
def test_search_results(tmp_path, results):
    path, model, page = results(tmp_path), tmp_path / "m.prefero", tmp_path / "page.html"
    compared, trained, told, why = run(
        ("order", "compare", path, "--orderers", "svm", "--folds", "3", "--report", page),
        ("order", "train", path, "-o", model),
        ("order", "predict", model, path),
        ("order", "explain", model, path, "--row", "2"),
    )
    assert "NDCG@10" in compared.stdout
    assert "constant" in compared.stdout
    assert "held-out" in trained.stderr
    assert table_of(told).groupby("query")["rank"].min().eq(1).all()
    assert why.stdout.startswith("Row 2: object")
    assert "Groups to choose from" in page.read_text("utf-8")


def lines_of(form):
    """A table of twelve rows in a format, and the options that read it."""
    rows, x = range(12), lambda i: f"{i % 5}.5"
    up = ("--higher-is-better",)
    if form == "ranks":
        return ["x,a,b", *(f"{x(i)},{1 + i % 2},{2 - i % 2}" for i in rows)], ("--labels", "a,b")
    if form == "scores":
        return ["x,a,b", *(f"{x(i)},{i % 2},0.5" for i in rows)], ("--labels", "a,b", *up)
    if form == "orders":
        return ["x,o", *(f"{x(i)},{'a > b' if i % 2 else 'b > a'}" for i in rows)], (
            "--labels",
            "o",
        )
    if form == "pairs":
        return ["x,p,q", *(f"{x(i)},{'a,b' if i % 2 else 'b,a'}" for i in rows)], (
            "--labels",
            "p,q",
        )
    if form == "best-worst":
        cells = ["x,best,worst", *(f"{x(i)},{'a,b' if i % 2 else 'b,a'}" for i in rows)]
        return cells, ("--labels", "best,worst")
    if form == "long":
        cells = [f"{x(i)},{i},{name},{(i + j) % 2}" for i in rows for j, name in enumerate("ab")]
        return ["x,id,l,v", *cells], ("--labels", "l,v", "--instance", "id", *up)
    if form == "relevance":
        return ["x,a,b", *(f"{x(i)},{i % 2},{1 - i % 2}" for i in rows)], ("--labels", "a,b")
    cells = ["x,c", *(f"{x(i)},{'[a][b]' if i % 2 else '[][b > a]'}" for i in rows)]
    return cells, ("--labels", "c")


def every_command(path, model, reading):
    return (
        ("check", path, *reading),
        ("convert", path, "-", "--to", "orders", *reading),
        ("aggregate", path, *reading),
        ("train", path, "-o", model, "--model", "consensus", *reading),
        ("compare", path, "--rankers", "neighbors", "--folds", "2", *reading),
        ("predict", model, path),
        ("explain", model, path),
    )


@pytest.mark.parametrize("form", list(RANKING_FORMATS))
def test_no_command_reads_a_format_that_another_refuses(tmp_path, form):
    lines, options = lines_of(form)
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    for command in every_command(path, tmp_path / "m.prefero", ("--format", form, *options)):
        done = prefero(*command)
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize("ending", [".tsv", ".parquet", ".xlsx", ".xarff", ".kebi", ".csv.gz"])
def test_no_command_reads_a_kind_of_file_that_another_refuses(tmp_path, ending):
    lines, reading = lines_of("ranks")
    csv = tmp_path / "data.csv"
    csv.write_text("\n".join(lines) + "\n")
    path = tmp_path / f"data{ending}"
    if ending == ".csv.gz":
        path.write_bytes(gzip.compress(csv.read_bytes()))
    else:
        assert prefero("convert", csv, path, "--to", "ranks", *reading).returncode == 0
    # The two formats of the literature say themselves what the labels are.
    reading = () if ending in (".xarff", ".kebi") else reading
    for command in every_command(path, tmp_path / "m.prefero", reading):
        done = prefero(*command)
        assert done.returncode == 0, (command, done.stderr)


def test_a_query_file_beside_tells_the_groups(tmp_path):
    letor = made_results(tmp_path)
    plain = "".join(
        " ".join(part for part in line.split() if not part.startswith("qid")) + "\n"
        for line in letor.read_text().splitlines()
    )
    (tmp_path / "plain.svm").write_text(plain)
    (tmp_path / "plain.svm.query").write_text("6\n" * 10)
    shutil.copy(letor, tmp_path / "same.txt")
    for path in (tmp_path / "plain.svm", tmp_path / "same.txt"):
        done = prefero("order", "train", path, "-o", tmp_path / "m.prefero")
        assert "on 10 orders of 60 objects" in done.stderr, done.stderr
