"""Finished runs of an experiment, kept on disk under keys that include the code."""

import ast
import hashlib
import inspect
import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import sklearn

import prefero
from prefero import _core
from prefero._warnings import warn_user

Values = dict[str, float]
# Predicted ranks, and the metrics of single rows by name.
Rows = tuple[list[Any], dict[str, list[float]]]


def digest(*parts: Any) -> str:
    """Return a digest of 32 hexadecimal digits of anything that JSON can write."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def derived_seed(*parts: Any) -> int:
    """Turn names and numbers into a seed of 32 bits, the same on every machine and day."""
    return int(digest(*parts)[:8], 16)


def _finished_run(line: bytes) -> tuple[str, Values, Rows | None] | None:
    """The key, the metrics and the rows of a line, or None if it does not hold a finished run."""
    try:
        record = json.loads(line)
        key, values, rows = (record.get(name) for name in ("key", "values", "rows"))
        known = {
            name: math.nan if value is None else float(value) for name, value in values.items()
        }
        if rows is not None:
            predicted, metrics = rows
            rows = predicted, {name: _numbers(found) for name, found in metrics.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return (key, known, rows) if isinstance(key, str) else None


def _numbers(values: list[Any]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


class RunStore:
    """The metrics of finished runs by key: in memory, and in a folder if one is given.

    Each run is one line of JSON, appended in one write and flushed to disk before the next, so
    that killing the process damages at most the last line. Reading ignores such lines, and
    anything else that is not a finished run, with one warning.

    Parameters
    ----------
    folder : path or None
        Where to keep the runs.
    metrics : collection of str, optional
        The metrics that every run must have; any by default.
    with_rows : bool, default=False
        Whether a run must also have its predictions, row by row.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        metrics: Collection[str] | None = None,
        with_rows: bool = False,
    ) -> None:
        self._metrics, self._with_rows = metrics, with_rows
        self._runs: dict[str, Values] = {}
        self.rows: dict[str, Rows] = {}
        self._path: Path | None = None
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._path = Path(folder) / "runs.jsonl"
            self._read(self._path)

    def _read(self, path: Path) -> None:
        if not path.exists():
            return
        text = path.read_bytes()
        runs = [_finished_run(line) for line in text.splitlines()]
        for key, values, rows in filter(None, runs):
            self._keep(key, values, rows)
        if damaged := runs.count(None):
            warn_user(
                f"{path}: {damaged} of {len(runs)} lines are not finished runs and are ignored; "
                "these runs are computed again."
            )
        if text and not text.endswith(b"\n"):
            self._append(path, b"\n")

    @staticmethod
    def _append(path: Path, line: bytes) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)

    def _keep(self, key: str, values: Values, rows: Rows | None) -> None:
        self._runs[key] = values
        if rows is not None and self._with_rows:
            self.rows[key] = rows

    def __contains__(self, key: str) -> bool:
        run = self._runs.get(key)
        if self._with_rows and key not in self.rows:
            return False
        return run is not None and (self._metrics is None or run.keys() == set(self._metrics))

    def __getitem__(self, key: str) -> Values:
        return self._runs[key]

    def add(
        self, key: str, about: dict[str, Any], values: Values, rows: Rows | None = None
    ) -> None:
        """Keep a finished run; ``about`` is for people who open the file."""
        self._keep(key, values, rows)
        if self._path is None:
            return
        record = {"key": key, "run": about, "values": _without_nan(values)}
        if rows is not None:
            record["rows"] = _without_nan(list(rows))
        self._append(self._path, json.dumps(record, allow_nan=False).encode() + b"\n")


def _without_nan(values: Any) -> Any:
    """Numbers as JSON takes them: None in the place of NaN."""
    if isinstance(values, dict):
        return {name: _without_nan(value) for name, value in values.items()}
    if isinstance(values, list):
        return [_without_nan(value) for value in values]
    return None if math.isnan(values) else values


_ROOT = Path(prefero.__file__).parent
# The module that executes every run.
_ALWAYS = ("prefero.evaluation.experiment",)
# These packages neither train nor evaluate anything.
_ASIDE = {"cli", "serve", "persistence", "report", "reproduction", "_prediction"}


def code_of(*things: Any) -> str:
    """Return a digest of the code behind some estimators, functions or classes.

    For those of Prefero it covers their modules, everything in Prefero that these import,
    directly or not, and the compiled core. For others it covers the file that defines them,
    unless that is an installed package, whose version the caller adds.
    """
    modules = {module for thing in things for module in _modules(thing)}
    ours = {name for name in modules if name.partition(".")[0] == "prefero"}
    starts = [path for name in (*sorted(ours), *_ALWAYS) if (path := _path(name))]
    files = {str(path.relative_to(_ROOT)): path for path in _reached(starts, _imported_paths)}
    files |= {name: path for name in sorted(modules - ours) if (path := _own_file(name))}
    sources = [[name, _digest_of_file(files[name])] for name in sorted(files)]
    return digest(sources, _digest_of_file(Path(_core.__file__)))


def all_code(script: Path) -> str:
    """Return a digest of the code of Prefero that trains or evaluates, and of a script."""
    paths = [
        path
        for path in sorted(_ROOT.rglob("*.py"))
        if path.relative_to(_ROOT).parts[0] not in _ASIDE
    ]
    paths += [*sorted(_reached([script], _scripts_beside)), Path(_core.__file__)]
    return digest([_digest_of_file(path) for path in paths], sklearn.__version__)


def source_of(function: Any) -> str:
    """Return the source of a function, or an empty string if it has none."""
    try:
        return inspect.getsource(inspect.unwrap(getattr(function, "func", function)))
    except (OSError, TypeError):
        return ""


def _modules(thing: Any) -> Iterator[str]:
    """The modules of a thing's class and of those of its parameters."""
    yield getattr(thing, "__module__", None) or type(thing).__module__
    if not isinstance(thing, type) and hasattr(thing, "get_params"):
        for value in thing.get_params(deep=True).values():
            if not isinstance(value, str | int | float | None):
                yield from _modules_of_value(value)


def _modules_of_value(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for part in value:
            yield from _modules_of_value(part)
    elif callable(value) or hasattr(value, "get_params") or hasattr(value, "split"):
        yield getattr(value, "__module__", None) or type(value).__module__


def _own_file(module: str) -> Path | None:
    """The file of a module that is not installed, such as a script."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return None
    path = Path(file)
    installed = "site-packages" in path.parts or path.is_relative_to(sys.base_prefix)
    return None if installed and not path.is_relative_to(_ROOT) else path


def _reached(starts: Iterable[Path], imports: Callable[[Path], Iterable[Path]]) -> set[Path]:
    """Some files and all those that they import, directly or not."""
    found: set[Path] = set()
    pending = list(starts)
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending += imports(path)
    return found


def _imported_paths(path: Path) -> list[Path]:
    return [other for name in _imported(path) if (other := _path(name))]


def _scripts_beside(path: Path) -> list[Path]:
    """The scripts in the same folder that a script imports."""
    beside = [path.with_name(f"{name}.py") for name in _named(path)]
    return [other for other in beside if other.is_file()]


@lru_cache(maxsize=1024)
def _imported(path: Path) -> tuple[str, ...]:
    """The modules of Prefero that a file imports, inside functions too, or by its stub."""
    names = [name for name in _named(path) if name.startswith("prefero.")]
    stub = path.with_suffix(".pyi")
    if path.name == "__init__.py" and stub.is_file():  # a package that loads its modules late
        package = ".".join(("prefero", *path.parent.relative_to(_ROOT).parts))
        names += [f"{package}.{name}" for name in _named(stub)]
    return tuple(names)


def _named(path: Path) -> list[str]:
    """The names that a file imports, and those of what it takes from them."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def _path(module: str) -> Path | None:
    """The file of a module of Prefero; None for a name that is not a module."""
    place = _ROOT.joinpath(*module.split(".")[1:])
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.is_file():
            return path
    return None


@lru_cache(maxsize=1024)
def _digest_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
