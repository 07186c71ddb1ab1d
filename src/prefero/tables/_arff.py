"""ARFF files, XARFF, which adds the attribute type ``ranking``, and Mulan's lists of labels."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from xml.parsers import expat

import numpy as np

from prefero._typing import Values
from prefero.exceptions import DataError, RowError
from prefero.rankings import (
    check_label_names,
    format_order,
    orders_from_ranks,
    pairs_from_ranks,
    ranks_from_orders,
    ranks_from_pairs,
)
from prefero.tables._format import FileFormat, SourceFile
from prefero.tables._table import (
    MISSING,
    NOTHING,
    DataTable,
    Declared,
    listed,
    more_of,
    need,
    numbers_of,
    readable,
)

if TYPE_CHECKING:
    from prefero.tables._rankings import Rankings

_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_CELL = re.compile(rf"""\s*+(?:(?P<quoted>{_QUOTED})\s*+|(?P<plain>[^,'"][^,]*+)?+)(?P<end>,|$)""")
_ATTRIBUTE = re.compile(
    rf"@attribute\s+(?P<name>{_QUOTED}|\S+)\s+(?:(?P<kind>\w+)\s*)?(?:\{{(?P<values>.*)\}}|\S*)\s*$",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s*%[^\n]*\n)*\s*@(?:relation|attribute)\s", re.IGNORECASE
)
_NUMERIC, _TEXT = ("numeric", "real", "integer"), ("string", "date")
_LARGEST, _DEEPEST = 1 << 22, 64
_ROOT, _LABEL = "labels", "label"
# One list serves the whole set and its parts.
_PARTS = ("-train", "-test")


@dataclass
class Arff:
    """The declarations and the cells of a file; None is a missing cell."""

    names: dict[str, None] = field(default_factory=dict)
    nominal: dict[str, dict[str, None]] = field(default_factory=dict)
    numeric: set[str] = field(default_factory=set)
    ranking: str | None = None
    labels: list[str] = field(default_factory=list)
    rows: list[list[str | None]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def frame(self, given: SourceFile) -> Any:
        """Return the cells as a table: numbers where they are declared."""
        pandas = need("pandas")
        columns = {}
        for name, cells in zip(self.names, zip(*self.rows, strict=True), strict=True):
            columns[name] = pandas.Series(cells, dtype=object)
            if name in self.numeric:
                columns[name], bad = numbers_of(columns[name])
                if len(bad):
                    problem = f"attribute {name!r} is numeric, but holds {cells[bad[0]]!r}."
                    lines = [self.lines[row] for row in bad]
                    raise given.error(more_of(problem, lines[1:]), lines[0])
        return pandas.DataFrame(columns)


def parse(given: SourceFile) -> Arff:
    """Return what a file declares and holds."""
    arff = Arff()
    lines = enumerate(map(str.strip, given.lines), start=1)
    line = 1
    for line, text in lines:
        keyword = text.split(maxsplit=1)[0].lower() if text else ""
        if keyword == "@data":
            break
        if keyword == "@attribute":
            _declare(arff, text, given, line)
        elif text and keyword != "@relation" and not text.startswith("%"):
            raise given.error(f"{text[:40]!r} is no declaration of an ARFF file.", line)
    else:
        raise given.error("the line @data is missing.", line)
    for line, text in lines:
        if text and not text.startswith("%"):
            arff.rows.append(_row(arff, text, given, line))
            arff.lines.append(line)
    if not arff.rows:
        raise given.error("there is no row after @data.", line)
    return arff


def _declare(arff: Arff, text: str, given: SourceFile, line: int) -> None:
    match = _ATTRIBUTE.match(text)
    kind = match["kind"].lower() if match and match["kind"] else ""
    listed = match is not None and match["values"] is not None and kind in ("", "ranking")
    if match is None or not (listed or kind in _NUMERIC + _TEXT):
        problem = "an attribute must be numeric, a string, nominal {a,b} or a ranking {a,b}"
        raise given.error(f"{problem}, got {text[:80]!r}.", line)
    name = _unquoted(match["name"])
    if name in arff.names:
        raise given.error(f"attribute {name!r} is declared twice.", line)
    arff.names[name] = None
    given.refuse_beyond(1, len(arff.names))
    if not listed:
        arff.numeric |= {name} if kind in _NUMERIC else set()
        return
    members = [cell or "" for cell in _cells(match["values"], given, line)]
    if kind != "ranking":
        arff.nominal[name] = dict.fromkeys(members)
    elif arff.ranking is None:
        arff.ranking, arff.labels = name, members
    else:
        raise given.error("a second attribute has the type ranking.", line)


def _row(arff: Arff, text: str, given: SourceFile, line: int) -> list[str | None]:
    if text.startswith("{"):
        raise given.error("sparse rows are not supported.", line)
    row = _cells(text, given, line)
    if len(row) != len(arff.names):
        raise given.error(f"{len(arff.names)} values were expected, got {len(row)}.", line)
    for cell, name in zip(row, arff.names, strict=True):
        if name in arff.nominal and cell not in arff.nominal[name] and cell not in (None, *MISSING):
            raise given.error(f"{cell!r} is not declared for attribute {name!r}.", line)
    return row


def _cells(text: str, given: SourceFile, line: int) -> list[str | None]:
    """Split at commas outside quotes; a question mark without quotes is a missing cell."""
    cells: list[str | None] = []
    position, more = 0, True
    while more:
        cell = _CELL.match(text, position)
        if cell is None:
            problem = f"the quote at character {position + 1} is not closed, or text follows it."
            raise given.error(problem, line)
        plain = (cell["plain"] or "").strip()
        missing = plain == "?" and cell["quoted"] is None
        cells.append(None if missing else _unquoted(cell["quoted"] or plain))
        position, more = cell.end(), cell["end"] == ","
    return cells


def _unquoted(cell: str) -> str:
    if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", cell[1:-1])
    return cell


def read(given: SourceFile, n_rows: int | None) -> Iterator[DataTable]:
    """Yield the table of a file; a ranking becomes one column of ranks a label.

    A list of labels beside it, as Mulan writes, says which attributes are relevance.
    """
    arff = parse(given)
    frame = arff.frame(given)
    lines = np.array(arff.lines, dtype=np.int64)
    if arff.ranking is None:
        labels = labels_beside(given.path, list(arff.names))
        declared = NOTHING if labels is None else Declared(labels, "relevance")
        yield DataTable(frame, given.source, lines, declared)
        return
    texts = frame.pop(arff.ranking).tolist()
    try:
        check_label_names(arff.labels)
        ranks = _ranks(texts, arff.labels)
    except RowError as error:
        raise given.error(error.problem, arff.lines[error.row]) from error
    except ValueError as error:
        raise given.error(str(error)) from error
    clash = [label for label in arff.labels if label in frame.columns]
    if clash:
        raise given.error(f"{clash[0]!r} is both an attribute and a label: rename one.")
    whole = frame.join(need("pandas").DataFrame(ranks, columns=arff.labels))
    yield DataTable(whole, given.source, lines, Declared(arff.labels, "ranks"))


def _ranks(texts: list[str | None], labels: list[str]) -> Values:
    """The ranks of every row; rows of several orders go through their pairs."""
    orders = [None if text is None or "|" in text else text for text in texts]
    ranks, _ = ranks_from_orders(orders, labels)
    for row, text in enumerate(texts):
        if text is not None and "|" in text:
            try:
                parts, _ = ranks_from_orders(text.split("|"), labels)
                pairs = list(chain.from_iterable(pairs_from_ranks(parts, labels)))
                ranks[row] = ranks_from_pairs([pairs], labels)[0][0]
            except RowError as error:
                raise RowError(error.problem, "orders", row) from error
    return ranks


def write_rankings(rankings: "Rankings", file: BinaryIO) -> None:
    """Write features and rankings as XARFF."""
    X, labels = rankings.X, [str(label) for label in rankings.labels]
    file.write(b"@relation prefero\n\n")
    for name in X.columns:
        words = getattr(X[name].dtype, "categories", None)
        kind = "numeric" if words is None else "{" + ",".join(map(_quoted, words)) + "}"
        file.write(f"@attribute {_quoted(name)} {kind}\n".encode())
    file.write(f"@attribute ranking ranking {{{','.join(map(_quoted, labels))}}}\n".encode())
    file.write(b"\n@data\n")
    orders = orders_from_ranks(rankings.ranks, labels)
    for row, order in zip(X.astype(object).to_numpy(), orders, strict=True):
        cells = ["?" if cell != cell else _quoted(cell) for cell in row]
        cells.append(_quoted(format_order(order)) if order else "?")
        file.write((",".join(cells) + "\n").encode())


def _quoted(value: Any) -> str:
    text = str(value)
    if re.fullmatch(r"[\w.+-]+", text):
        return text
    return "'" + re.sub(r"(['\\])", r"\\\1", text) + "'"


def labels_beside(path: Path | None, attributes: Sequence[str]) -> list[str] | None:
    """Return the labels that the list beside an ARFF file names; None if there is no list.

    Parameters
    ----------
    path : path, optional
        The ARFF file, ``yeast.arff``, ``yeast-train.arff`` or ``yeast-test.arff``; the list is
        ``yeast.xml``.
    attributes : sequence of str
        The attributes that the file declares.

    Returns
    -------
    list of str or None
        Labels in the order of the attributes; those inside another label are labels too.
    """
    if path is None:
        return None
    stems = dict.fromkeys([path.stem, *(path.stem.removesuffix(part) for part in _PARTS)])
    for beside in (path.with_name(f"{stem}.xml") for stem in stems):
        if beside.is_file():
            return _in_order(_read_labels(beside), attributes, beside)
    return None


def _in_order(names: list[str], attributes: Sequence[str], path: Path) -> list[str]:
    (name, times), *_ = Counter(names).most_common(1) or [("", 0)]
    if times != 1:
        problem = f"the label {name!r} is there twice." if times else "there is no label."
        raise DataError(readable(problem), str(path))
    lacking = [name for name in names if name not in set(attributes)]
    if lacking:
        shown = listed(map(repr, lacking), 5)
        raise DataError(f"the ARFF file beside has no attribute {shown}.", str(path))
    wanted = set(names)
    return [name for name in attributes if name in wanted]


def _read_labels(path: Path) -> list[str]:
    """Return the names in a list of labels; nothing in the file is expanded or fetched."""
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DataError(f"a list of labels has at most {_LARGEST >> 20} MiB.", str(path))
    names: list[str] = []
    depth = 0
    parser: Any = expat.ParserCreate(namespace_separator=" ")

    def refused(problem: str) -> DataError:
        return DataError(readable(problem), str(path), parser.CurrentLineNumber)

    def begin(tag: str, marks: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        kind = tag.rpartition(" ")[2]
        if kind != (_ROOT if depth == 1 else _LABEL) or depth > _DEEPEST:
            raise refused(
                f"<{kind}> is not expected here: a list of labels is <labels><label name='a'/>..."
                "</labels>; rename the file if it is no such list."
            )
        if depth > 1:
            if not marks.get("name"):
                raise refused("a label has no name.")
            names.append(marks["name"])

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse_doctype(*_: Any) -> None:
        # Without a document type no entity can be declared.
        raise refused("a document type is declared, which a list of labels does not need.")

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise refused(f"this is no XML ({expat.errors.messages[error.code]}).") from error
    return names


FORMAT = FileFormat(
    "ARFF",
    (".arff", ".xarff"),
    holds=lambda given: _BEGINS.match(given.head) is not None,
    read=read,
    write_rankings=write_rankings,
)
