"""Hostile model files opened in child processes that may not run, crash, hang or be surprised."""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

from attack.cost import Cost

LONGEST = 20  # seconds of work a file may take
# Seconds without a word, while models are trained and then from file to file, on a machine that
# has other work too.
_PREPARATION, _PATIENCE = 1800, 120
_MEMORY = 3 << 30
# What no model file has any business to cause, once everything is imported.
_ALARMING = (
    *("exec", "import", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.mkdir"),
    *("os.remove", "os.rename", "subprocess.Popen", "pickle.find_class", "marshal.loads"),
    *("socket.connect", "shutil.rmtree", "ctypes.dlopen", "code.__new__"),
)
# Each verdict; those of the second line must not happen.
GOOD = ("refused", "answered the same", "answered otherwise", "refused the data")
BAD = ("executed", "crashed", "hung", "unexpected error", "no sentence", "costly")


class Watch:
    """Notes what is done that a model must not do, while it is on."""

    def __init__(self, own):
        self.on, self.seen, self._own = False, [], str(own)
        sys.addaudithook(self._note)

    def _note(self, event, arguments):
        if not self.on:
            return
        mode = str(arguments[1]) if event == "open" else ""
        writes = set(mode) & set("wax+") and str(arguments[0]) != self._own
        if event in _ALARMING or writes:
            self.seen.append(f"{event} {arguments!r:.200}")


def ask(path, X, table):
    """Ask the model of a file everything that programs and commands ask."""
    from model_files import answers
    from prefero._model_inputs import new_features, unseen_categories
    from prefero._prediction import load_ranker
    from prefero.inspection import explain
    from prefero.persistence import load

    found = answers(load(path), X)
    if table is not None:
        ranker = load_ranker(path)
        features = new_features(ranker, table)
        unseen_categories(ranker, features)
        explain(ranker, features).to_text(10)
    return found


def table_of(model, X, path):
    """Write instances as commands read them; None if commands do not ask such a model."""
    import pandas as pd

    from prefero._model_inputs import categorical_features
    from prefero._prediction import kind_of
    from prefero.tables import read_table

    words = "soil" in getattr(X, "columns", ()) and not categorical_features(model)
    if words or kind_of(model) not in ("label_ranker", "multilabel_ranker"):
        return None
    pd.DataFrame(X, columns=getattr(X, "columns", list("uvw"))).to_csv(path, index=False)
    return read_table(path)


def judge(path, X, table, honest, watch):
    """Return the verdict on one file and what was said."""
    from prefero.cli.info import _lines
    from prefero.cli.main import BAD_DATA, BAD_MODEL_FILE, _exit_code
    from prefero.exceptions import ModelFileError
    from prefero.persistence import read_header

    watch.seen, watch.on = [], True
    try:
        try:
            _lines(read_header(path), 1)
        except ModelFileError:
            pass
        found = ask(path, X, table)
    except Exception as error:
        code, sentence = _exit_code(error)
        if watch.seen:
            return "executed", watch.seen[0]
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            return "costly", sentence
        if code not in (BAD_DATA, BAD_MODEL_FILE):
            return "unexpected error", f"{sentence} {traceback.format_exc()[-600:]}"
        if code == BAD_MODEL_FILE and (str(path) not in sentence or "\n" in sentence):
            return "no sentence", sentence
        return ("refused" if code == BAD_MODEL_FILE else "refused the data"), sentence
    finally:
        watch.on = False
    if watch.seen:
        return "executed", watch.seen[0]
    return ("answered the same" if same(found, honest) else "answered otherwise"), ""


def same(found, honest):
    import numpy as np

    return found.keys() == honest.keys() and all(
        np.array_equal(found[name], honest[name], equal_nan=found[name].dtype.kind == "f")
        for name in found
    )


def work(first, last, seed):
    """Open files from the first to the last, telling before and after each what is going on."""
    from attack.mutants import Mutants
    from prefero import load

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mutants = Mutants(folder, seed)
        # Opens everything once, so that nothing is imported later.
        sources = mutants.sources
        asked = {
            name: (mutants.new[name], table_of(load(path), mutants.new[name], f"{name}.csv"))
            for name, path in sources
        }
        honest = {name: ask(path, *asked[name]) for name, path in sources}
        path = Path(folder) / "hostile.prefero"
        watch = Watch(path)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        for number in range(first, last):
            print(json.dumps({"begins": number}), flush=True)
            name, kind = mutants(number, path)
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            with Cost() as cost:
                verdict, words = judge(path, *asked[name], honest[name], watch)
            if cost.too_much(path.stat().st_size):
                verdict = "costly"
            done = {"number": number, "of": name, "kind": kind, "verdict": verdict, "words": words}
            done |= {"MB": round(cost.megabytes), "seconds": round(cost.seconds, 2)}
            print(json.dumps(done), flush=True)


class Worker:
    """A child process that works through a stretch of numbers."""

    def __init__(self, first, last, seed):
        self.first, self.last, self.seed = first, last, seed
        self._start()

    def _start(self):
        code = f"from attack.models import work; work({self.first}, {self.last}, {self.seed})"
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            bufsize=0,
        )
        self.rest, self.open = b"", None

    def results(self):
        """Yield a result a file; a child that dies or hangs is replaced after that file."""
        while self.first < self.last:
            patience = _PREPARATION if self.open is None else _PATIENCE
            ready, _, _ = select.select([self.process.stdout], [], [], patience)
            chunk = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not chunk:
                yield from self._replace(silent=not ready)
                continue
            *lines, self.rest = (self.rest + chunk).split(b"\n")
            for line in map(json.loads, lines):
                self.open = line.get("begins")
                if "verdict" in line:
                    self.first = line["number"] + 1
                    yield line
        self.process.wait()
        self._close()

    def _replace(self, silent):
        self.process.kill()
        code = self.process.wait()
        self.errors.seek(0)
        words = self.errors.read().decode()
        if self.open is None or "Traceback" in words:
            raise RuntimeError(f"The attack itself failed at {self.open} ({code}): {words}")
        hung = silent or code == -signal.SIGPROF
        died = {"verdict": "hung" if hung else "crashed", "words": f"exit {code}"}
        yield {"number": self.open, "of": "", "kind": "", **died}
        self.first = self.open + 1
        self._close()
        if self.first < self.last:
            self._start()

    def _close(self):
        self.process.stdout.close()
        self.errors.close()


def attack(numbers, seed=0):
    """Yield the result of each hostile file of a range of numbers."""
    yield from Worker(numbers.start, numbers.stop, seed).results()


def tally(results):
    """Count the verdicts."""
    return Counter(result["verdict"] for result in results)
