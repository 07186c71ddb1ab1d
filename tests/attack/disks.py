"""A full disk and a folder that may not be written: the old file stays, and a sentence says why."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from attack.killing import _model, _parts

_NOBODY = 65534
_SAVE = f"""
import os, resource, signal, sys
import prefero
from prefero import load, save
model = load(sys.argv[1])
if sys.argv[3] == "nobody":
    os.setgroups([])
    os.setgid({_NOBODY})
    prefero.__version__  # looked up by modules that nobody may not read
    os.setuid({_NOBODY})
elif sys.argv[3] != "anything":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    save(model, sys.argv[2])
except OSError as error:
    sys.exit(f"refused: {{error}}")
"""


def _save(honest, target, allowed="anything"):
    """Save in a child that may write anything, files up to a size, or as nobody."""
    paths = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", _SAVE, str(honest), str(target), str(allowed)]
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def fill_a_disk(folder):
    """Save where there is no room left: a small file system if one can be mounted."""
    honest = _model(folder)
    small = Path(folder) / "small"
    small.mkdir()
    size = honest.stat().st_size
    mount = ["mount", "-t", "tmpfs", "-o", f"size={int(size * 1.5)}", "tmpfs", str(small)]
    mounted = shutil.which("mount") and not subprocess.run(mount, capture_output=True).returncode
    try:
        target = small / "model.prefero"
        shutil.copy(honest, target)
        done = _save(honest, target, "anything" if mounted else size // 2)
        kind = "a mounted file system" if mounted else "a limit on the size of files"
        wrong = _judge(done, target, honest, small)
    finally:
        if mounted:
            subprocess.run(["umount", str(small)], check=True)
    return kind, wrong


def save_into_a_closed_folder():
    """Save as a user who may not write there."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        honest = _model(folder)
        closed = Path(folder) / "closed"
        closed.mkdir()
        target = closed / "model.prefero"
        shutil.copy(honest, target)
        closed.chmod(0o555)
        try:
            done = _save(honest, target, "nobody" if os.geteuid() == 0 else "anything")
            return _judge(done, target, honest, closed)
        finally:
            closed.chmod(0o755)


def _judge(done, target, honest, folder):
    wrong = []
    if not done.stderr.startswith("refused:"):
        wrong.append(f"not refused: {done.stderr[-300:]!r}")
    if target.read_bytes() != honest.read_bytes():
        wrong.append("the old file has changed")
    if _parts(folder):
        wrong.append(f"{_parts(folder)} is left")
    return wrong
