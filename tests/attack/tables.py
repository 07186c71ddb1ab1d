"""Files that no reader of tables may fall over: valid ones, broken in every way we know."""

import gzip
import io
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from random import Random

import openpyxl
import pandas as pd
import pyarrow
from pyarrow import parquet

from attack.bombs import AS_RANKINGS
from prefero.exceptions import DataError
from prefero.tables import (
    RANKING_FORMATS,
    in_form,
    read_parts,
    read_rankings,
    read_table,
    write_rankings,
)
from prefero.tables import write_table as write_valid
from table_files import SCENARIO

KEBI = b"3,2,3\n0.5,1,1,2,3\n0.25,2,3,1,2\n-1e-3,3,2,2,1\n"
XARFF = b"""@relation t
@attribute x numeric
@attribute 'the town' {Ulm,'New York'}
@attribute L ranking {a,b,c}
@data
1.5,Ulm,a>b>c
?,'New York',c>a
2,Ulm,b>a|b>c
"""
LETOR = b"2 qid:1 1:0.5 3:1 # d\n0 qid:1 2:0.25\n1 qid:2 1:1\n"
SVM = b"2 1:0.5 3:1\n0 2:0.25\n1 1:1\n"
NASTY = (
    *(b"", b" ", b"\r", b"\n", b"\r\n", b'"' * 99, b"x" * 9000, b"9" * 400),
    *b"\0 \xef\xbb\xbf \xff\xfe \xe9 \xc3 \xc2\x85 \xf0\x9f\x98\x80 \x1b[31m \x0b \x1a".split(b" "),
    *b'" "" \' \\ , ; \t | { } # % @data @attribute > ~ a>b a>a -0 ? nan inf null NA'.split(b" "),
    *b"1e999 -1e308 1_0 0x10 qid: qid:99999999999999999999 4000000000:1 0:1 -1:1".split(b" "),
    *b"=1+1 =cmd|'x'!A1".split(b" "),
)


# How the rankings of the valid files are read; of the others, as they are declared.
PROPER = {kind: {"labels": "y_*"} for kind in ("csv", "tsv", "gzip", "parquet", "Excel")} | {
    "orders": {"labels": "o", "format": "orders"},
    "LETOR": {"labels": "query,relevance", "format": "pairs"},
}


@dataclass
class Hostile:
    """Files to be written beside each other, of which the first is read, or its folder."""

    kind: str
    attack: str
    files: dict[str, bytes] = field(default_factory=dict)
    folder: bool = False


@cache
def valid() -> dict[str, dict[str, bytes]]:
    """Return valid files by kind, the one to read first."""
    frame = pd.DataFrame(
        {"id": ["u", "v é", "w"], "x": [1.5, None, 3], "y_a": [1, 2, 1], "y_b": [2, 1, None]}
    )
    orders = pd.DataFrame({"who": ["u", "v"], "o": ["a > b ~ c", '"x > y" > a'], "n": [3, 4]})
    found = {}
    for kind, table, ending in (
        ("csv", frame, ".csv"),
        ("orders", orders, ".csv"),
        ("tsv", frame, ".tsv"),
        ("gzip", frame, ".csv.gz"),
        ("parquet", frame, ".parquet"),
        ("Excel", frame, ".xlsx"),
    ):
        file = io.BytesIO()
        if ending == ".csv.gz":
            file.write(gzip.compress(frame.to_csv(index=False).encode()))
        else:
            write_valid(table, file, ending=ending)
        found[kind] = {f"t{ending}": file.getvalue()}
    return found | {
        "odd parquet": {"t.parquet": _odd_parquet()},
        "odd Excel": {"t.xlsx": _odd_excel()},
        "KEBI": {"t.csv": KEBI},
        "XARFF": {"t.xarff": XARFF},
        "LETOR": {"t.txt": LETOR},
        "svmlight": {"t.svm": SVM, "t.svm.query": b"2\n1\n"},
        "ASlib": {name: text.encode() for name, text in SCENARIO.items()},
    }


def _odd_parquet() -> bytes:
    """A file of types that no table of text has."""
    columns = {
        "list": [[1], [], None],
        "struct": [{"a": 1}, None, {"a": 2}],
        "decimal": [Decimal("1.5"), None, Decimal("2")],
        "date": [date(2026, 1, 2), None, date(1, 1, 1)],
        "bytes": [b"\xff", b"", None],
        "bool": [True, None, False],
        "large": [2**63 - 1, 0, None],
        "float": [float("inf"), float("nan"), None],
    }
    arrays, names = [pyarrow.array(cells) for cells in columns.values()], list(columns)
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, names), file)
    return file.getvalue()


def _odd_excel() -> bytes:
    """A sheet of dates, formulas and errors, with a cell in its last column."""
    book = openpyxl.Workbook()
    for row in ([1, None, "a"], [date(2026, 1, 2), "#N/A", True], ["=1/0", 1e300, "x\ny"]):
        book.active.append(row)
    book.active["XFD2000"] = 7
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def hostile(random: Random) -> Hostile:
    """Return a valid file or one that some attack has been at."""
    kind = random.choice(list(valid()))
    files = dict(valid()[kind])
    attack = random.choice(list(ATTACKS))
    name = random.choice(list(files))
    if attack == "none" and len(files) > 1:
        del files[name]
        return Hostile(kind, "a file removed", files, folder=kind == "ASlib")
    files[name] = ATTACKS[attack](files[name], random)
    if attack == "another's ending":
        ending = random.choice(["csv", "parquet", "xlsx", "xarff", "svm", "csv.gz", "tsv", "json"])
        files = {f"t.{ending}": files[name]} if len(files) == 1 else files
    return Hostile(kind, attack, files, folder=kind == "ASlib")


def _mutated(content: bytes, random: Random) -> bytes:
    """Flip, drop, double or insert, some times over."""
    data = bytearray(content)
    for _ in range(random.randint(1, 8)):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice((1, 1, 2, 8, 40)))
        match random.randrange(4):
            case 0:
                data[at:end] = bytes(random.randrange(256) for _ in range(end - at))
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = data[at:end]
            case _:
                data[at:at] = random.choice(NASTY)
    return bytes(data)


def _inside(content: bytes, random: Random) -> bytes:
    """Mutate what a container holds and pack it again, so that its checksums are right."""
    if content.startswith(b"\x1f\x8b"):
        return gzip.compress(_mutated(gzip.decompress(content), random))
    if not content.startswith(b"PK"):
        return _nasty_cells(content, random)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w") as new:
        victim = random.choice(old.namelist())
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, _mutated(part, random) if name == victim else part)
    return packed.getvalue()


def _nasty_cells(content: bytes, random: Random) -> bytes:
    """Put nasty words in place of some cells."""
    mark = b":" if b"qid" in content else random.choice((b",", b"\n", b" "))
    cells = content.split(mark)
    for _ in range(random.randint(1, 4)):
        cells[random.randrange(len(cells))] = random.choice(NASTY)
    return mark.join(cells)


def _shuffled_lines(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(random.choices(lines, k=random.randint(0, 2 * len(lines)))) if lines else b""


def _spliced(content: bytes, random: Random) -> bytes:
    other = next(iter(random.choice(list(valid().values())).values()))
    return content[: random.randrange(len(content) + 1)] + other[random.randrange(len(other)) :]


def _random_words(content: bytes, random: Random) -> bytes:
    return b"".join(random.choices(NASTY, k=random.randint(0, 40)))


ATTACKS = {
    "none": lambda content, random: content,
    "truncated": lambda content, random: content[: random.randrange(len(content) + 1)],
    "mutated": _mutated,
    "mutated inside": _inside,
    "nasty cells": _nasty_cells,
    "lines shuffled": _shuffled_lines,
    "spliced": _spliced,
    "random bytes": lambda content, random: random.randbytes(random.randint(0, 300)),
    "random words": _random_words,
    "another encoding": lambda content, random: content.decode("latin-1").encode(
        random.choice(("utf-16", "utf-8-sig", "utf-32", "cp500"))
    ),
    "another's ending": lambda content, random: content,
}


def read(case: Hostile, folder, random: Random) -> str:
    """Read a case by every way there is; return what was read."""
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    path = folder if case.folder else folder / next(iter(case.files))
    proper = PROPER.get(case.kind, {}) if random.random() < 0.7 else None
    proper = AS_RANKINGS.get(case.attack, proper)
    outcome = "refused"
    readers = (_in_parts, _whole, _as_rankings)
    if case.kind == "bombs":  # each is measured once
        readers = readers[2:] if case.attack in AS_RANKINGS else readers[1:2]
    for reader in readers:
        try:
            outcome = reader(path, proper, random) or outcome
        except DataError as error:
            sentence = str(error)
            assert str(folder) in sentence, f"names no file: {sentence}"
            assert len(sentence) < 2000, f"is no sentence: {sentence[:200]}"
    return outcome


def _whole(path, proper: dict | None, random: Random) -> str:
    table = read_table(path)
    for column in map(str, table.frame.columns):
        table.kind(column)
    return "table"


def _in_parts(path, proper: dict | None, random: Random) -> None:
    n_rows = sum(len(part) for part in read_parts(path, 2))
    assert n_rows == len(read_table(path)), "parts are not the whole"


def _as_rankings(path, proper: dict | None, random: Random) -> str:
    table = read_table(path)
    names = [str(name) for name in table.frame.columns]
    if proper is None:
        proper = {
            "labels": random.choice((None, random.sample(names, random.randint(1, len(names))))),
            "format": random.choice(list(RANKING_FORMATS)),
            "higher_is_better": random.random() < 0.5,
            "unranked": random.choice(("unknown", "below")),
            "instance": random.choice((None, random.choice(names))),
            "letters": random.random() < 0.2,
        }
    rankings = read_rankings(table, **proper)
    for form in ("ranks", "orders", "scores", "pairs"):
        in_form(rankings, form)
    write_rankings(rankings, io.BytesIO(), ending=".xarff")
    return "rankings"


def table_of(counts: Counter, largest) -> str:
    """Return counts by kind, attack and outcome as a table: kinds down, outcomes across."""
    outcomes = ["rankings", "table", "refused", "failed", "hung", "costly"]
    heads = [*outcomes, "largest memory per input", "largest CPU per input"]
    lines = ["| file | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for kind in [*valid(), "bombs", "all"]:
        cells = [
            sum(n for (of, out), n in counts.items() if out == outcome and kind in (of, "all"))
            for outcome in outcomes
        ]
        lines.append(f"| {kind} | " + " | ".join(map(str, cells)) + f" | {largest.cells(kind)} |")
    return "\n".join(lines)
