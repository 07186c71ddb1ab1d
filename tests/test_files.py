"""Files: decoding, and replacement that never leaves half a file."""

import io
import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from prefero import _files
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


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "f"
    for content in ("one", "two"):
        write_beside(path, content.encode())
        assert read_text(path) == content
    assert names(tmp_path) == ["f"]


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
    assert names(tmp_path) == ["f"]


def test_threads_that_write_one_file_do_not_meet(tmp_path):
    path = tmp_path / "f"
    contents = [bytes([65 + k]) * 10_000 for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: write_beside(path, contents[k % 8]), range(160)))
    assert path.read_bytes() in contents
    assert names(tmp_path) == ["f"]


def test_only_what_was_made_here_is_removed(tmp_path, monkeypatch):
    foreign = [f".f.{os.getpid()}.part", ".f.part", "f.0123456789abcdef.part"]
    for name in foreign:
        (tmp_path / name).write_text("foreign")
    monkeypatch.setattr(os, "fsync", lambda descriptor: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_beside(tmp_path / "f", b"new")
    assert names(tmp_path) == sorted(foreign)


def test_parts_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path):
    code = (
        "import sys, time; from prefero._files import replacing\n"
        f"with replacing({str(tmp_path / 'f')!r}) as file:\n"
        "    file.write(b'half'); file.flush(); print('in', flush=True); time.sleep(60)"
    )
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    writer.stdout.readline()
    [living] = names(tmp_path)
    write_beside(tmp_path / "f", b"one")
    assert names(tmp_path) == [living, "f"]
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    write_beside(tmp_path / "f", b"two")
    assert names(tmp_path) == ["f"]


def test_the_rights_of_a_file_are_kept(tmp_path):
    path = tmp_path / "f"
    write_beside(path, b"one")
    usual = os.open(tmp_path / "usual", os.O_CREAT | os.O_WRONLY, 0o666)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(os.fstat(usual).st_mode)
    os.close(usual)
    path.chmod(0o640)
    write_beside(path, b"two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("n" * 255)
    write_beside(path, b"one")
    assert names(tmp_path) == [path.name]


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write_beside(path, b"through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_file_takes_its_name_when_it_is_closed_where_open_files_have_none(tmp_path, monkeypatch):
    """Windows, which has no locks of this kind, refuses to rename a file that is open."""
    made, rename = [], os.replace

    def opened(target):
        made.append(new_part(target))
        return made[-1]

    def refusing(source, target):
        if not made[-1][0].closed:
            raise PermissionError(13, "The process cannot access the file")
        rename(source, target)

    new_part = _files._new_part
    monkeypatch.setattr(_files, "fcntl", None)
    monkeypatch.setattr(_files, "_new_part", opened)
    monkeypatch.setattr(os, "replace", refusing)
    for content in (b"one", b"two"):
        write_beside(tmp_path / "f", content)
        assert (tmp_path / "f").read_bytes() == content
    assert names(tmp_path) == ["f"]
