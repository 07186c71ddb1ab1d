"""Blocks of rows that are read when they are needed, for those who bring their own files."""

from prefero.distributed._engine import Later
from prefero.distributed._partitions import Blocks

__all__ = ["Blocks", "Later"]
