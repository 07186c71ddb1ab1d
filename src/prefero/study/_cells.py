"""Finished cells of an experiment, kept on disk so that no crash loses them."""

import hashlib
import json
import math
import os
from pathlib import Path
from typing import Any

Values = dict[str, float]


def digest(*parts: Any) -> str:
    """Name anything that JSON can write by 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def derived_seed(*parts: Any) -> int:
    """Turn names and numbers into a seed of 32 bits, the same on every machine and day."""
    return int(digest(*parts)[:8], 16)


class CellStore:
    """The measures of finished cells by key: in memory, and in a folder if one is given.

    Each cell is one line of JSON, appended in one write and flushed to the disk before the
    next, so that killing the process spoils at most a last line that was not finished;
    reading skips it.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
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
        for line in text.splitlines():
            try:
                record = json.loads(line)
                values = record["values"]
                self._cells[record["key"]] = {
                    name: math.nan if value is None else value for name, value in values.items()
                }
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
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
        return key in self._cells

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
