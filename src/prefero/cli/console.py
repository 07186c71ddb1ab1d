"""Where output goes: data to stdout, words and progress to stderr."""

import json
import math
import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


def page() -> "Console":
    """Return the console of stdout, for results laid out for a person."""
    from rich.console import Console

    return Console(highlight=False, markup=False)


def say(sentence: str) -> None:
    """Print a sentence to stderr; on a terminal lines break between words."""
    sentence = printable(sentence)
    if sys.stderr.isatty():
        width = max(20, shutil.get_terminal_size().columns)
        options: Any = {"break_long_words": False, "break_on_hyphens": False}
        wrapped = (textwrap.fill(line, width, **options) for line in sentence.split("\n"))
        sentence = "\n".join(wrapped)
    print(sentence, file=sys.stderr)


# Control characters, which a terminal obeys, and lone surrogates, which cannot be written.
_SHOWN = (9, 10)
_CONTROLS = {code: f"\\x{code:02x}" for code in {*range(32), *range(127, 160)}.difference(_SHOWN)}
_CONTROLS |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_HALVES = {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}


def printable(text: str) -> str:
    """Return a text with its control characters escaped."""
    return text.translate(_CONTROLS | _HALVES)


def brief(text: str) -> str:
    """Return a printable text whose endless words are shortened."""
    return re.sub(r"(\S{150})\S{150,}", r"\1...", printable(text))


def count(n: int, noun: str) -> str:
    """Return a number of things in words: '1 row', '2 rows'."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def number(value: float, digits: int = 3) -> str:
    """Format a number with few digits, fewer if it is large."""
    if value != value:
        return ""
    return f"{value:.{digits}f}" if abs(value) < 1000 else f"{value:,.0f}"


def section(title: str, body: "RenderableType") -> "RenderableType":
    """Return a part of the page under a title."""
    from rich.console import Group
    from rich.text import Text

    return Group(Text(title, style="bold"), body)


def plain_table(*columns: str, numeric: bool = True, tight: bool = False) -> "Table":
    """Return an empty table; all columns but the first may hold numbers.

    ``tight`` leaves no padding between the columns.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 0 if tight else 1),
        header_style="cyan",
    )
    for index, column in enumerate(columns):
        justify: Any = "right" if numeric and index else "left"
        table.add_column(column, justify=justify, overflow="fold")
    return table


_JSON_CONTROLS = {code: f"\\u{code:04x}" for code in _CONTROLS | _HALVES if code > 32}


def print_json(value: Any) -> None:
    """Print a value as JSON to stdout; NaN becomes null."""
    text = json.dumps(_without_nan(value), ensure_ascii=False, indent=2, allow_nan=False)
    # JSON itself escapes control characters below 32.
    print(text.translate(_JSON_CONTROLS))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
