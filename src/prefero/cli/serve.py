"""prefero serve: models over HTTP, with a web page."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from prefero._prediction import load_ranker
from prefero.cli.console import say
from prefero.cli.options import KeyFileOption, read_key
from prefero.serve import Limits, Settings
from prefero.serve._settings import HOSTS

EXAMPLES = (
    "prefero serve model.prefero",
    "prefero serve yields.prefero routing.prefero --port 9000 --workers 2",
    "PREFERO_TOKEN=secret prefero serve model.prefero --host 0.0.0.0",
)
_LIMITS = Limits()


@dataclass(frozen=True)
class LimitOptions:
    """Limits of requests.

    Attributes
    ----------
    max_rows : N
        Most instances per request.
    max_bytes : N
        Largest JSON request.
    max_seconds : S
        Longest time of a request.
    max_concurrent : N
        Most requests at a time per worker.
    """

    max_rows: Annotated[int, typer.Option(min=1)] = _LIMITS.rows
    max_bytes: Annotated[int, typer.Option(min=1)] = _LIMITS.body_bytes
    max_seconds: Annotated[float, typer.Option(min=0.1)] = _LIMITS.seconds
    max_concurrent: Annotated[int, typer.Option(min=1)] = _LIMITS.concurrent


def serve(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", exists=True, dir_okay=False)],
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(min=1)] = 1,
    token_file: Annotated[Path | None, typer.Option(exists=True, dir_okay=False)] = None,
    allow_origin: list[str] | None = None,
    allow_host: list[str] | None = None,
    *,
    limits: LimitOptions,
    log_values: Annotated[bool, typer.Option("--log-values")] = False,
    key_file: KeyFileOption = None,
) -> None:
    """Serve models over HTTP, with a web page.

    Parameters
    ----------
    models
        Model files that train wrote; a model is named after its file.
    host
        The address to listen on.
    port
        The port to listen on.
    workers : N
        Number of processes.
    token_file : FILE
        A file with the token that requests must carry; else PREFERO_TOKEN, if set.
    allow_origin : URL
        A site whose pages may send requests; may be repeated.
    allow_host : NAME
        A name by which clients may call the service, beside localhost and --host; may be repeated.
    log_values
        Write the instances to the access log too.
    """
    from prefero._optional import require

    for package in ("fastapi", "orjson", "uvicorn"):
        require(package, extra="serve", purpose="The service")
    from prefero.serve._running import run

    key = read_key(key_file)
    for path in models:
        load_ranker(path, key)
    bounds = Limits(
        body_bytes=limits.max_bytes,
        rows=limits.max_rows,
        seconds=limits.max_seconds,
        concurrent=limits.max_concurrent,
    )
    settings = Settings(
        bounds,
        _token(token_file),
        origins=tuple(allow_origin or ()),
        hosts=(*HOSTS, f"[{host}]" if ":" in host else host, host, *(allow_host or ())),
        log_values=log_values,
    )
    say(
        f"Serving {', '.join(path.stem for path in models)} at http://{host}:{port}/ (Ctrl-C stops)"
    )
    run(models, settings, host=host, port=port, workers=workers, key_file=key_file)


def _token(path: Path | None) -> str | None:
    token = os.environ.get("PREFERO_TOKEN") if path is None else path.read_text("utf-8").strip()
    if token is not None and (not token or not token.isascii() or not token.isprintable()):
        where = "PREFERO_TOKEN" if path is None else str(path)
        raise typer.BadParameter(f"{where} holds no token: plain characters are needed.")
    return token
