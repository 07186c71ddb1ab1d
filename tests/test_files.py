"""Files: decoding, and replacement that never leaves half a file."""

import os

import pytest

from prefero._files import decode, read_text, write_beside


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_decoding(encoding):
    assert decode("Größe".encode(encoding)) == "Größe"


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "f"
    for content in ("one", "two"):
        write_beside(path, content.encode())
        assert read_text(path) == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error):
    def fail(descriptor):
        raise error

    path = tmp_path / "f"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(error)):
        write_beside(path, b"new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]
