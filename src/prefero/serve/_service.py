"""The handlers, around the models and the settings."""

import asyncio
from collections.abc import MutableMapping
from typing import Annotated, Any

import orjson
from fastapi import HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from prefero._prediction import Form
from prefero.exceptions import DataError
from prefero.serve._answers import answers
from prefero.serve._bodies import RankRequest
from prefero.serve._measures import Measures
from prefero.serve._models import ModelStore, ServedModel, nearest
from prefero.serve._settings import Settings
from prefero.serve._tables import answer_table, pieces

Scope = MutableMapping[str, Any]
# A few instances are ranked at once; for more, or for an explanation, a thread is worth its while.
_FEW = 4


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
        self.store, self.settings, self.measures = store, settings, Measures()
        self._busy: set[object] = set()

    async def rank(self, request: Request) -> Response:
        """Return the order of the labels for each instance, and how sure it is."""
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
            body = await self._in_thread(_ranked, served, wanted)
        self._tell(request.scope, served, len(instances), instances)
        return Response(body, media_type="application/json")

    def rank_at_once(self, scope: Scope, body: bytes) -> bytes | None:
        """Return the answer to a small request in order; None if it must go through `rank`.

        To find the route and to bind its arguments takes as long as to rank the labels.
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
            return None  # there the client is told what is wrong
        self._tell(scope, served, len(wanted.instances), wanted.instances)
        return answer

    async def rank_table(
        self,
        request: Request,
        model: Annotated[str | None, Query(description="The name of the model.")] = None,
        output: Annotated[Form, Query(description="As prefero predict's.")] = Form.RANKS,
        top: Annotated[int | None, Query(ge=1, description="How many labels.")] = None,
        expected_tau: Annotated[bool, Query(description="Add the tau to expect.")] = False,
    ) -> StreamingResponse:
        """Return a table of predictions for a table of instances."""
        served = await self._served(model)
        body = await request.body()
        found, rows = await self._in_thread(answer_table, served, body, output, top, expected_tau)
        self._tell(request.scope, served, rows, None)
        return StreamingResponse(pieces(found), media_type="text/csv")

    async def models(self) -> list[dict[str, Any]]:
        """Return the models, their labels, and the features that a request must hold."""
        await self._look()
        return [self.store[name].describe() for name in self.store.names()]

    async def health(self) -> dict[str, Any]:
        """Return the models and what is wrong with their files."""
        await self._look()
        problems = dict(self.store.problems)
        status = "degraded" if problems else "ok"
        return {"status": status, "models": self.store.names(), "problems": problems}

    async def ready(self) -> dict[str, bool]:
        """Return that the models are loaded: before that nothing listens."""
        return {"ready": True}

    async def metrics(self) -> str:
        """Return what this worker has done, for Prometheus."""
        return self.measures.text({name: self.store[name].loaded for name in self.store.names()})

    async def _look(self) -> None:
        if self.store.due():
            await run_in_threadpool(self.store.refresh)

    async def _served(self, name: str | None) -> ServedModel:
        await self._look()
        return self._named(name)

    def _named(self, name: str | None) -> ServedModel:
        names = self.store.names()
        if name is None and len(names) == 1:
            return self.store[names[0]]
        if name is None:
            raise HTTPException(404, f"say which model: {', '.join(names)}.")
        if name not in self.store:
            raise HTTPException(404, f"there is no model {name[:80]!r}.{nearest(name, names)}")
        return self.store[name]

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        seconds = self.settings.limits.seconds
        # A thread goes on when nobody waits for it any more: those count, too.
        if len(self._busy) >= self.settings.limits.concurrent:
            raise HTTPException(
                429, "too much is being calculated: try again in a second.", {"retry-after": "1"}
            )

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

    def _tell(self, scope: Scope, served: ServedModel, n: int, instances: Any) -> None:
        """Note what the access log says beside path and status."""
        self.measures.count_instances(served.name, n)
        told = {"model": served.name, "instances": n}
        scope["prefero.told"] = {**told, "values": instances} if self.settings.log_values else told


def _refuse_other_than_json(content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "the body must be JSON: send 'Content-Type: application/json'.")


def _is_small(served: ServedModel, wanted: RankRequest) -> bool:
    return served.plain and len(wanted.instances) <= _FEW and not wanted.explain


def _ranked(served: ServedModel, wanted: RankRequest) -> bytes:
    results, notes = answers(served, wanted.instances, wanted.wish())
    return orjson.dumps(
        {"model": served.name, "labels": served.labels, "results": results, "notes": notes}
    )
