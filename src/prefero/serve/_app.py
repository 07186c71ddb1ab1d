"""The application and its routes."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.types import ASGIApp

import prefero
from prefero.exceptions import DataError
from prefero.serve._answers import InstanceError
from prefero.serve._guard import Guard
from prefero.serve._schemas import ErrorAnswer, HealthAnswer, ModelAnswer, RankRequest, RankResponse
from prefero.serve._service import ModelStore, Service
from prefero.serve._settings import Settings

_ELEMENTS = "elements.js"
_PAGE = {
    "index.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    _ELEMENTS: "text/javascript; charset=utf-8",
}
_TEXT = {"type": "string"}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": why}
    for status, why in {
        400: "The body cannot be read.",
        401: "The token is missing or wrong.",
        404: "There is no such model.",
        408: "The request took too long to arrive.",
        413: "The request is too large, or holds too many instances.",
        415: "The body is not JSON.",
        422: "A feature, or something else in the request, is invalid.",
        429: "Too many requests at a time; Retry-After says when to try again.",
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
        Limits, token and the like.

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
    service = Service(store, settings or Settings())
    app = _Guarded(
        title="Prefero",
        version=prefero.__version__,
        description="Trained label rankers: predict the order of the labels for new instances.",
        docs_url=None,
        redoc_url=None,
    )
    refusals: dict[str, Any] = {"responses": _REFUSALS}
    described = _describe_rank(store)
    app.post("/rank", response_model=None, summary="Rank the labels for instances", **described)(
        service.rank
    )
    described = _describe_table(store)
    app.post("/rank.csv", summary="Rank the labels for a table", **described)(service.rank_table)
    app.get("/models", response_model=list[ModelAnswer], summary="List the models", **refusals)(
        service.models
    )
    app.get("/health", response_model=HealthAnswer, summary="The state of the service")(
        service.health
    )
    app.get("/ready", summary="Whether the service is ready")(service.ready)
    app.get("/metrics", response_class=PlainTextResponse, summary="Counts and times", **refusals)(
        service.metrics
    )
    app.get("/", include_in_schema=False)(_page("index.html"))
    for name in ("page.css", _ELEMENTS, "page.js"):
        app.get(f"/page/{name}", include_in_schema=False)(_page(name))
    app.exception_handler(RequestValidationError)(_refuse_body)
    app.exception_handler(DataError)(_refuse_data)
    app.guard = Guard(
        super(_Guarded, app).__call__,
        settings=service.settings,
        counters=service.counters,
        at_once={"/rank": service.rank_at_once},
    )
    if service.settings.origins:
        # Outermost, so that pages of other sites can read refusals too.
        app.guard = CORSMiddleware(
            app.guard,
            allow_origins=list(service.settings.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    return app


class _Guarded(FastAPI):
    """An application whose requests pass the guard before FastAPI sees them."""

    guard: ASGIApp

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.guard(scope, receive, send)


def _describe_rank(store: ModelStore) -> dict[str, Any]:
    """Describe the body, which the handler reads itself, with one example per model."""
    examples = {
        name: {"value": {"model": name, "instances": [store[name].example()]}}
        for name in store.names()
    }
    schema = RankRequest.model_json_schema()
    answer = {"model": RankResponse, "description": "The rankings, in the order of the instances."}
    return {
        "responses": {**_REFUSALS, 200: answer},
        "openapi_extra": _body("application/json", schema, examples),
    }


def _describe_table(store: ModelStore) -> dict[str, Any]:
    examples = {}
    for name in store.names():
        example = store[name].example()
        lines = (map(str, cells) for cells in (example, example.values()))
        examples[name] = {"value": "\n".join(map(",".join, lines)) + "\n"}
    table = {"description": "The predictions.", "content": {"text/csv": {"schema": _TEXT}}}
    return {
        "response_class": StreamingResponse,
        "responses": {**_REFUSALS, 200: table},
        "openapi_extra": _body("text/csv", _TEXT, examples),
    }


def _body(kind: str, schema: dict[str, Any], examples: dict[str, Any]) -> dict[str, Any]:
    content = {kind: {"schema": schema, "examples": examples}}
    return {"requestBody": {"required": True, "content": content}}


def _page(name: str) -> Any:
    # The report page is built from the same elements.
    folder = files("prefero.report") if name == _ELEMENTS else files(__package__) / "page"
    content = (folder / name).read_bytes()

    async def page() -> Response:
        return Response(content, media_type=_PAGE[name])

    return page


async def _refuse_body(request: Request, error: Exception) -> JSONResponse:
    """Say where a body is invalid, without echoing its values."""
    assert isinstance(error, RequestValidationError)
    places = [{"loc": list(one["loc"]), "msg": one["msg"]} for one in error.errors()[:20]]
    return JSONResponse({"detail": places}, 422)


async def _refuse_data(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, InstanceError):
        place = {"loc": ["body", *error.location], "msg": str(error)}
        return JSONResponse({"detail": [place]}, 422)
    return JSONResponse({"detail": str(error)[:500]}, 422)
