"""Packages that only some parts need: found when used, asked for in one sentence if absent."""

from importlib import import_module
from typing import Any


def require(module: str, *, extra: str, purpose: str) -> Any:
    """Import and return a module, or say how to install it.

    Parameters
    ----------
    module : str
        What to import.
    extra : str
        The extra of this package that installs it.
    purpose : str
        What needs it, as the subject of the sentence.

    Returns
    -------
    module
        The module.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{purpose} needs the package {error.name!r}: pip install 'prefero[{extra}]'."
        ) from error
