"""Model files: what is saved comes back, and nothing else gets in."""

import contextlib
import io
import json
import os
import pickle
import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import skops.io
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import prefero
from prefero import ConsensusLabelRanker, PairwiseLabelRanker, load, save
from prefero.persistence import ModelFileError, read_header
from prefero.persistence._container import FORMAT, MAGIC, read_container, write_container
from prefero.persistence._header import describe
from prefero.rankings import drop_labels, strict_ranks


def estimators_of(room):
    """The public estimators that live in a room, whether or not all of them exist yet."""
    names = sorted(name for name, place in prefero._PUBLIC.items() if place == room)
    found = []
    for name in names:
        try:
            found.append(getattr(prefero, name)())
        except (AttributeError, ModuleNotFoundError):
            continue
    return found


def problem(n=40, c=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, strict_ranks(X @ rng.normal(size=(3, c)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.prefero"


def answers(model, X):
    methods = ("predict", "decision_function", "predict_pairwise", "predict_reliability")
    return {name: getattr(model, name)(X) for name in methods if hasattr(model, name)}


def assert_same_answers(one, other, X):
    first, second = answers(one, X), answers(other, X)
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.parametrize("ranker", estimators_of("label_ranking"), ids=lambda e: type(e).__name__)
def test_every_label_ranker_comes_back_with_identical_predictions(ranker, path):
    X, Y = problem()
    model = clone(ranker).fit(X, drop_labels(Y, 0.2, random_state=0))
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert_same_answers(model, again, problem(seed=1)[0])


@pytest.mark.parametrize("ranker", estimators_of("multilabel"), ids=lambda e: type(e).__name__)
def test_every_multilabel_ranker_comes_back(ranker, path):
    X, Y = problem()
    model = clone(ranker).fit(X, (Y < 3).astype(int))
    save(model, path)
    assert_same_answers(model, load(path), problem(seed=1)[0])


@pytest.mark.parametrize("orderer", estimators_of("ordering"), ids=lambda e: type(e).__name__)
def test_every_orderer_comes_back(orderer, path):
    X, _ = problem()
    ranks, groups = np.tile([1, 2, 3, 4], 10), np.repeat(np.arange(10), 4)
    model = clone(orderer).fit(X, ranks, groups=groups)
    save(model, path)
    again = load(path)
    method = "transform" if hasattr(model, "transform") else "predict"
    np.testing.assert_array_equal(getattr(model, method)(X), getattr(again, method)(X))


def test_pipelines_with_names_and_mixed_columns_come_back(path):
    X, Y = problem()
    X = pd.DataFrame(X, columns=["a", "b", "c"]).assign(soil=["clay", "sand"] * 20)
    Y = pd.DataFrame(Y, columns=["p", "q", "r", "s"])
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b", "c"]),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["soil"]),
    )
    model = make_pipeline(columns, PairwiseLabelRanker()).fit(X, Y)
    save(model, path)
    again = load(path)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    np.testing.assert_array_equal(model[-1].labels_, again[-1].labels_)
    assert read_header(path)["features"] == ["a", "b", "c", "soil"]


def test_rankers_that_hold_other_models_come_back(path):
    X, Y = problem()
    model = PairwiseLabelRanker(GaussianNB()).fit(X, Y)
    save(model, path)
    assert_same_answers(model, load(path), X)


def test_the_header_tells_what_is_inside_without_building_it(path, monkeypatch):
    X, Y = problem()
    names = ["α", "with space", "NA", "<script>"]
    save(ConsensusLabelRanker().fit(X, pd.DataFrame(Y, columns=names)), path)
    monkeypatch.setattr(skops.io, "loads", None)
    header = read_header(path)
    assert header["labels"] == names
    assert header["model"] == "ConsensusLabelRanker"
    assert header["prefero"] == prefero.__version__
    assert header["n_features"] == 3
    assert header["features"] is None
    assert header["format"] == FORMAT
    assert len(header["sha256"]) == 64


def test_reading_a_header_does_not_import_skops(path):
    X, Y = problem()
    save(ConsensusLabelRanker().fit(X, Y), path)
    code = (
        "import sys; from prefero.persistence import read_header; "
        f"read_header({str(path)!r}); sys.exit('skops' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("ranker", estimators_of("label_ranking"), ids=lambda e: type(e).__name__)
def test_five_hundred_corruptions_are_all_refused(ranker, path):
    X, Y = problem()
    save(clone(ranker).fit(X, Y), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(500):
        path.write_bytes(corrupt(whole, rng))
        with pytest.raises(ModelFileError):
            load(path)
        with pytest.raises(ModelFileError):
            read_header(path)


def corrupt(content, rng):
    """Flip a bit, cut the end, insert, remove or repeat a stretch of bytes."""
    at = int(rng.integers(len(content)))
    kind = rng.integers(5)
    if kind == 0:
        flipped = bytes([content[at] ^ (1 << int(rng.integers(8)))])
        return content[:at] + flipped + content[at + 1 :]
    if kind == 1:
        return content[:at]
    if kind == 2:
        return content[:at] + rng.bytes(int(rng.integers(1, 20))) + content[at:]
    if kind == 3:
        return content[:at] + content[at + int(rng.integers(1, 20)) :]
    return content + content[at:]


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93", MAGIC, b"a,b,c\n1,2,3\n", b"PK\x03\x04", pickle.dumps({"a": 1}), bytes(100)],
)
def test_other_files_are_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.prefero"):
        load(path)


def test_a_missing_file_is_reported_as_such(path):
    with pytest.raises(FileNotFoundError):
        load(path)


def test_a_file_of_the_first_format_can_still_be_read():
    old = Path(__file__).parent / "data" / "format-1.prefero"
    assert read_header(old)["labels"] == ["oats", "rye", "wheat"]
    model = load(old)
    np.testing.assert_array_equal(model.predict(pd.DataFrame({"rain": [1.0]})), [[1, 2, 3]])


def test_a_newer_format_is_named(path):
    X, Y = problem()
    save(ConsensusLabelRanker().fit(X, Y), path)
    content = bytearray(path.read_bytes())
    content[8:10] = struct.pack("<H", FORMAT + 1)
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=f"format {FORMAT + 1}.*upgrade"):
        load(path)


# Hostile files have a right checksum: whoever writes them can compute it.


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


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(FunctionTransformer(np.abs), ConsensusLabelRanker()),
        PairwiseLabelRanker(RandomForestClassifier(n_estimators=2)),
    ],
    ids=["function", "trees"],
)
def test_what_could_not_be_loaded_safely_is_not_saved(model, path):
    X, Y = problem()
    model.fit(X, Y)
    with pytest.raises(TypeError, match="cannot be saved safely"):
        save(model, path)
    assert not path.exists()


def test_an_unfitted_model_is_not_saved(path):
    with pytest.raises(NotFittedError):
        save(ConsensusLabelRanker(), path)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    X, Y = problem()
    model = ConsensusLabelRanker().fit(X, Y)
    save(model, path)
    old = path.read_bytes()

    def disk_full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space left"):
        save(model, path)
    assert path.read_bytes() == old
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_saving_over_a_link_keeps_the_link(path, tmp_path):
    X, Y = problem()
    link = tmp_path / "link.prefero"
    link.symlink_to(path)
    save(ConsensusLabelRanker().fit(X, Y), link)
    assert link.is_symlink()
    assert path.exists()


def test_random_states_and_numpy_scalars_are_described(path):
    X, Y = problem()
    model = ConsensusLabelRanker().fit(X, Y)
    model.note_ = {"scalar": np.float64(1.5), "state": np.random.RandomState(0), 3: slice(1, 2)}
    save(model, path)
    note = load(path).note_
    assert note["scalar"] == 1.5
    assert note["state"].random_sample() == np.random.RandomState(0).random_sample()
    assert note[3] == slice(1, 2)
    assert describe(model)["labels"] == [0, 1, 2, 3]
