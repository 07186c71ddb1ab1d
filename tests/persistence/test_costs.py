"""A small model file costs little: it neither nests without end nor declares what it lacks."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from model_files import TakenApart
from prefero import ConsensusLabelRanker, load, save
from prefero.persistence import ModelFileError, read_header

X, Y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([1.0, 2.0], (20, 1))


def nested(depth):
    inner = StandardScaler()
    for _ in range(depth):
        inner = Pipeline([("inner", inner)])
    return Pipeline([("t", inner), ("r", ConsensusLabelRanker())]).fit(X, Y)


def test_models_inside_models_have_an_end(tmp_path):
    path = tmp_path / "m.prefero"
    save(nested(5), path)
    assert load(path).predict(X[:1]).tolist() == [[1, 2]]
    with pytest.raises(TypeError, match="nested more than 8 deep"):
        save(nested(8), path)
    parts = TakenApart(path)
    steps = parts.state["steps"][0]["tuple"]
    for _ in range(4):
        state = {"steps": [{"tuple": ["a", steps[1]]}]}
        rest = {"transform_input": None, "memory": None, "verbose": False}
        steps[1] = {"estimator": ["sklearn.pipeline", "Pipeline", {**state, **rest}]}
    parts.write(path)
    with pytest.raises(ModelFileError, match="nested more than 8 deep"):
        load(path)


@pytest.mark.parametrize("size", [10**6, 10**8, 10**30, 10**400])
def test_sizes_are_compared_with_the_file(size, tmp_path):
    path = tmp_path / "m.prefero"
    save(ConsensusLabelRanker().fit(X, Y), path)
    parts = TakenApart(path)
    parts.state["n_features_in_"] = parts.header["n_features"] = size
    parts.write(path)
    with pytest.raises(ModelFileError, match=r"far more than the file|beyond 64 bits"):
        load(path)


def test_numbers_of_one_hash_are_refused_before_they_are_put_into_a_set(tmp_path):
    path = tmp_path / "m.prefero"
    save(ConsensusLabelRanker().fit(X, Y), path)
    parts = TakenApart(path)
    parts.state["calibrate"] = {"set": [(2**61 - 1) * i for i in range(40_000)]}
    parts.write(path)
    with pytest.raises(ModelFileError, match="beyond 64 bits"):
        load(path)


def test_high_degrees_are_refused(tmp_path):
    path = tmp_path / "m.prefero"
    model = Pipeline([("p", PolynomialFeatures(17)), ("r", ConsensusLabelRanker())]).fit(X, Y)
    with pytest.raises(TypeError, match="expected 0 to 16"):
        save(model, path)


def test_numbers_whose_products_overflow_are_refused(tmp_path):
    from prefero import LogLinearLabelRanker

    path = tmp_path / "m.prefero"
    save(LogLinearLabelRanker(alpha=1, calibrate=False).fit(X, Y), path)
    parts = TakenApart(path)
    for array in parts.arrays:
        if array.dtype == np.float64 and array.shape == (2, 2):
            array[:] = 1.7e308
    parts.write(path)
    with pytest.raises(ModelFileError, match="outside"):
        load(path)


def test_what_is_told_of_a_file_is_what_its_model_is(tmp_path):
    path = tmp_path / "m.prefero"
    save(ConsensusLabelRanker().fit(X, Y), path)
    parts = TakenApart(path)
    parts.header["parameters"] = {"method": "a lie"}
    parts.write(path)
    assert "a lie" not in str(read_header(path)["parameters"])


def test_the_schema_is_utf_8_and_no_other_codec_is_looked_for():
    from prefero.persistence import _payload

    schema = '{"arrays": [], "model": 1}'
    assert _payload.read(memoryview(_payload._LENGTH.pack(len(schema)) + schema.encode())) == 1
    wide = schema.encode("utf-32-be")
    with pytest.raises(ValueError, match=r"Expecting value|utf-8"):
        _payload.read(memoryview(_payload._LENGTH.pack(len(wide)) + wide))
