"""Workers that share one socket."""

import gc
import logging
import os
import sys
from pathlib import Path
from typing import Any

from prefero.serve._settings import Settings, named_paths

_PATHS, _SETTINGS, _KEY_FILE = "PREFERO_SERVE_MODELS", "PREFERO_SERVE_SETTINGS", "PREFERO_SERVE_KEY"


def run(
    paths: list[Path],
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    key_file: Path | None = None,
) -> None:
    """Serve model files until told to stop; running requests are finished first.

    Workers are processes that share one socket; one that dies is replaced.
    """
    import uvicorn

    named_paths(paths)
    os.environ[_PATHS] = os.pathsep.join(str(path.resolve()) for path in paths)
    os.environ[_SETTINGS] = settings.to_json()
    if key_file is not None:
        os.environ[_KEY_FILE] = str(key_file.resolve())
    from prefero.serve._connections import BoundedProtocol

    uvicorn.run(
        "prefero.serve._running:worker",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        http=BoundedProtocol,
        access_log=False,
        log_level="warning",
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=30,
        # A worker that still imports is not dead.
        timeout_worker_healthcheck=60,
    )


def worker() -> Any:
    """Return the application of one worker, as the environment describes it."""
    from prefero.serve._app import create_app
    from prefero.serve._connections import BoundedProtocol
    from prefero.serve._service import ModelStore

    handler = logging.StreamHandler(sys.stderr)
    log = logging.getLogger("prefero.serve")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    settings = Settings.from_json(os.environ[_SETTINGS])
    BoundedProtocol.limits = settings.limits
    paths = named_paths([Path(path) for path in os.environ[_PATHS].split(os.pathsep)])
    key_file = os.environ.get(_KEY_FILE)
    key = None if key_file is None else Path(key_file).read_bytes()
    app = create_app(ModelStore(paths, key=key, seconds=settings.seconds_between_checks), settings)
    # These objects stay: later garbage collections need not scan them while requests wait.
    gc.collect()
    gc.freeze()
    return app
