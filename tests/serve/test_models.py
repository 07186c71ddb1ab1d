"""Which models the service takes, what it says of them, and where else they can be put."""

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from prefero import (
    AutoLabelRanker,
    BinaryRelevanceRanker,
    CalibratedMultilabelRanker,
    ExpectedRankOrderer,
    NeighborsLabelRanker,
    NeighborsMultilabelRanker,
    save,
)
from prefero.exceptions import ModelFileError
from prefero.persistence import load
from prefero.rankings import ranks_from_scores
from prefero.serve import create_app
from prefero.serve._service import ModelStore

LABELS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(60, 2)), columns=["size", "heat"])


@pytest.fixture(scope="module")
def scores(X):
    rng = np.random.default_rng(1)
    return X.to_numpy() @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(len(X), 4))


@pytest.fixture(scope="module")
def ranks(scores):
    return pd.DataFrame(ranks_from_scores(scores, higher_is_better=True), columns=LABELS)


def ask(model, instances, **body):
    answer = TestClient(create_app({"m": model})).post(
        "/rank", json={"instances": instances, **body}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    "ranker", [BinaryRelevanceRanker(), CalibratedMultilabelRanker(), NeighborsMultilabelRanker()]
)
def test_a_multilabel_ranker_tells_its_order_and_what_is_relevant(ranker, X, scores):
    model = ranker.fit(X, pd.DataFrame((scores > 0).astype(int), columns=LABELS))
    few = X.iloc[:6]
    told = ask(model, few.to_dict("records"))["results"]
    assert [one["order"] for one in told] == model.predict_order(few).tolist()
    assert [list(one["ranks"].values()) for one in told] == model.predict_ranks(few).tolist()
    sets = [[int(label in one["relevant"]) for label in LABELS] for one in told]
    assert sets == model.predict(few).tolist()
    if hasattr(model, "predict_pairwise"):
        expected = model.predict_pairwise(few)[:, :4, :4]
        np.testing.assert_allclose([one["probabilities"] for one in told], expected, atol=1e-4)
    client = TestClient(create_app({"m": model}))
    assert client.get("/models").json()[0]["relevant"] is True
    answer = client.post(
        "/rank.csv?output=relevant",
        content=few.to_csv(index=False),
        headers={"content-type": "text/csv"},
    )
    found = pd.read_csv(pd.io.common.StringIO(answer.text))
    np.testing.assert_array_equal(found, model.predict(few))


def test_a_table_is_not_asked_for_what_the_model_cannot_say(X, ranks, scores):
    few = X.iloc[:3].to_csv(index=False)
    ranker = TestClient(create_app({"m": NeighborsLabelRanker().fit(X, ranks)}))
    answer = ranker.post(
        "/rank.csv?output=relevant", content=few, headers={"content-type": "text/csv"}
    )
    assert (answer.status_code, "relevant labels" in answer.json()["detail"]) == (422, True)
    sets = TestClient(create_app({"m": BinaryRelevanceRanker().fit(X, scores > 0)}))
    answer = sets.post(
        "/rank.csv?expected_tau=true", content=few, headers={"content-type": "text/csv"}
    )
    assert (answer.status_code, "cannot predict" in answer.json()["detail"]) == (422, True)


def test_an_orderer_is_refused_in_a_sentence(X, path):
    qid = np.repeat(np.arange(10), 6)
    orderer = ExpectedRankOrderer().fit(X, np.tile(np.arange(1, 7), 10), qid=qid)
    with pytest.raises(ValueError, match="'m' is a ExpectedRankOrderer, which ranks no labels"):
        create_app({"m": orderer})
    save(orderer, path)
    with pytest.raises(ModelFileError, match="use the commands of prefero order"):
        ModelStore({"m": path})


class TestRanges:
    """What a form offers are the numbers that were there in training."""

    def ranges(self, model):
        features = TestClient(create_app({"m": model})).get("/models").json()[0]["features"]
        return {one["name"]: (one["low"], one["high"]) for one in features}

    def expected(self, X):
        return dict(zip(X.columns, zip(X.min(), X.max(), strict=True), strict=True))

    def test_of_a_ranker_alone(self, X, ranks):
        assert self.ranges(NeighborsLabelRanker().fit(X, ranks)) == self.expected(X)

    def test_of_rows_that_join_later(self, X, ranks):
        ranker = NeighborsLabelRanker().fit(X.iloc[:10], ranks.iloc[:10])
        ranker.partial_fit(X.iloc[10:], ranks.iloc[10:])
        assert self.ranges(ranker) == self.expected(X)

    def test_of_the_automatic_ranker_beside_categories(self, X, ranks):
        mixed = X.assign(colour=pd.Series(["red", "blue"] * 30, dtype="category"))
        mixed = mixed[["size", "colour", "heat"]]
        ranker = AutoLabelRanker(preset="quick", random_state=0).fit(mixed, ranks)
        assert self.ranges(ranker) == {**self.expected(X), "colour": (None, None)}

    def test_a_file_keeps_them_and_one_without_them_is_served(self, X, ranks, path):
        ranker = NeighborsLabelRanker().fit(X, ranks)
        save(ranker, path)
        assert self.ranges(load(path)) == self.expected(X)
        del ranker.feature_ranges_
        save(ranker, path)
        assert self.ranges(load(path)) == dict.fromkeys(X.columns, (None, None))

    def test_what_was_always_missing_has_none(self, X, ranks):
        ranker = AutoLabelRanker(preset="quick", random_state=0)
        ranker.fit(X.assign(heat=np.nan), ranks)
        assert self.ranges(ranker)["heat"] == (None, None)


def test_mlflow_asks_a_model_file(X, ranks, path, tmp_path, monkeypatch):
    pyfunc = pytest.importorskip("mlflow.pyfunc")
    monkeypatch.chdir(tmp_path)
    model = NeighborsLabelRanker().fit(X, ranks)
    save(model, path)
    pyfunc.save_model(
        tmp_path / "kept",
        loader_module="prefero.serve.pyfunc",
        data_path=str(path),
        pip_requirements=["prefero"],
    )
    found = pyfunc.load_model(str(tmp_path / "kept")).predict(X)
    pd.testing.assert_frame_equal(
        found, pd.DataFrame(model.predict(X), columns=LABELS), check_dtype=False
    )


def test_a_ranking_function_finds_features_by_their_names(X, scores, path):
    relevance = pd.DataFrame((scores > 0).astype(int), columns=LABELS)
    model = BinaryRelevanceRanker().fit(X, relevance)
    save(model, path)
    found = pyfunc_of(path).predict(X[["heat", "size"]].assign(other=1))
    np.testing.assert_array_equal(found, model.predict_ranks(X))


def pyfunc_of(path):
    from prefero.serve.pyfunc import _load_pyfunc

    return _load_pyfunc(str(path))


def test_a_request_asks_the_members_of_a_stack_once(X, ranks, monkeypatch):
    ranker = AutoLabelRanker(preset="quick", baseline_guard=0, random_state=0).fit(X, ranks)
    client = TestClient(create_app({"m": ranker}))
    calls = []
    margins = type(ranker)._margins
    monkeypatch.setattr(
        type(ranker), "_margins", lambda self, rows: calls.append(1) or margins(self, rows)
    )
    answer = client.post("/rank", json={"instances": [X.iloc[0].to_dict()]}).json()
    assert answer["results"][0]["top_set"]
    assert len(calls) == 1
