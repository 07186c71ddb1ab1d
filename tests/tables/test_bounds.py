"""Small files cost little: what they unpack to, declare or imply is bounded before it is made."""

import gzip
import io

import pandas as pd
import pytest

from attack.bombs import AS_RANKINGS, bombs
from prefero.exceptions import DataError
from prefero.tables import read_letor, read_parts, read_rankings, read_table

REFUSED = {
    "rows.csv.gz": "unpacks to more than",
    "one line.csv.gz": "unpacks to more than",
    "blank lines.csv.gz": "rows of 0 columns",
    "narrow.csv.gz": "rows of 1 columns",
    "columns.csv": "100,000 columns are more than the 20,000",
    "indices.svm": "80,000 columns",
    "sizes.kebi": "1,999,998 columns",
    "zeros.parquet": "100,000,000 rows of 1 columns",
    "text.parquet": "unpacks to more than",
    "list.parquet": "50,000,000 rows",
    "sheet.xlsx": "unpacks to more than",
    "rows.xlsx": "unpacks to more than",
    "many rows.xlsx": "rows of 1 columns",
    "styles.xlsx": "more about its sheets",
    "attributes.arff": "20,001 columns",
    "long.csv": "nearly all of which they leave out",
    "orders.csv": "nearly all of which they leave out",
    "pairs.csv": "nearly all of which they leave out",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bomb_is_refused_in_one_sentence(name, tmp_path):
    path = tmp_path / name.replace(" ", "-")
    path.write_bytes(bombs()[name])
    with pytest.raises(DataError, match=REFUSED[name]) as caught:
        read_rankings(path, **AS_RANKINGS.get(name, {}))
    assert str(path) in str(caught.value)


def test_of_a_sparse_file_only_columns_that_occur_are_read():
    table = read_table(io.BytesIO(b"1 99999999:1\n2 7:3\n"))
    assert list(table.frame.columns) == ["relevance", "x7", "x99999999"]
    assert table.frame["x7"].tolist() == [0.0, 3.0]
    with pytest.raises(DataError, match="99,999,999 columns"):
        read_letor_of(b"1 qid:1 99999999:1\n")


def read_letor_of(content):
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(content)
        file.flush()
        return read_letor(file.name)


def test_the_caller_can_raise_the_bound(monkeypatch):
    few = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    assert len(read_table(io.BytesIO(few)).frame) == 1000
    with pytest.raises(DataError, match="may hold: save less of it, or allow more by max_cells="):
        read_table(io.BytesIO(few), max_cells=1000)
    monkeypatch.setenv("PREFERO_MAX_CELLS", "1000")
    with pytest.raises(DataError, match="rows of 2 columns are more"):
        list(read_parts(io.BytesIO(few), 100))
    assert len(read_table(io.BytesIO(few), max_cells=12_000).frame) == 1000


def test_texts_of_a_parquet_file_come_back_as_they_were(tmp_path):
    frame = pd.DataFrame({"a": ["é", None, "é", ""], "b": [1.5, 2.0, None, 0.0]})
    frame.to_parquet(tmp_path / "t.parquet")
    for parts in ([read_table(tmp_path / "t.parquet")], read_parts(tmp_path / "t.parquet", 3)):
        found = pd.concat([part.frame for part in parts], ignore_index=True)
        assert found["a"].isna().tolist() == [False, True, False, False]
        assert found["a"].dropna().tolist() == ["é", "é", ""]
