"""Serve trained models over HTTP, by ``prefero serve`` or mounted in another application.

Needs the extra ``serve`` (FastAPI and uvicorn).
"""

from prefero.serve._settings import Limits, Settings

__all__ = ["Limits", "Settings", "create_app"]


def __getattr__(name: str) -> object:
    # FastAPI is imported when an application is made, not when the settings are read.
    if name == "create_app":
        from prefero.serve._app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
