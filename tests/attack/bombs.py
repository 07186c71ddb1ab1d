"""Small files that unpack, declare or imply far more than they hold: one for each reader."""

import gzip
import io
import zipfile
from functools import cache

import numpy as np
import openpyxl
import pyarrow
from pyarrow import parquet

_SHEET = "xl/worksheets/sheet1.xml"
_HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
_STYLE = b'<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'


def _names(count, mark=b","):
    return mark.join(b"a%d" % i for i in range(count)) + b"\n"


def _excel(**parts):
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a", "b"])
    book.active.append([1, 2])
    book.save(file)
    packed = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            change = parts.get(name.rpartition("/")[2].partition(".")[0])
            new.writestr(name, change(old.read(name)) if change else old.read(name))
    return packed.getvalue()


def _sheet(row, count, ballast=0):
    sheet = _HEAD + row * count + b"</sheetData></worksheet>"
    noise = np.random.default_rng(0).bytes(ballast).hex().encode()
    return _excel(sheet1=lambda _: sheet, app=lambda old: old + b"<!--" + noise + b"-->")


def _parquet(column, **options):
    file = io.BytesIO()
    table = pyarrow.table({"a": column})
    parquet.write_table(table, file, compression="zstd", **options)
    return file.getvalue()


def _long_text():
    indices = pyarrow.array([0] * 9600, pyarrow.int32())
    text = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(["x" * 1_000_000]))
    return _parquet(text, store_schema=False)


def _long_list():
    ends = pyarrow.array([0, 50_000_000], pyarrow.int32())
    values = pyarrow.array(np.zeros(50_000_000, dtype=np.int8))
    return _parquet(pyarrow.ListArray.from_arrays(ends, values))


@cache
def bombs():
    """Return files by name; every one is below a million bytes."""
    lines = range(50_000)
    return {
        "rows.csv.gz": gzip.compress(b"a,b\n" + b"1,2\n" * 12_000_000),
        "one line.csv.gz": gzip.compress(b"a,b\n" + b"x" * 300_000_000 + b",2\n"),
        "blank lines.csv.gz": gzip.compress(b"a,b\n" + b"\n" * 20_000_000 + b"1,2\n"),
        "narrow.csv.gz": gzip.compress(b"a\n" + b"1\n" * 7_000_000),
        "wide.csv.gz": gzip.compress(_names(15_000) + (b"1" + b"," * 14_999 + b"\n") * 900),
        "columns.csv": _names(100_000) + b"1" + b",1" * 99_999 + b"\n",
        "index.svm": b"1 99999999:1\n2 1:1\n",
        "middle index.svm": b"1 1000000:1\n2 1:1\n",
        "indices.svm": b"".join(
            b"1 %d:1 %d:2\n" % (50 * i + 1, 50 * i + 7) for i in lines[:40_000]
        ),
        "sizes.kebi": b"1,999999,999999\n1,2\n",
        "zeros.parquet": _parquet(np.zeros(100_000_000, dtype=np.int8)),
        "text.parquet": _long_text(),
        "list.parquet": _long_list(),
        "padded.xlsx": _sheet(b'<row><c r="XFD1"><v>1</v></c></row>', 900_000),
        "rows.xlsx": _sheet(b"<row><c><v>1</v></c></row>", 1_200_000),
        "many rows.xlsx": _sheet(b"<row><c><v>1</v></c></row>", 280_000),
        "ballast.xlsx": _sheet(b"<row><c><v>1</v></c></row>", 900_000, ballast=800_000),
        "sheet.xlsx": _sheet(b"<row><c><v>1</v></c></row>", 12_000_000),
        "styles.xlsx": _excel(
            styles=lambda old: old.replace(b"</cellXfs>", _STYLE * 100_000 + b"</cellXfs>")
        ),
        "nominal.arff": b"@relation t\n@attribute a {"
        + b",".join(b"%d" % i for i in lines)
        + b"}\n@data\n"
        + b"49999\n" * 90_000,
        "attributes.arff": b"@relation t\n"
        + b"".join(b"@attribute a%d real\n" % i for i in lines[:40_000])
        + b"@data\n1\n",
        "long.csv": b"i,l,v\n" + b"".join(b"i%d,l%d,1\n" % (i, i) for i in lines),
        "orders.csv": b"o\n" + b"".join(b"l%d>m%d\n" % (i, i) for i in lines),
        "pairs.csv": b"i,p,q\n" + b"".join(b"1,l%d,m%d\n" % (i, i) for i in lines[:40_000]),
    }


# How rankings are read where a file does not say.
AS_RANKINGS = {
    "long.csv": {"labels": "l,v", "format": "long", "instance": "i", "higher_is_better": True},
    "orders.csv": {"labels": "o", "format": "orders"},
    "pairs.csv": {"labels": "p,q", "format": "pairs", "instance": "i"},
}
