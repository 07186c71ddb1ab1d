"""The list of labels beside an ARFF file, as Mulan writes it: which attributes are labels."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

from prefero.exceptions import DataError
from prefero.tables._table import listed, readable

_LARGEST, _DEEPEST = 1 << 22, 64
_ROOT, _LABEL = "labels", "label"
# One list serves the whole set and its parts.
_PARTS = ("-train", "-test")


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
            return _in_order(_read(beside), attributes, beside)
    return None


def _in_order(names: list[str], attributes: Sequence[str], path: Path) -> list[str]:
    lacking = [name for name in names if name not in set(attributes)]
    if lacking:
        shown = listed(map(repr, lacking), 5)
        raise DataError(f"the ARFF file beside has no attribute {shown}.", str(path))
    wanted = set(names)
    return [name for name in attributes if name in wanted]


def _read(path: Path) -> list[str]:
    """The names in a list of labels; nothing in the file is expanded or fetched."""
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

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.StartDoctypeDeclHandler = _refusal(refused)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise refused(f"this is no XML ({expat.errors.messages[error.code]}).") from error
    (name, times), *_ = Counter(names).most_common(1) or [("", 0)]
    if times != 1:
        problem = readable(f"the label {name!r} is there twice.") if times else "there is no label."
        raise DataError(problem, str(path))
    return names


def _refusal(refused: Callable[[str], DataError]) -> Callable[..., None]:
    """Refuse a document type, without which no entity can be declared."""

    def refuse(*_: Any) -> None:
        raise refused("a document type is declared, which a list of labels does not need.")

    return refuse
