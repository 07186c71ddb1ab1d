"""The application: routes, and what each answers."""

import asyncio
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

import prefero
from prefero.exceptions import DataError
from prefero.serve._answers import answers
from prefero.serve._bodies import (
    HealthAnswer,
    ModelAnswer,
    Problem,
    RankRequest,
    RankResponse,
)
from prefero.serve._guard import Guard
from prefero.serve._instances import InstanceError
from prefero.serve._measures import Measures
from prefero.serve._models import ModelStore, ServedModel, nearest
from prefero.serve._settings import Settings
from prefero.serve._tables import answer_table, pieces

# A few instances are ranked at once; for more, or for an explanation, a thread is worth its while.
_FEW = 4
_PAGE = {
    "index.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": why}
    for status, why in {
        400: "The body cannot be read.",
        401: "The token is missing or wrong.",
        404: "There is no such model.",
        408: "The request took too long to arrive.",
        413: "The request is too large, or holds too many instances.",
        422: "A feature, or something else in the request, is not as it must be.",
        429: "Too many requests at a time; Retry-After says when to come again.",
        503: "The answer took too long.",
    }.items()
}


def create_app(models: Mapping[str, Any] | ModelStore, settings: Settings | None = None) -> FastAPI:
    """Return an application that ranks by trained models.

    Parameters
    ----------
    models : mapping of str to estimator, or ModelStore
        Fitted label rankers, or pipelines that end in one, by the names that requests call them.
    settings : Settings, optional
        Bounds, token and the like.

    Returns
    -------
    FastAPI
        An ASGI application, to be run by any server or mounted in another application.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> app = create_app({"yields": ConsensusLabelRanker().fit([[0.0], [1.0]], [[1, 2], [1, 2]])})
    >>> sorted(route.path for route in app.routes if "rank" in route.path)
    ['/rank', '/rank.csv']
    """
    store = models if isinstance(models, ModelStore) else ModelStore.of_models(models)
    service = _Service(store, settings or Settings())
    app = FastAPI(
        title="Prefero",
        version=prefero.__version__,
        description="Trained label rankers: ask for the order of the labels for new instances.",
        docs_url=None,
        redoc_url=None,
    )
    refusals: dict[str, Any] = {"responses": _REFUSALS}
    app.post("/rank", response_model=None, summary="Rank the labels for instances", **_RANK)(
        service.rank
    )
    app.post("/rank.csv", summary="Rank the labels for a table", **refusals, **_CSV)(
        service.rank_table
    )
    app.get("/models", response_model=list[ModelAnswer], summary="What can be asked", **refusals)(
        service.models
    )
    app.get("/health", response_model=HealthAnswer, summary="How the service is")(service.health)
    app.get("/ready", summary="Whether the service answers")(service.ready)
    app.get("/metrics", response_class=PlainTextResponse, summary="Counts and times", **refusals)(
        service.metrics
    )
    app.get("/", include_in_schema=False)(_page("index.html"))
    for name in ("page.css", "page.js"):
        app.get(f"/page/{name}", include_in_schema=False)(_page(name))
    app.exception_handler(RequestValidationError)(_refuse_body)
    app.exception_handler(DataError)(_refuse_data)
    if service.settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(service.settings.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    app.add_middleware(Guard, settings=service.settings, measures=service.measures)
    return app


_CSV: dict[str, Any] = {
    "response_class": StreamingResponse,
    "openapi_extra": {
        "requestBody": {
            "required": True,
            "content": {"text/csv": {"schema": {"type": "string"}}},
        }
    },
}


# The answer is written without a second validation.
_RANK: dict[str, Any] = {
    "responses": {
        **_REFUSALS,
        200: {"model": RankResponse, "description": "The rankings, in the order of the instances."},
    }
}


class _Service:
    """The handlers, around the models and the settings."""

    def __init__(self, store: ModelStore, settings: Settings) -> None:
        self.store, self.settings, self.measures = store, settings, Measures()

    async def rank(self, wanted: RankRequest, request: Request) -> Response:
        """Return the order of the labels for each instance, and how sure it is."""
        served = await self._served(wanted.model)
        instances = wanted.instances
        if len(instances) > self.settings.limits.rows:
            raise HTTPException(
                413,
                f"{len(instances)} instances are more than the {self.settings.limits.rows} that "
                "one request may hold: ask in parts.",
            )
        wish = wanted.wish()
        if served.plain and len(instances) <= _FEW and not wish.explain:
            results, notes = answers(served, instances, wish)
        else:
            results, notes = await self._in_thread(answers, served, instances, wish)
        self._told(request, served, len(instances), instances)
        return JSONResponse(
            {"model": served.name, "labels": served.labels, "results": results, "notes": notes}
        )

    async def rank_table(
        self,
        request: Request,
        model: Annotated[str | None, Query(description="The name of the model.")] = None,
        output: Annotated[
            str, Query(pattern="^(ranks|order|scores|pairs)$", description="As prefero predict's.")
        ] = "ranks",
        top: Annotated[int | None, Query(ge=1, description="How many labels.")] = None,
        reliability: Annotated[bool, Query(description="Add the tau to expect.")] = False,
    ) -> StreamingResponse:
        """Return a table of predictions for a table of instances."""
        served = await self._served(model)
        body = await request.body()
        found = await self._in_thread(answer_table, served, body, output, top, reliability)
        self._told(request, served, 0, None)
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
        try:
            async with asyncio.timeout(seconds):
                return await run_in_threadpool(function, *arguments)
        except TimeoutError:
            raise HTTPException(503, f"the answer took more than {seconds:g} s.") from None

    def _told(self, request: Request, served: ServedModel, n: int, instances: Any) -> None:
        """Note what the access log says beside path and status."""
        self.measures.count_instances(served.name, n)
        told = {"model": served.name, "instances": n}
        request.state.told = {**told, "values": instances} if self.settings.log_values else told


def _page(name: str) -> Any:
    content = (files("prefero.serve") / "page" / name).read_bytes()

    async def page() -> Response:
        return Response(content, media_type=_PAGE[name])

    return page


async def _refuse_body(request: Request, error: Exception) -> JSONResponse:
    """Say where a body is wrong; what it held is not sent back."""
    assert isinstance(error, RequestValidationError)
    places = [{"loc": list(one["loc"]), "msg": one["msg"]} for one in error.errors()[:20]]
    return JSONResponse({"detail": places}, 422)


async def _refuse_data(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, InstanceError):
        place = {"loc": ["body", *error.where], "msg": str(error)}
        return JSONResponse({"detail": [place]}, 422)
    return JSONResponse({"detail": str(error)[:500]}, 422)
