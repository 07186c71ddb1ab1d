"""Files of the first format that are made to do harm."""

import io
import zipfile

import numpy as np
import pytest

from model_files import OLD_FILES, FirstFormat, refused
from prefero import ConsensusLabelRanker, load
from prefero.persistence import ModelFileError


@pytest.fixture
def old():
    return FirstFormat(OLD_FILES / "consensus.prefero")


def array_of(old):
    return next(name for name in old.members if name.endswith(".npy"))


def test_an_unchanged_file_is_accepted(old, path):
    old.write(path)
    assert isinstance(load(path), ConsensusLabelRanker)


def test_a_zip_bomb_is_refused(old, path):
    old.write(path, zipfile.ZIP_DEFLATED, **{array_of(old): bytes(10**7)})
    assert path.stat().st_size < 10**5
    with pytest.raises(ModelFileError, match="packed in a way"):
        load(path)


def test_a_sparse_bomb_is_refused(old, path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(10**8))
    node = {"__loader__": "SparseMatrixNode", "__class__": "csr_matrix", "file": "7.npz"}
    old.schema["content"]["content"]["votes_"] = node | {"__module__": "scipy.sparse"}
    refused(old, path, "inflates", **{"7.npz": buffer.getvalue()})


def test_an_array_that_claims_to_be_huge_is_refused(old, path):
    header = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(header, about)
    refused(old, path, "as it claims", **{array_of(old): header.getvalue() + bytes(64)})


def test_an_array_of_objects_is_refused(old, path):
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    refused(old, path, **{array_of(old): pickled.getvalue()})


@pytest.mark.parametrize("schema", [[], {}, 3, {"__loader__": "DictNode"}, None])
def test_a_senseless_schema_is_refused(old, path, schema):
    old.schema = schema
    refused(old, path)


@pytest.mark.parametrize(
    "loader", ["FunctionNode", "PartialNode", "OperatorFuncNode", "MethodNode", "CachedNode"]
)
def test_loaders_that_call_something_are_unknown(old, path, loader):
    state = {"__class__": "system", "__module__": "os", "__loader__": loader, "content": {}}
    old.schema["content"]["content"]["votes_"] = state
    refused(old, path, "part of kind")


def test_a_deeply_nested_schema_is_refused(old, path):
    refused(old, path, **{"schema.json": b"[" * 10**5 + b"]" * 10**5})
