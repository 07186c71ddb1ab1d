"""Tables are answered by processes of their own, which can be stopped and have little memory."""

import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from prefero._model_inputs import new_features
from prefero._pipelines import at_final_step
from prefero._prediction import (
    RELEVANCE_FORMATS,
    OutputFormat,
    UncertaintyOptions,
    prediction_table,
    rows_per_chunk,
)
from prefero.exceptions import DataError
from prefero.serve._models import ServedModel
from prefero.tables import read_parts

_COMMAND = (sys.executable, "-c", "from prefero.serve._tables import main; main()")


class TableRequest(NamedTuple):
    """What is asked of a table."""

    body: bytes
    output: OutputFormat
    top: int | None
    expected_tau: bool


class TableTooLargeError(MemoryError):
    """A table that needs more memory than one may take."""


class TableProcess:
    """A process that answers one table after another, with little memory and low priority."""

    def __init__(self, memory: int) -> None:
        path = os.pathsep.join(part for part in sys.path if part)
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [*_COMMAND, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, **threads},
        )
        self._served: ServedModel | None = None
        self._ready = self._busy = self._killed = False

    @property
    def is_idle(self) -> bool:
        """Whether it can take another table."""
        return not (self._busy or self._killed)

    def wait_until_ready(self) -> None:
        """Wait for its imports: a request that ends meanwhile does not end it."""
        assert self._process.stdout is not None
        if not self._ready:
            self._process.stdout.readline()
            self._ready = True

    def ask(self, served: ServedModel, wanted: TableRequest) -> tuple[IO[bytes], int]:
        """Return a file of predictions, and how many rows it has."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._busy = True
        number, name = tempfile.mkstemp()
        os.close(number)
        try:
            new = None if served is self._served else served
            pickle.dump((new, wanted, name), self._process.stdin)
            self._process.stdin.flush()
            self._served = served
            # What reads hostile tables is told by plain words only.
            kind, value = json.loads(self._process.stdout.readline())
            if kind == "too large":
                raise TableTooLargeError
            if kind == "failed":
                raise RuntimeError(value)
            self._busy = False
            if kind == "refused":
                raise DataError(value)
            return open(name, "rb"), value
        finally:
            with suppress(PermissionError):  # Windows keeps what is open
                os.unlink(name)

    def kill(self) -> None:
        """End it, whatever it does; where others have the processor, that takes a while."""
        self._killed = True
        self._process.kill()

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


class TableProcesses:
    """So many processes that answer tables.

    Each is made when it is first needed. One that had to be ended is replaced at once, so that the
    next request does not wait, and perhaps end, while another imports.
    """

    def __init__(self, count: int, memory: int) -> None:
        self._memory, self._lock = memory, threading.Lock()
        self._slots = threading.Semaphore(count)
        self._idle: list[TableProcess] = []

    def answer(self, served: ServedModel, wanted: TableRequest, job: "TableJob") -> Any:
        """Wait for a process, and return what it answers; a job that is stopped ends it."""
        while not self._slots.acquire(timeout=0.1):
            if job.stopped:
                raise TimeoutError
        process = None
        try:
            with self._lock:
                process = self._idle.pop(0) if self._idle else None  # the oldest is ready
            process = process or TableProcess(self._memory)
            process.wait_until_ready()
            if not job.work_in(process):
                raise TimeoutError
            return process.ask(served, wanted)
        finally:
            job.done()
            if process is not None:
                if not process.is_idle:
                    process.stop()
                    process = TableProcess(self._memory)
                with self._lock:
                    self._idle.append(process)
            self._slots.release()

    def __del__(self) -> None:
        for process in self._idle:
            process.stop()


class TableJob:
    """The work for one request, which ends with it."""

    def __init__(self) -> None:
        self.stopped, self._lock = False, threading.Lock()
        self._process: TableProcess | None = None

    def work_in(self, process: TableProcess) -> bool:
        """Take over a process; False if the request has ended."""
        with self._lock:
            self._process = None if self.stopped else process
            return not self.stopped

    def done(self) -> None:
        """Give the process back."""
        with self._lock:
            self._process = None

    def stop(self) -> None:
        """End the work."""
        with self._lock:
            self.stopped = True
            if self._process is not None:
                self._process.kill()


def answer_table(served: ServedModel, wanted: TableRequest, file: IO[bytes]) -> int:
    """Write predictions for a table into a file; return how many rows it had.

    A bad line is found before anything is sent.
    """
    name, output = type(served.ranker).__name__, wanted.output
    if output in RELEVANCE_FORMATS and not served.is_multilabel:
        raise DataError(f"output: {output} is for models that predict relevant labels, not {name}.")
    if wanted.expected_tau and not hasattr(served.ranker, "predict_expected_tau"):
        raise DataError(f"expected_tau: {name} cannot predict it.")
    if output is OutputFormat.EXPECTED and not hasattr(served.ranker, "predict_scores"):
        raise DataError(f"output: {name} was not trained with scores, and knows none to expect.")
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    uncertainty, rows = UncertaintyOptions(wanted.expected_tau), 0
    size = rows_per_chunk(served.ranker, output, uncertainty)
    for number, table in enumerate(read_parts(io.BytesIO(wanted.body), size, name="table")):
        ranker, X = at_final_step(served.model, new_features(served.model, table))
        frame = prediction_table(ranker, X, table, output, wanted.top, uncertainty=uncertainty)
        rows += len(table.frame)
        frame.to_csv(text, index=False, header=number == 0)
    text.detach()
    return rows


def main() -> None:
    """Answer tables from stdin until it ends."""
    _bound_memory(int(sys.argv[1]))
    questions, told = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints does not answer
    told.write(b"ready\n")
    told.flush()
    served: Any = None
    while True:
        try:
            new, wanted, name = pickle.load(questions)
        except EOFError:
            return
        served = served if new is None else new
        answer: tuple[str, str | int]
        try:
            with Path(name).open("wb") as file:
                answer = "rows", answer_table(served, wanted, file)
        except DataError as error:
            answer = "refused", str(error)
        except MemoryError:
            answer = "too large", ""
        except Exception as error:
            answer = "failed", f"{type(error).__name__}: {error}"
        del new, wanted
        told.write(json.dumps(answer).encode() + b"\n")
        told.flush()


def _bound_memory(most: int) -> None:
    """Let the process take so many bytes more, and less of the processor than others."""
    try:
        import resource
    except ImportError:  # Windows
        return
    os.nice(10)
    with suppress(OSError):
        about = Path("/proc/self/status").read_text()
        held = int(about.partition("VmData:")[2].split()[0]) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (held + most, held + most))
