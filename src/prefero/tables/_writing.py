"""Tables and rankings into files; long tables are written in parts, never held in memory."""

import gzip
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from prefero._files import replacing
from prefero._typing import Values
from prefero.rankings import (
    bucket_positions,
    format_order,
    orders_from_ranks,
    pairs_from_ranks,
    split_calibrated,
    text_from_calibrated,
    virtual_label_offsets,
)
from prefero.tables._format import FileFormat, Write
from prefero.tables._rankings import Rankings
from prefero.tables._reading import FORMATS
from prefero.tables._table import need

if TYPE_CHECKING:
    import pandas as pd

_FORMULAS, _SIGNED = ("=", "+", "-", "@", "\t", "\r"), re.compile(r"[+-]\d+(\.\d+)?")
Target = str | PathLike[str] | BinaryIO


def write_table(frame: "pd.DataFrame", target: Target, *, ending: str | None = None) -> None:
    r"""Write a table into a file of the format that its ending names.

    Parameters
    ----------
    frame : DataFrame
        The table, whose index is left out.
    target : str, path or binary file
        A file takes its name only when it is complete; until then the old one stays.
    ending : str, optional
        The format, such as ".json", if the name does not show it.

    See Also
    --------
    writing : Writes some rows at a time.
    write_rankings : Writes rankings in any form.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> file = io.BytesIO()
    >>> write_table(pd.DataFrame({"a": [1, 2], "b": [2, 1]}), file, ending=".tsv")
    >>> file.getvalue()
    b'a\tb\n1\t2\n2\t1\n'
    """
    with writing(target, ending=ending) as write:
        write(frame)


@contextmanager
def writing(
    target: Target, *, ending: str | None = None, safe_csv: bool = False
) -> Iterator[Write]:
    """Yield a function that writes the next rows of a table.

    Parameters
    ----------
    target, ending
        As for `write_table`.
    safe_csv : bool, default=False
        Whether texts that a spreadsheet would run as formulas get an apostrophe before them.

    Yields
    ------
    callable
        Takes a DataFrame; all must have the same columns.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> file = io.BytesIO()
    >>> with writing(file, ending=".csv") as write:
    ...     write(pd.DataFrame({"a": [1]}))
    ...     write(pd.DataFrame({"a": [2]}))
    >>> file.getvalue().split()
    [b'a', b'1', b'2']
    """
    last, packed = _endings(target, ending)
    form = _format_of(last)
    if form.write is None:
        raise ValueError(f"{form.name} holds rankings only: use write_rankings.")
    with _opened(target, packed) as file, form.write(file, last) as write:
        yield (lambda frame: write(_without_formulas(frame))) if safe_csv else write


def _without_formulas(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Put an apostrophe before names and texts that begin like a formula."""

    def plain(value: Any) -> Any:
        text = isinstance(value, str) and value.startswith(_FORMULAS)
        return f"'{value}" if text and not _SIGNED.fullmatch(value) else value

    return frame.rename(columns=plain).map(plain)


def write_rankings(
    rankings: Rankings, target: Target, form: str = "ranks", *, ending: str | None = None
) -> None:
    r"""Write rankings beside the other columns of their table.

    Parameters
    ----------
    rankings : Rankings
        What `read_rankings` returns.
    target, ending
        As for `write_table`; also a .xarff or .kebi file.
    form : {"ranks", "orders", "scores", "pairs", "relevance", "calibrated"}, default="ranks"
        One column per label, one column of text, or one row per pair.

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from prefero.tables import read_rankings
    >>> rankings = read_rankings(pd.DataFrame({"a": [1, 2], "b": [2, 1]}))
    >>> file = io.BytesIO()
    >>> write_rankings(rankings, file, "orders", ending=".csv")
    >>> file.getvalue()
    b'order\na > b\nb > a\n'
    """
    last, packed = _endings(target, ending)
    writer = _format_of(last).write_rankings
    if writer is None:
        write_table(in_form(rankings, form), target, ending=ending)
        return
    with _opened(target, packed) as file:
        writer(rankings, file)


def check_ending(path: str | PathLike[str]) -> None:
    """Refuse a name whose ending is that of no format that can be written.

    Examples
    --------
    >>> check_ending("orders.csv.gz")
    >>> check_ending("orders.doc")
    Traceback (most recent call last):
        ...
    ValueError: no table is written with the ending '.doc': use one of ...
    """
    _format_of(_endings(path, None)[0])


def _endings(target: Target, ending: str | None) -> tuple[str, bool]:
    """The ending that names the format, and whether the file is to be compressed."""
    if ending is None and not isinstance(target, str | PathLike):
        raise ValueError("a stream has no ending: name the format by ending='.csv'.")
    name = Path(f"x{ending}" if ending is not None else target)  # type: ignore[arg-type]
    packed = name.suffix.lower() == ".gz"
    return Path(name.stem if packed else name).suffix.lower(), packed


def _format_of(ending: str) -> FileFormat:
    able = [form for form in FORMATS if form.write or form.write_rankings]
    for form in able:
        if ending in form.endings:
            return form
    known = ", ".join(known for form in able for known in form.endings)
    raise ValueError(f"no table is written with the ending {ending!r}: use one of {known}.")


@contextmanager
def _opened(target: Target, packed: bool) -> Iterator[Any]:
    if not isinstance(target, str | PathLike):
        yield target
        return
    with replacing(target) as file:
        if not packed:
            yield file
            return
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as compressed:
            yield compressed


def in_form(rankings: Rankings, form: str) -> "pd.DataFrame":
    """Return the other columns beside the rankings in a form.

    Parameters
    ----------
    rankings : Rankings
        What `read_rankings` returns.
    form : {"ranks", "orders", "scores", "pairs", "relevance", "calibrated"}
        The form, as for `write_rankings`.

    Returns
    -------
    DataFrame
        One row per ranking; for pairs, one per pair.

    Examples
    --------
    >>> import pandas as pd
    >>> from prefero.tables import read_rankings
    >>> rankings = read_rankings(pd.DataFrame({"x": [7], "a": [1], "b": [2]}), "a,b")
    >>> in_form(rankings, "pairs")
       instance preferred other  x
    0         1         a     b  7
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}.")
    others = rankings.table.frame[rankings.others].iloc[rankings.rows].reset_index(drop=True)
    table = FORMS[form](rankings)
    if form == "pairs":
        joined = table.join(others, on="instance")
        return joined.assign(instance=joined["instance"] + 1)  # people count from 1
    clash = [name for name in others.columns if name in table.columns]
    if clash:
        raise rankings.table.error(f"{clash[0]!r} is both a label and another column: rename one.")
    return need("pandas").concat([others, table], axis=1)


def _ranks(rankings: Rankings) -> "pd.DataFrame":
    odd = (rankings.ranks % 1 > 0) | (abs(rankings.ranks) > 2**53)  # as an only label may have
    whole = not odd.any()
    return rankings.y.astype("Int64") if whole else rankings.y


def _scores(rankings: Rankings) -> "pd.DataFrame":
    """The scores of the table, or how many labels stand below; ties count half.

    In calibrated rankings they count from the virtual label, so that positive is relevant.
    """
    if rankings.scores is None and rankings.calibrated is not None:
        signed = -virtual_label_offsets(rankings.calibrated)[0]
        return need("pandas").DataFrame(signed, columns=rankings.labels)
    known = np.count_nonzero(~np.isnan(rankings.ranks), axis=1)[:, None]
    counts = known - bucket_positions(rankings.ranks)
    scores = counts if rankings.scores is None else rankings.scores
    return need("pandas").DataFrame(scores, columns=rankings.labels)


def _orders(rankings: Rankings) -> "pd.DataFrame":
    orders = orders_from_ranks(rankings.ranks, rankings.labels)
    return need("pandas").DataFrame({"order": [format_order(order) for order in orders]})


def _pairs(rankings: Rankings) -> "pd.DataFrame":
    pairs = enumerate(pairs_from_ranks(rankings.ranks, rankings.labels))
    lines = [(row, *pair) for row, chosen in pairs for pair in chosen]
    return need("pandas").DataFrame(lines, columns=["instance", "preferred", "other"])


def _relevance(rankings: Rankings) -> "pd.DataFrame":
    relevance, _ = split_calibrated(_need_calibrated(rankings))
    return need("pandas").DataFrame(relevance, columns=rankings.labels).astype("Int64")


def _calibrated(rankings: Rankings) -> "pd.DataFrame":
    texts = text_from_calibrated(_need_calibrated(rankings), rankings.labels)
    return need("pandas").DataFrame({"calibrated": texts})


def _need_calibrated(rankings: Rankings) -> Values:
    if rankings.calibrated is None:
        raise rankings.table.error(
            "these rankings do not say which labels are relevant: that needs format='relevance' "
            "or format='calibrated'."
        )
    return rankings.calibrated


FORMS: dict[str, Callable[[Rankings], "pd.DataFrame"]] = {
    "ranks": _ranks,
    "orders": _orders,
    "scores": _scores,
    "pairs": _pairs,
    "relevance": _relevance,
    "calibrated": _calibrated,
}
