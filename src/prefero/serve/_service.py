"""The handlers of the routes, and the store of models behind them."""

import asyncio
import math
import os
import threading
import time
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import IO, Annotated, Any

import orjson
from fastapi import HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from prefero._names import did_you_mean
from prefero._prediction import OutputFormat, load_ranker
from prefero.exceptions import DataError
from prefero.serve._answers import ResponseFields, answers
from prefero.serve._guard import RequestCounters
from prefero.serve._models import ServedModel
from prefero.serve._schemas import RankRequest
from prefero.serve._settings import Settings
from prefero.serve._tables import TableJob, TableProcesses, TableRequest, TableTooLargeError

Scope = MutableMapping[str, Any]
# The size, modification time and inode of a file.
Stamp = tuple[int, int, int]
# So few instances are ranked at once; for more, or for an explanation, a thread is worth its cost.
_FEW = 4
_PIECE = 64 * 1024
# So many tables may wait or be answered for each process.
_WAITING = 8
_RETRY = {"retry-after": "1"}


class ModelStore:
    """Models by name.

    A file that changes on disk is loaded beside the old model, checked, and swapped in; a bad one
    leaves the old model in place and is listed in ``problems``.
    """

    def __init__(
        self, paths: Mapping[str, Path], *, key: bytes | None = None, seconds: float = 1.0
    ) -> None:
        self._paths = dict(paths)
        self._key = key
        self._seconds = seconds
        self._lock = threading.Lock()
        self._stamps = {name: _stamp(path) for name, path in self._paths.items()}
        self._models = {name: self._load(name) for name in self._paths}
        self._next_check = time.monotonic() + seconds
        self.problems: dict[str, str] = {}

    @classmethod
    def of_models(cls, models: Mapping[str, Any]) -> "ModelStore":
        """A store of models that are in memory, which never change."""
        store = cls({})
        store._models = {name: _checked(name, model) for name, model in models.items()}
        return store

    def __getitem__(self, name: str) -> ServedModel:
        return self._models[name]

    def __contains__(self, name: str) -> bool:
        return name in self._models

    def __len__(self) -> int:
        return len(self._models)

    def names(self) -> list[str]:
        """The names of the models, as they were given."""
        return list(self._models)

    def due(self) -> bool:
        """Tell whether it is time to check the files again."""
        return bool(self._paths) and time.monotonic() >= self._next_check

    def refresh(self) -> None:
        """Load the files that have changed since the last check."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            for name, path in self._paths.items():
                stamp = _stamp(path)
                if stamp != self._stamps[name]:
                    self._swap(name)
                    self._stamps[name] = stamp
            self._next_check = time.monotonic() + self._seconds
        finally:
            self._lock.release()

    def _swap(self, name: str) -> None:
        try:
            self._models[name] = self._load(name)
        except Exception as error:  # whatever is wrong with the file, the old model works
            problem = str(error).replace(str(self._paths[name]), name)
            self.problems[name] = f"the file has changed, and the old model stays: {problem}"
        else:
            self.problems.pop(name, None)

    def _load(self, name: str) -> ServedModel:
        return _checked(name, load_ranker(self._paths[name], self._key))


def _stamp(path: Path) -> Stamp | None:
    """What changes when a file does; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _checked(name: str, model: Any) -> ServedModel:
    """Describe a model, and make sure that it answers."""
    served = ServedModel.of(name, model)
    answers(served, [served.example()], ResponseFields())
    return served


class Service:
    """What the routes of an application do.

    Parameters
    ----------
    store : ModelStore
        The models.
    settings : Settings
        Bounds and the like.
    """

    def __init__(self, store: ModelStore, settings: Settings) -> None:
        self.store, self.settings, self.counters = store, settings, RequestCounters()
        self._busy: set[object] = set()
        limits = settings.limits
        self._tables = TableProcesses(limits.tables, limits.table_memory)
        self._n_tables = 0

    async def rank(self, request: Request) -> Response:
        """Return the order of the labels for each instance, with its uncertainty."""
        _refuse_other_than_json(request.headers.get("content-type", ""))
        try:
            wanted = RankRequest.model_validate_json(await request.body())
        except ValidationError as error:
            raise RequestValidationError(
                [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
            ) from None
        served = await self._served(wanted.model)
        instances, most = wanted.instances, self.settings.limits.rows
        if len(instances) > most:
            raise HTTPException(
                413,
                f"{len(instances)} instances are more than the {most} that one request may hold: "
                "ask in parts.",
            )
        if _is_small(served, wanted):
            body = _ranked(served, wanted)
        else:
            until = time.monotonic() + self.settings.limits.seconds
            body = await self._in_thread(_ranked, served, wanted, until)
        self._record(request.scope, served, len(instances), instances)
        return Response(body, media_type="application/json")

    def rank_at_once(self, scope: Scope, body: bytes) -> bytes | None:
        """Return the answer to a small valid request; None if it must go through `rank`.

        Finding the route and binding its arguments takes as long as ranking the labels.
        """
        if self.store.due():
            return None
        try:
            wanted = RankRequest.model_validate_json(body)
            served = self._named(wanted.model)
            if not _is_small(served, wanted):
                return None
            answer = _ranked(served, wanted)
        except (ValidationError, HTTPException, DataError):
            return None  # `rank` answers what is wrong
        self._record(scope, served, len(wanted.instances), wanted.instances)
        return answer

    async def rank_table(
        self,
        request: Request,
        model: Annotated[str | None, Query(description="The name of the model.")] = None,
        output: Annotated[
            OutputFormat, Query(description="As for prefero predict.")
        ] = OutputFormat.RANKS,
        top: Annotated[int | None, Query(ge=1, description="How many labels.")] = None,
        expected_tau: Annotated[bool, Query(description="Add the expected Kendall tau.")] = False,
    ) -> StreamingResponse:
        """Return a table of predictions for a table of instances."""
        served = await self._served(model)
        wanted = TableRequest(await request.body(), output, top, expected_tau)
        found, rows = await self._of_table(request, served, wanted)
        self._record(request.scope, served, rows, None)
        return StreamingResponse(pieces(found), media_type="text/csv")

    async def _of_table(
        self, request: Request, served: ServedModel, wanted: TableRequest
    ) -> tuple[IO[bytes], int]:
        """What a process answers; it is stopped when the request ends, whyever."""
        if self._n_tables >= _WAITING * self.settings.limits.tables:
            raise HTTPException(429, "too many tables: try again in a second.", _RETRY)
        self._n_tables += 1
        job = TableJob()
        work = asyncio.ensure_future(self._in_thread(self._tables.answer, served, wanted, job))
        gone = asyncio.ensure_future(_until_disconnected(request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise HTTPException(400, "the request ended before its answer.")
            return await work
        except TableTooLargeError:
            most = self.settings.limits.table_memory
            raise HTTPException(413, f"the table needs more than {most} bytes of memory.") from None
        finally:
            self._n_tables -= 1
            job.stop()
            work.cancel()
            gone.cancel()

    async def models(self) -> list[dict[str, Any]]:
        """Return the models, their labels, and the features that a request must hold."""
        await self._refresh()
        return [self.store[name].describe() for name in self.store.names()]

    async def health(self) -> dict[str, Any]:
        """Return the models and what is wrong with their files."""
        await self._refresh()
        problems = dict(self.store.problems)
        status = "degraded" if problems else "ok"
        return {"status": status, "models": self.store.names(), "problems": problems}

    async def ready(self) -> dict[str, bool]:
        """Return that the models are loaded: before that nothing listens."""
        return {"ready": True}

    async def metrics(self) -> str:
        """Return the counters of this worker, for Prometheus."""
        return self.counters.text({name: self.store[name].loaded for name in self.store.names()})

    async def _refresh(self) -> None:
        if self.store.due():
            await run_in_threadpool(self.store.refresh)

    async def _served(self, name: str | None) -> ServedModel:
        await self._refresh()
        return self._named(name)

    def _named(self, name: str | None) -> ServedModel:
        names = self.store.names()
        if name is None and len(names) == 1:
            return self.store[names[0]]
        if name is None:
            raise HTTPException(404, f"say which model: {', '.join(names)}.")
        if name not in self.store:
            near = did_you_mean(name[:80], names)
            raise HTTPException(404, f"there is no model {name[:80]!r}{near}.")
        return self.store[name]

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        seconds = self.settings.limits.seconds
        # A thread keeps running after its request has timed out, so those count too.
        if len(self._busy) >= self.settings.limits.concurrent:
            raise HTTPException(429, "too many requests are running: try again soon.", _RETRY)

        own = object()

        def run() -> Any:
            self._busy.add(own)
            try:
                return function(*arguments)
            finally:
                self._busy.discard(own)

        try:
            async with asyncio.timeout(seconds):
                return await run_in_threadpool(run)
        except TimeoutError:
            raise HTTPException(503, f"the answer took more than {seconds:g} s.") from None

    def _record(self, scope: Scope, served: ServedModel, n: int, instances: Any) -> None:
        """Count the instances, and add them to the access log."""
        self.counters.count_instances(served.name, n)
        line = {"model": served.name, "instances": n}
        scope["prefero.log"] = {**line, "values": instances} if self.settings.log_values else line


async def _until_disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _refuse_other_than_json(content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "the body must be JSON: send 'Content-Type: application/json'.")


def _is_small(served: ServedModel, wanted: RankRequest) -> bool:
    return served.plain and len(wanted.instances) <= _FEW and not wanted.explain


def _ranked(served: ServedModel, wanted: RankRequest, until: float = math.inf) -> bytes:
    fields = wanted.fields()._replace(until=until)
    results, notes = answers(served, wanted.instances, fields)
    return orjson.dumps(
        {"model": served.name, "labels": served.labels, "results": results, "notes": notes}
    )


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file in pieces, and close it."""
    with file:
        while piece := file.read(_PIECE):
            yield piece
