"""Files made to do harm. Their checksum is right: whoever writes them can compute it."""

import contextlib
import io
import json
import os
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse
import skops.io
from sklearn.base import clone

from model_files import estimators_of, problem
from prefero import ConsensusLabelRanker, load, save
from prefero.persistence import ModelFileError
from prefero.persistence._container import read_container, write_container


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.prefero"


class Payload:
    """A saved model taken apart, to be put together again with something changed."""

    def __init__(self, model, path):
        self.path = path
        save(model, path)
        self.header, content = read_container(path)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}

    @property
    def schema(self):
        return json.loads(self.members["schema.json"])

    def write(self, schema=None, compression=zipfile.ZIP_STORED, **members):
        members = self.members | members
        if schema is not None:
            members["schema.json"] = json.dumps(schema).encode()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", compression) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        about = {k: v for k, v in self.header.items() if k not in ("format", "sha256")}
        write_container(self.path, about, buffer.getvalue())

    def array_name(self):
        return next(name for name in self.members if name.endswith(".npy"))


@pytest.fixture
def payload(path):
    X, Y = problem()
    return Payload(ConsensusLabelRanker().fit(X, Y), path)


def test_an_unchanged_payload_is_accepted(payload):
    payload.write()
    assert isinstance(load(payload.path), ConsensusLabelRanker)


HOSTILE_STATES = [
    {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"},
    {"__class__": "Popen", "__module__": "subprocess", "__loader__": "ObjectNode"},
    {"__class__": "Popen", "__module__": "subprocess", "__loader__": "TypeNode"},
    {"__class__": "load", "__module__": "prefero.persistence", "__loader__": "ObjectNode"},
    {"__class__": "ConsensusLabelRanker", "__module__": "evil", "__loader__": "ObjectNode"},
    {"__class__": "partial", "__module__": "functools", "__loader__": "PartialNode"},
    {"__class__": "attrgetter", "__module__": "operator", "__loader__": "OperatorFuncNode"},
    {"__class__": "DecisionTreeClassifier", "__module__": "sklearn.tree._classes",
     "__loader__": "ObjectNode"},
    {"__class__": "absolute", "__module__": "numpy", "__loader__": "FunctionNode"},
    {"__class__": 3, "__module__": None, "__loader__": "ObjectNode"},
]  # fmt: skip


@pytest.mark.parametrize(
    "state", HOSTILE_STATES, ids=lambda s: f"{s['__module__']}.{s['__class__']}"
)
def test_types_that_are_not_on_the_list_are_refused_before_anything_is_built(
    payload, state, monkeypatch
):
    schema = payload.schema
    schema["content"]["content"]["votes_"] = state | {"content": None, "__id__": 1}
    payload.write(schema)
    monkeypatch.setattr(skops.io, "loads", pytest.fail)
    with pytest.raises(ModelFileError, match=r"list of types|without a type"):
        load(payload.path)


def test_nothing_of_a_hostile_file_is_run(payload, tmp_path):
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')\nclass Model: pass\n")
    schema = payload.schema
    schema["__module__"], schema["__class__"] = "evil", "Model"
    payload.write(schema)
    code = f"from prefero import load; load({str(payload.path)!r})"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "ModelFileError" in run.stderr
    assert not (tmp_path / "was_run").exists()


def test_a_zip_bomb_is_refused(payload):
    payload.write(compression=zipfile.ZIP_DEFLATED, **{payload.array_name(): bytes(10**7)})
    assert payload.path.stat().st_size < 10**5
    with pytest.raises(ModelFileError, match="packed in a way"):
        load(payload.path)


def test_an_array_that_claims_to_be_huge_is_refused(payload):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    payload.write(**{payload.array_name(): header.getvalue() + bytes(64)})
    with pytest.raises(ModelFileError, match="not as long as it claims"):
        load(payload.path)


def test_an_array_of_objects_is_refused(payload):
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    payload.write(**{payload.array_name(): pickled.getvalue()})
    with pytest.raises(ModelFileError):
        load(payload.path)


def test_one_array_cannot_be_read_again_and_again(payload):
    schema = payload.schema
    attributes = schema["content"]["content"]
    name = next(n for n, state in attributes.items() if "file" in state)
    attributes["votes_"] = attributes[name] | {"__id__": 17}
    payload.write(schema)
    with pytest.raises(ModelFileError, match="does not belong"):
        load(payload.path)


@pytest.mark.parametrize("schema", [[], {}, 3, {"__loader__": "DictNode"}])
def test_a_senseless_schema_is_refused(payload, schema):
    payload.write(schema)
    with pytest.raises(ModelFileError):
        load(payload.path)


def test_a_schema_changed_anywhere_is_refused_or_harmless(payload):
    rng = random.Random(0)
    values = [None, 0, -1, 1e308, "", [], {}, "x", True, "[1,", 10**30, {"__loader__": "DictNode"}]
    whole = json.dumps(payload.schema)
    for _ in range(200):
        schema = json.loads(whole)
        holder, key = rng.choice(list(places(schema)))
        holder[key] = rng.choice(values)
        payload.write(schema)
        with contextlib.suppress(ModelFileError):
            load(payload.path).predict(np.zeros((2, 3)))


def places(value):
    """Every (container, key) in nested dicts and lists."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def test_a_deeply_nested_schema_is_refused(payload):
    payload.write(**{"schema.json": b"[" * 10**5 + b"]" * 10**5})
    with pytest.raises(ModelFileError):
        load(payload.path)


@pytest.mark.parametrize("ranker", estimators_of("label_ranking"), ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore")  # numbers that make no sense overflow
def test_arrays_with_hostile_values_do_no_harm(ranker, path):
    X, Y = problem()
    inside = Payload(clone(ranker).fit(X, Y), path)
    arrays = [name for name in inside.members if name.endswith(".npy")]
    rng = np.random.default_rng(0)
    for _ in range(100):
        name = str(rng.choice(arrays))
        values = np.load(io.BytesIO(inside.members[name]))
        if values.ndim and rng.random() < 0.3:
            values = values[: len(values) // 2]
        else:
            chosen = rng.random(values.shape) < 0.2
            values = np.where(chosen, hostile_value(values.dtype, rng), values)
        buffer = io.BytesIO()
        np.save(buffer, values)
        inside.write(**{name: buffer.getvalue()})
        # Refused or not: an answer or an exception, but never a read outside the arrays,
        # which would end the process.
        with contextlib.suppress(ModelFileError, ValueError, IndexError, FloatingPointError):
            load(path).predict(X)


def hostile_value(dtype, rng):
    if dtype.kind in "iu":
        return rng.choice([np.iinfo(dtype).max, np.iinfo(dtype).min, dtype.type(77)])
    if dtype.kind == "f":
        return rng.choice([np.inf, np.nan, 1e300, -1.0])
    return dtype.type()


def test_a_header_that_lies_is_refused(payload):
    payload.header["labels"] = ["other", "names", "than", "inside"]
    payload.write()
    with pytest.raises(ModelFileError, match="header describes another"):
        load(payload.path)


@pytest.mark.parametrize("bomb", [False, True])
def test_sparse_matrices_are_checked_inside(path, bomb):
    X, Y = problem()
    model = ConsensusLabelRanker().fit(X, Y)
    model.votes_ = scipy.sparse.csr_matrix(np.eye(4))
    inside = Payload(model, path)
    name = next(name for name in inside.members if name.endswith(".npz"))
    matrix = model.votes_.copy()
    if bomb:
        matrix = scipy.sparse.csr_matrix(np.zeros((1, 10**7 + 1), dtype=np.int8))
        matrix.indptr = np.zeros(10**7, dtype=np.int64)
        matrix._shape = (10**7 - 1, 1)
    else:
        matrix.indices[0] = 10**6
    buffer = io.BytesIO()
    scipy.sparse.save_npz(buffer, matrix)
    inside.write(**{name: buffer.getvalue()})
    with pytest.raises(ModelFileError, match="inflates" if bomb else "malformed"):
        load(path)
