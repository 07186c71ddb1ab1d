"""Files: decoding, and replacement that never leaves half a file."""

import io
import os

import pytest

from prefero._files import decode, encoding_of, read_text, replacing, write_beside


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_decoding(encoding):
    content = "Größe".encode(encoding)
    assert decode(content) == "Größe"
    assert content.decode(encoding_of(io.BytesIO(content))) == "Größe"
    # A character may lie across two of the pieces that are read, or be cut off at the end.
    across = b"x" * (2**20 - 1) + content[2:]
    assert across.decode(encoding_of(io.BytesIO(across))) == decode(across)
    assert encoding_of(io.BytesIO("ß".encode()[:1])) == "latin-1"


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
    with pytest.raises(type(error)), replacing(path) as file:
        file.write(b"new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]
