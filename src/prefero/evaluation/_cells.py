"""Finished cells of an experiment, kept on disk so that no crash loses them."""

import hashlib
import json
import math
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from prefero._warnings import warn_user

Values = dict[str, float]


def digest(*parts: Any) -> str:
    """Name anything that JSON can write by 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def derived_seed(*parts: Any) -> int:
    """Turn names and numbers into a seed of 32 bits, the same on every machine and day."""
    return int(digest(*parts)[:8], 16)


def _finished_cell(line: bytes) -> tuple[str, Values] | None:
    """The key and the metrics of a line, or None if it is damaged or someone else's."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    key, values = record.get("key"), record.get("values")
    if not isinstance(key, str) or not isinstance(values, dict):
        return None
    if not all(value is None or type(value) in (int, float) for value in values.values()):
        return None
    return key, {name: math.nan if value is None else value for name, value in values.items()}


class CellStore:
    """The metrics of finished cells by key: in memory, and in a folder if one is given.

    Each cell is one line of JSON, appended in one write and flushed to the disk before the
    next, so that killing the process spoils at most a last line that was not finished;
    reading skips it, and whatever else is no finished cell, with one warning.

    Parameters
    ----------
    folder : path or None
        Where to keep the cells.
    metrics : collection of str, optional
        What every cell must have measured; anything by default.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None, metrics: Collection[str] | None = None
    ) -> None:
        self._measures = metrics
        self._cells: dict[str, Values] = {}
        self._path: Path | None = None
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._path = Path(folder) / "cells.jsonl"
            self._read(self._path)

    def _read(self, path: Path) -> None:
        if not path.exists():
            return
        text = path.read_bytes()
        cells = [_finished_cell(line) for line in text.splitlines()]
        self._cells.update(cell for cell in cells if cell is not None)
        if damaged := cells.count(None):
            warn_user(
                f"{path}: {damaged} of {len(cells)} lines are no finished cells and are left out; "
                "what they held is computed again.",
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

    def __contains__(self, key: str) -> bool:
        cell = self._cells.get(key)
        return cell is not None and (self._measures is None or cell.keys() == set(self._measures))

    def __getitem__(self, key: str) -> Values:
        return self._cells[key]

    def add(self, key: str, about: dict[str, Any], values: Values) -> None:
        """Keep a finished cell; ``about`` is for people who open the file."""
        self._cells[key] = values
        if self._path is None:
            return
        known = {name: None if math.isnan(value) else value for name, value in values.items()}
        record = {"key": key, "cell": about, "values": known}
        self._append(self._path, json.dumps(record, allow_nan=False).encode() + b"\n")
