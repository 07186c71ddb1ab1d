"""The service answers as its description says, whatever is made of that description."""

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from prefero import ForestLabelRanker
from prefero.serve import Limits, Settings, create_app


@pytest.fixture(scope="module")
def app():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["size", "heat"])
    ranks = np.where(X[["size"]] > 0, [[1, 2, 3]], [[3, 2, 1]])
    model = ForestLabelRanker(n_estimators=5, random_state=0).fit(X, ranks)
    return create_app({"forest": model}, Settings(Limits(rows=3)))


def test_the_examples_of_the_description_are_answered(app):
    client = TestClient(app)
    described = client.get("/openapi.json").json()
    content = described["paths"]["/rank"]["post"]["requestBody"]["content"]["application/json"]
    body = content["examples"]["forest"]["value"]
    assert client.post("/rank", json=body).status_code == 200
    table = described["paths"]["/rank.csv"]["post"]["requestBody"]["content"]["text/csv"]
    body = table["examples"]["forest"]["value"]
    assert (
        client.post("/rank.csv", content=body, headers={"content-type": "text/csv"}).status_code
        == 200
    )
    assert set(content["schema"]["properties"]) == {
        *("model", "instances", "include", "top", "error", "explain")
    }


@pytest.mark.filterwarnings("default")
def test_no_answer_is_other_than_described(app):
    pytest.importorskip("schemathesis")
    from attack.openapi import examine

    seen = examine(app, 25)
    operations = {operation for operation, _ in seen}
    assert len(operations) == 6
    assert all(status < 500 for _, status in seen)
