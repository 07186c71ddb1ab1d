"""The service, asked as a client asks it: answers, refusals, bounds, changed files."""

import json
import os
import threading
import time

import numpy as np
import pandas as pd
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from prefero import (
    AutoLabelRanker,
    ConsensusLabelRanker,
    ForestLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    save,
)
from prefero.cli.models import behind_columns
from prefero.inspection import explain
from prefero.rankings import ranks_from_scores
from prefero.serve import Limits, Settings, create_app
from prefero.serve._service import ModelStore

LABELS = ["a", "b", "c", "d"]
ONE = {"size": 0.5, "heat": -1.0}


def numbers(n=60):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["size", "heat"])
    scores = X.to_numpy() @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(n, 4))
    return X, pd.DataFrame(ranks_from_scores(scores, higher_is_better=True), columns=LABELS)


@pytest.fixture(scope="module")
def models():
    X, Y = numbers()
    colours = np.random.default_rng(1).choice(["red", "blue"], len(X)).astype(object)
    mixed = X.assign(colour=pd.Series(colours, dtype=object))
    words = behind_columns(PairwiseLabelRanker(), mixed).fit(mixed, Y)
    return {
        "forest": ForestLabelRanker(n_estimators=20, random_state=0).fit(X, Y),
        "words": words,
        "rough": ForestLabelRanker(n_estimators=5, random_state=0).fit(X, np.ceil(Y / 2)),
    }


@pytest.fixture(scope="module")
def client(models):
    return TestClient(create_app(models))


def ask(client, status=200, **body):
    answer = client.post("/rank", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_an_answer_is_what_the_model_says(client, models):
    X = numbers()[0].iloc[:5]
    model = models["forest"]
    told = ask(client, model="forest", instances=X.to_dict("records"))
    assert told["labels"] == LABELS
    assert told["notes"] == []
    results = told["results"]
    assert [one["order"] for one in results] == model.predict_order(X).tolist()
    assert [list(one["ranks"].values()) for one in results] == model.predict(X).tolist()
    assert [list(one["buckets"].values()) for one in results] == model.predict_buckets(X).tolist()
    np.testing.assert_allclose(
        [one["probabilities"] for one in results], model.predict_pairwise(X), atol=1e-4
    )
    np.testing.assert_allclose(
        [one["expected_tau"] for one in results], model.predict_expected_tau(X), atol=1e-4
    )


def test_many_instances_are_answered_as_one_is(client):
    instances = numbers()[0].iloc[:10].to_dict("records")
    together = ask(client, model="forest", instances=instances)["results"]
    assert together == [
        ask(client, model="forest", instances=[one])["results"][0] for one in instances
    ]


def test_ties_are_told(client, models):
    X = numbers()[0].iloc[:20]
    told = ask(client, model="rough", instances=X.to_dict("records"), include=["buckets"])
    buckets = [list(one["buckets"].values()) for one in told["results"]]
    assert buckets == models["rough"].predict_buckets(X).tolist()
    assert any(len(set(row)) < len(row) for row in buckets)


def test_only_what_is_wanted_is_answered(client):
    told = ask(client, model="forest", instances=[ONE], include=["order"], top=2)
    assert list(told["results"][0]) == ["order"]
    assert len(told["results"][0]["order"]) == 2


def test_words_and_what_the_model_does_not_know(client, models):
    instance = {**ONE, "colour": "red"}
    told = ask(client, model="words", instances=[instance])
    expected = models["words"].predict_order(pd.DataFrame([instance]))
    assert told["results"][0]["order"] == expected[0].tolist()
    told = ask(client, model="words", instances=[{**ONE, "colour": "pink"}, {**ONE}])
    assert told["notes"] == [
        "instance 1: 'colour' was never 'pink' in training.",
        "instance 2: 'colour' is missing.",
    ]


def test_forests_take_missing_numbers_and_others_say_so(client):
    told = ask(client, model="forest", instances=[{"size": None}])
    assert told["notes"] == [f"instance 1: {name!r} is missing." for name in ("size", "heat")]
    told = ask(client, 422, model="words", instances=[{**ONE, "size": None, "colour": "red"}])
    assert told["detail"][0]["loc"] == ["body", "instances", 0, "size"]
    assert "'size' is missing, and PairwiseLabelRanker needs every number" in str(told)


@pytest.mark.parametrize("pair", [True, ["c", "a"]])
def test_an_explanation_is_that_of_the_library(client, models, pair):
    told = ask(client, model="forest", instances=[ONE], explain=pair)["results"][0]["explanation"]
    labels = None if pair is True else tuple(pair)
    why = explain(models["forest"], pd.DataFrame([ONE]), pair=labels)
    assert told["pair"] == list(why.pair)
    assert told["summary"] == why.summary()
    assert sum(effect["amount"] for effect in told["effects"]) + told["base"] == pytest.approx(
        told["margin"]
    )


def test_a_missing_value_is_explained_as_missing(client):
    told = ask(client, model="forest", instances=[{"size": None, "heat": 1}], explain=True)
    values = {e["feature"]: e["value"] for e in told["results"][0]["explanation"]["effects"]}
    assert values == {"size": None, "heat": 1.0}


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"instances": [ONE]}, 404, "say which model: forest, words, rough"),
        ({"model": "forrest", "instances": [ONE]}, 404, "did you mean 'forest'?"),
        ({"model": "forest", "instances": [{"sise": 1}]}, 422, "did you mean 'size'?"),
        ({"model": "forest", "instances": [{"size": "big"}]}, 422, "'size' is a number, not 'big'"),
        ({"model": "forest", "instances": [{"size": True}]}, 422, "is a number, not True"),
        ({"model": "forest", "instances": [{"size": 1e39}]}, 422, "must be finite"),
        ({"model": "words", "instances": [{**ONE, "colour": []}]}, 422, "is a category, not []"),
        ({"model": "forest", "instances": []}, 422, "at least 1 item"),
        ({"model": "forest", "instances": [ONE], "tpo": 3}, 422, "Extra inputs"),
        ({"model": "forest", "instances": [ONE], "top": 0}, 422, "greater than or equal to 1"),
        ({"model": "forest", "instances": [ONE], "explain": ["a", "z"]}, 422, "'z' is no label"),
        ({"model": "forest", "instances": [ONE], "explain": ["a", "a"]}, 422, "'a' twice"),
        ({"model": "forest", "instances": [ONE] * 1001}, 413, "more than the 1000"),
    ],
)
def test_a_bad_request_is_refused_in_one_sentence(client, body, status, words):
    assert words in str(ask(client, status, **body)["detail"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"instances": [{"size": NaN}], "model": "forest"}',
        b'{"instances": [{"size": 1' + b"0" * 5000 + b'}], "model": "forest"}',
        b'{"instances": [{"size": ' + b"[" * 500 + b"]" * 500 + b'}], "model": "forest"}',
        b'{"instances": {"size": 1}}',
        b'{"model": "\\ud800", "instances": [{"size": 1}]}',
        b'{"model": "forest", "instances": [{"\\ud800": 1}]}',
    ],
)
def test_a_hostile_body_is_refused(client, body):
    answer = client.post("/rank", content=body, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert "detail" in answer.json()
    assert client.get("/health").json()["status"] == "ok"


def test_a_table_is_answered_with_a_table(client, models):
    X = numbers()[0].iloc[:7]
    answer = client.post(
        "/rank.csv?model=forest&output=ranks",
        content=X.to_csv(index=False),
        headers={"content-type": "text/csv"},
    )
    assert answer.status_code == 200
    found = pd.read_csv(pd.io.common.StringIO(answer.text))
    np.testing.assert_array_equal(found, models["forest"].predict(X))


@pytest.mark.parametrize(
    ("table", "words"),
    [("size\n1\n", "'heat'"), ("size,heat\n1,x\n", ":2:"), ("", "empty"), ("\0\1", "")],
)
def test_a_bad_table_is_refused(client, table, words):
    answer = client.post(
        "/rank.csv?model=forest", content=table, headers={"content-type": "text/csv"}
    )
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_models_say_what_they_take(client):
    forest, words, _ = client.get("/models").json()
    assert forest["labels"] == LABELS
    assert [feature["name"] for feature in forest["features"]] == ["size", "heat"]
    for feature in forest["features"]:
        assert feature["low"] < forest["example"][feature["name"]] < feature["high"]
    colour = words["features"][-1]
    assert (colour["kind"], colour["categories"]) == ("category", ["blue", "red"])
    for model in (forest, words):
        ask(client, model=model["name"], instances=[model["example"]])


def test_the_automatic_ranker_is_asked_by_its_categories_and_says_who_may_be_first():
    X, Y = numbers(40)
    mixed = X.assign(colour=pd.Series(["red", "blue"] * 20, dtype="category"))
    model = AutoLabelRanker(preset="quick", random_state=0).fit(mixed, Y)
    client = TestClient(create_app({"auto": model}))
    assert client.get("/models").json()[0]["features"][2]["categories"] == ["blue", "red"]
    told = ask(client, instances=[{**ONE, "colour": "red"}, {**ONE, "colour": "pink"}])
    assert told["notes"] == ["instance 2: 'colour' was never 'pink' in training."]
    for result in told["results"]:
        assert set() < set(result["top_set"]) <= set(LABELS)


def test_a_model_without_a_calibration_answers():
    model = NeighborsLabelRanker().fit(*numbers())
    del model.calibration_
    told = ask(TestClient(create_app({"m": model})), instances=[ONE])
    assert "probabilities" not in told["results"][0]
    assert "not calibrated" in told["notes"][0]


class TestBounds:
    def client(self, models, token=None, **limits):
        app = create_app({"forest": models["forest"]}, Settings(Limits(**limits), token))
        return TestClient(app)

    def test_size(self, models):
        small = self.client(models, body_bytes=100, table_bytes=50)
        assert ask(small, instances=[ONE])
        assert "larger than 100 bytes" in ask(small, 413, instances=[ONE] * 5)["detail"]

        undeclared = (b"1,2\n" for _ in range(100))
        assert (
            small.post(
                "/rank.csv", content=undeclared, headers={"content-type": "text/csv"}
            ).status_code
            == 413
        )

    def test_token(self, models):
        shut = self.client(models, token="secret")
        assert shut.get("/health").status_code == 200
        assert shut.get("/").status_code == 200
        for header in ({}, {"authorization": "Bearer other"}, {"authorization": "secret"}):
            answer = shut.get("/models", headers=header)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        shut.headers["authorization"] = "Bearer secret"
        assert ask(shut, instances=[ONE])

    def test_they_hold_inside_another_application(self, models):
        settings = Settings(Limits(table_bytes=50), "secret")
        outer = FastAPI()
        outer.mount("/inner", create_app({"forest": models["forest"]}, settings))
        client = TestClient(outer)
        assert client.get("/inner/health").status_code == 200
        assert client.get("/inner/models").status_code == 401
        client.headers["authorization"] = "Bearer secret"
        assert (
            client.post(
                "/inner/rank.csv", content=b"1,2\n" * 100, headers={"content-type": "text/csv"}
            ).status_code
            == 413
        )
        told = client.post("/inner/rank", json={"instances": [ONE]}).json()
        assert told["results"] == ask(self.client(models), instances=[ONE])["results"]

    def test_concurrency(self, models, monkeypatch):
        from prefero.serve import _service

        started, go_on = threading.Event(), threading.Event()

        def slowly(*arguments):
            started.set()
            assert go_on.wait(30)
            return [], []

        narrow = self.client(models, concurrent=1)
        monkeypatch.setattr(_service, "answers", slowly)
        with narrow:
            first = threading.Thread(
                target=ask, args=(narrow,), kwargs={"instances": [ONE], "explain": True}
            )
            first.start()
            assert started.wait(30)
            answer = narrow.get("/models")
            probes = [narrow.get(path).status_code for path in ("/health", "/ready")]
            go_on.set()
            first.join()
            assert probes == [200, 200]
            assert answer.status_code == 429
            assert answer.headers["retry-after"] == "1"
            assert narrow.get("/models").status_code == 200

    def test_time(self, models, monkeypatch):
        from prefero.serve import _service

        go_on = threading.Event()
        hasty = self.client(models, seconds=0.05)
        monkeypatch.setattr(_service, "answers", lambda *_: go_on.wait(30) and ([], []))
        with hasty:
            threading.Timer(0.5, go_on.set).start()
            told = ask(hasty, 503, instances=[ONE], explain=True)
        assert "more than 0.05 s" in told["detail"]

    def test_what_nobody_waits_for_any_more_counts(self, models, monkeypatch):
        from prefero.serve import _service

        go_on = threading.Event()
        hasty = self.client(models, seconds=0.05, concurrent=1)
        monkeypatch.setattr(_service, "answers", lambda *_: go_on.wait(30) and ([], []))
        with hasty:
            ask(hasty, 503, instances=[ONE], explain=True)
            assert ask(hasty, 429, instances=[ONE], explain=True)
            go_on.set()


def test_every_answer_forbids_foreign_scripts(client):
    for path in ("/", "/page/page.js", "/models", "/nowhere"):
        assert "default-src 'none'" in client.get(path).headers["content-security-policy"]
    page = client.get("/").text
    assert "onclick" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_other_sites_may_ask_only_if_allowed(models):
    origin = {"origin": "https://example.org"}
    shut = TestClient(create_app(models))
    assert "access-control-allow-origin" not in shut.get("/models", headers=origin).headers
    ajar = TestClient(create_app(models, Settings(origins=("https://example.org",))))
    answer = ajar.get("/models", headers=origin)
    assert answer.headers["access-control-allow-origin"] == "https://example.org"
    answer = ajar.post("/rank", headers=origin, content=b"x" * 2_000_000)
    assert answer.status_code == 413
    assert answer.headers["access-control-allow-origin"] == "https://example.org"


def test_measures_count(models):
    client = TestClient(create_app({"forest": models["forest"]}))
    for _ in range(3):
        ask(client, instances=[ONE, ONE])
    ask(client, 422, instances=[{"size": "x"}])
    text = client.get("/metrics").text
    worker = f'worker="{os.getpid()}"'
    assert f'prefero_requests_total{{{worker},route="/rank",status="200"}} 3' in text
    assert f'prefero_requests_total{{{worker},route="/rank",status="422"}} 1' in text
    assert f'prefero_instances_total{{{worker},model="forest"}} 6' in text
    assert f"prefero_request_seconds_count{{{worker}}} 4" in text


@pytest.mark.parametrize("values", [False, True])
def test_the_log_holds_values_only_if_asked(models, caplog, values):
    app = create_app({"forest": models["forest"]}, Settings(log_values=values))
    with caplog.at_level("INFO", logger="prefero.serve"):
        ask(TestClient(app), instances=[{"size": 0.12345}])
    line = json.loads(caplog.messages[-1])
    assert (line["path"], line["status"], line["model"], line["instances"]) == (
        *("/rank", 200, "forest"),
        1,
    )
    assert ("0.12345" in caplog.messages[-1]) is values


class TestChangedFiles:
    @pytest.fixture
    def store(self, models, path):
        save(models["forest"], path)
        return ModelStore({"model": path}, seconds=0.0)

    def test_a_new_model_is_taken_over(self, store, path):
        client = TestClient(create_app(store))
        before = ask(client, instances=[ONE])["results"]
        X, Y = numbers()
        save(ConsensusLabelRanker().fit(X, 5 - Y), path)
        assert ask(client, instances=[ONE])["results"] != before
        assert client.get("/models").json()[0]["kind"] == "ConsensusLabelRanker"

    @pytest.mark.parametrize("content", [None, b"no model", b""])
    def test_a_bad_file_leaves_the_old_model(self, store, models, path, content):
        client = TestClient(create_app(store))
        before = ask(client, instances=[ONE])["results"]
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        assert ask(client, instances=[ONE])["results"] == before
        told = client.get("/health").json()
        assert told["status"] == "degraded"
        assert "the old model stays" in told["problems"]["model"]
        save(models["forest"], path)
        assert client.get("/health").json()["status"] == "ok"


def test_eight_threads_get_their_own_answers(client, models):
    instances = numbers()[0].to_dict("records")
    expected = models["forest"].predict_order(numbers()[0]).tolist()
    wrong = []

    def some(start):
        for index in range(start, len(instances), 8):
            told = ask(client, model="forest", instances=[instances[index]])
            if told["results"][0]["order"] != expected[index]:
                wrong.append(index)

    threads = [threading.Thread(target=some, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# Who may ask, and what is stopped.


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", ""])
def test_other_names_of_the_service_are_refused(client, host):
    for path in ("/", "/health", "/models"):
        assert client.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:1"])
def test_its_own_names_are_allowed(client, host):
    assert client.get("/models", headers={"host": host}).status_code == 200


def test_names_can_be_allowed(models):
    named = TestClient(create_app(models, Settings(hosts=("rank.example",))))
    assert named.get("/models", headers={"host": "rank.example:80"}).status_code == 200
    assert named.get("/models", headers={"host": "localhost"}).status_code == 421
    anywhere = TestClient(create_app(models, Settings(hosts=("0.0.0.0",))))
    assert anywhere.get("/models", headers={"host": "10.1.2.3:80"}).status_code == 200
    assert anywhere.get("/models", headers={"host": "evil.example"}).status_code == 421


def test_pages_of_other_sites_are_refused_unless_allowed(models, client):
    csv = {"content-type": "text/csv"}
    for origin in ("https://evil.example", "null"):
        answer = client.post(
            "/rank.csv?model=forest", content="x", headers={"origin": origin, **csv}
        )
        assert answer.status_code == 403
    own = {"origin": "http://testserver"}
    assert client.get("/models", headers=own).status_code == 200
    friends = TestClient(create_app(models, Settings(origins=("https://friend.example",))))
    assert friends.get("/models", headers={"origin": "https://friend.example"}).status_code == 200


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded; a=b"])
def test_a_table_that_a_form_could_send_is_refused(client, kind):
    headers = {"content-type": kind}
    assert client.post("/rank.csv?model=forest", content="x", headers=headers).status_code == 415


def test_a_table_that_takes_too_long_is_stopped_and_its_slot_is_free(models, monkeypatch):
    from prefero.serve import _tables

    slow = TestClient(create_app(models, Settings(Limits(seconds=0.2, tables=1))))
    started = []
    monkeypatch.setattr(
        _tables,
        "_COMMAND",
        (_tables.sys.executable, "-c", "import time; print(0, flush=True); time.sleep(600)"),
    )
    make = _tables.TableProcess.__init__
    monkeypatch.setattr(
        _tables.TableProcess, "__init__", lambda self, m: (make(self, m), started.append(self))[0]
    )
    for _ in range(3):
        csv = {"content-type": "text/csv"}
        answer = slow.post("/rank.csv?model=forest", content="size,heat\n1,2\n", headers=csv)
        assert answer.status_code == 503
    _wait_for(lambda: len(started) == 4)  # each was replaced, by one that waits for a table
    assert all(process._process.wait(60) != 0 for process in started[:3])
    started[3].stop()


def _wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_process_that_starts_longer_than_its_request_answers_the_next(
    models, monkeypatch, tmp_path
):
    from prefero.serve import _tables
    from prefero.serve._models import ServedModel

    may_start = tmp_path / "may start"
    code = (
        "import sys, time, pathlib\n"
        f"while not pathlib.Path({str(may_start)!r}).exists(): time.sleep(0.01)\n"
        "from prefero.serve._tables import main; main()"
    )
    monkeypatch.setattr(_tables, "_COMMAND", (_tables.sys.executable, "-c", code))
    tables, made, refused = _tables.TableProcesses(1, 400_000_000), [], []
    make = _tables.TableProcess.__init__
    monkeypatch.setattr(
        _tables.TableProcess, "__init__", lambda self, m: (make(self, m), made.append(self))[0]
    )
    served = ServedModel.of("forest", models["forest"])
    wanted = _tables.TableRequest(b"size,heat\n1,2\n", "ranks", None, False)
    ended = _tables.TableJob()

    def ask():
        with pytest.raises(TimeoutError):
            tables.answer(served, wanted, ended)
        refused.append(True)

    first = threading.Thread(target=ask)
    first.start()
    _wait_for(lambda: made)
    ended.stop()
    may_start.touch()
    first.join()
    file, rows = tables.answer(served, wanted, _tables.TableJob())
    file.close()
    assert (refused, rows, len(made)) == ([True], 1, 1)


def test_a_bomb_is_refused_and_the_next_table_is_answered(models):
    from attack.bombs import bombs

    client = TestClient(create_app(models))
    csv = {"content-type": "text/csv"}
    for name in ("rows.csv.gz", "text.parquet", "index.svm", "columns.csv"):
        answer = client.post("/rank.csv?model=forest", content=bombs()[name], headers=csv)
        assert answer.status_code == 422
    table = client.post("/rank.csv?model=forest", content="size,heat\n1,2\n", headers=csv)
    assert table.status_code == 200


def test_a_pipe_in_the_place_of_a_model_is_a_problem_with_a_name(models, tmp_path):
    path = tmp_path / "forest.prefero"
    save(models["forest"], path)
    store = ModelStore({"forest": path}, seconds=0)
    path.unlink()
    os.mkfifo(path)
    store.refresh()
    assert "no regular file" in store.problems["forest"]
    assert str(tmp_path) not in store.problems["forest"]
    path.unlink()
    save(models["forest"], path)
    store.refresh()
    assert not store.problems
