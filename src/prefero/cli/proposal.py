"""The next command for a table, from what its columns look like."""

import re
import shlex
from typing import TYPE_CHECKING

from prefero.cli.options import Format, Reading

if TYPE_CHECKING:
    import pandas as pd

    from prefero._typing import Values
    from prefero.tables import DataTable

_STEM = re.compile(r"^(.+?[ _.:\-])(.+)$")
_ORDER = re.compile(r"^[^<>]+(>[^<>]+)+$")
_LABEL_STEMS = re.compile(
    r"^(y|r|rank|score|scores|yield|time|runtime|label|vote|rating)[ _.:\-]$", re.I
)
_LOWER = re.compile(r"time|runtime|loss|error|cost|regret", re.I)
_HIGHER = re.compile(r"score|yield|accuracy|reward|rating|win", re.I)
_GROUPS = re.compile(
    r"^(group|subject|person|judge|user|patient|substrate|participant|farmer)(_?id)?s?$", re.I
)
_IDS = re.compile(r"^(id|.*_id|index|row|name|unnamed.*)$", re.I)
_WORDS_OF_TEXT, _MOSTLY, _RARE, _FEWEST_ROWS = 4, 0.8, 0.3, 10


def next_command(table: "DataTable", reading: Reading) -> tuple[str, list[str]]:
    """Return the command that compares rankers on a table, and what is uncertain about it.

    The command is empty where no column looks like rankings.
    """
    options, notes, used = _rankings(table, reading)
    if not options:
        return "", []
    frame = table.frame
    words: dict[str, list[str]] = {"--ignore": [], "--text": [], "--groups": []}
    for name in (str(name) for name in frame.columns if str(name) not in used):
        if kind := _role(name, frame[name], table.kind(name).startswith("text")):
            words[kind].append(name)
    for option, names in words.items():
        options += [option, ",".join(names)] if names else []
    return shlex.join(["prefero", "compare", table.source, *options, "--quick"]), notes


def _rankings(table: "DataTable", reading: Reading) -> tuple[list[str], list[str], set[str]]:
    """The options that say which columns hold rankings, what is uncertain, and those columns."""
    frame, notes = table.frame, []
    families = _families(table)
    if reading.labels is not None:
        used = set(table.columns(reading.labels))
        form: Format | None = Format(reading.format)
        options = ["--labels", reading.labels]
        family = reading.labels
    elif orders := [str(name) for name in frame.columns if _holds_orders(frame[name])]:
        return ["--labels", orders[0], "--format", "orders"], [], set(orders[:1])
    elif family := _label_family(table, families):
        used, options = set(families[family]), ["--labels", f"{family}*"]
        form = _format(table.numbers(families[family]))
        if form is Format.RELEVANCE and _direction(family):
            form = Format.SCORES
        notes.append(f"{len(used)} columns {family}* look like {form}.")
    else:
        return [], [], set()
    if form is not Format.RANKS:
        options += ["--format", str(form)]
    if form is Format.SCORES:
        direction = _direction(family)
        if reading.higher_is_better is not None:
            direction = "--higher-is-better" if reading.higher_is_better else "--lower-is-better"
        if not direction:
            notes.append("If smaller scores are better, write --lower-is-better.")
        options.append(direction or "--higher-is-better")
        if costs := _costs(families, family):
            options += ["--cost", f"{costs}*", "--cost-weight", "0"]
            used |= set(families[costs])
            notes.append(f"{costs}* may be costs: --cost-weight says what a unit is worth.")
    return options, notes, used


def _families(table: "DataTable") -> dict[str, list[str]]:
    """Columns of numbers by what their names begin with."""
    found: dict[str, list[str]] = {}
    for name in map(str, table.frame.columns):
        parts = _STEM.match(name)
        if parts and table.kind(name).startswith("numbers"):
            found.setdefault(parts[1], []).append(name)
    return {stem: names for stem, names in found.items() if len(names) > 1}


def _label_family(table: "DataTable", families: dict[str, list[str]]) -> str:
    named = [stem for stem in families if _LABEL_STEMS.match(stem)]
    ranked = [
        stem for stem, names in families.items() if _format(table.numbers(names)) is Format.RANKS
    ]
    return next(iter([*named, *ranked]), "")


def _format(values: "Values") -> Format:
    """What the cells of label columns look like."""
    import numpy as np

    known = values[~np.isnan(values)]
    if known.size and np.isin(known, (0, 1)).all():
        return Format.RELEVANCE
    whole = (
        known.size and not (known % 1).any() and 1 <= known.min() <= known.max() <= values.shape[1]
    )
    return Format.RANKS if whole else Format.SCORES


def _holds_orders(column: "pd.Series") -> bool:
    texts = column.dropna().astype(str)
    return len(texts) > 0 and texts.str.match(_ORDER).mean() >= _MOSTLY


def _direction(stem: str) -> str:
    if _LOWER.search(stem):
        return "--lower-is-better"
    return "--higher-is-better" if _HIGHER.search(stem) else ""


def _costs(families: dict[str, list[str]], stem: str) -> str | None:
    """The columns named like the labels but for their beginning."""
    ends = {name.removeprefix(stem.rstrip("*")) for name in families.get(stem.rstrip("*"), [])}
    for other, names in families.items():
        if other != stem.rstrip("*") and ends and {n.removeprefix(other) for n in names} == ends:
            return other
    return None


def _role(name: str, column: "pd.Series", is_text: bool) -> str | None:
    """The option for a column that is no plain feature."""
    known = column.dropna()
    different = known.nunique()
    if _GROUPS.match(name) and 1 < different < len(known):
        return "--groups"
    if different == len(known) > 1 and _IDS.match(name):
        return "--ignore"
    if is_text and len(known) >= _FEWEST_ROWS and different > _RARE * len(known):
        words = known.astype(str).str.split().str.len().mean()
        return "--text" if words >= _WORDS_OF_TEXT else "--ignore"
    return None
