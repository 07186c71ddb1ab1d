"""The list of labels that Mulan keeps beside an ARFF file."""

import pytest

from cli_program import prefero_inside as prefero
from prefero.exceptions import DataError
from prefero.tables import _arff, read_rankings, read_table

ARFF = """@relation news
@attribute words numeric
@attribute sport {0,1}
@attribute economy {0,1}
@attribute 'world politics' {0,1}
@data
"""
ROWS = [f"{i % 7}.5,{int(i % 7 > 3)},{i % 2},{int(i % 7 < 2)}" for i in range(24)]
LIST = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="world politics"><label name="economy"/></label>
<label name="sport"></label>
</labels>
"""


@pytest.fixture
def news(tmp_path):
    path = tmp_path / "news.arff"
    path.write_text(ARFF + "\n".join(ROWS) + "\n")
    path.with_suffix(".xml").write_text(LIST)
    return path


def test_the_list_names_the_labels_in_the_order_of_the_file(news):
    table = read_table(news)
    assert table.declared.labels == ["sport", "economy", "world politics"]
    rankings = read_rankings(news)
    assert rankings.labels == table.declared.labels
    assert rankings.features == ["words"]
    assert rankings.relevance.iloc[5].tolist() == [1, 1, 0]


@pytest.mark.parametrize("part", ["news-train.arff", "news-test.arff"])
def test_one_list_serves_the_parts_of_a_set(news, part):
    path = news.rename(news.with_name(part))
    assert read_table(path).declared.format == "relevance"


def test_without_a_list_nothing_is_declared(news):
    news.with_suffix(".xml").unlink()
    assert read_table(news).declared.labels is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<labels><label name='sport'/>", "this is no XML (no element found)"),
        ("", "this is no XML"),
        ("<labels></labels>", "there is no label"),
        ("<labels><label/></labels>", "a label has no name"),
        ("<labels><label name='sport'/><label name='sport'/></labels>", "'sport' is there twice"),
        ("<labels><label name='art'/></labels>", "has no attribute 'art'"),
        ("<html><body/></html>", "<html> is not expected here"),
        ("<labels><name>sport</name></labels>", "<name> is not expected here"),
        ("<labels>" + "<label name='a'>" * 70, "is not expected here"),
        (
            '<!DOCTYPE labels [<!ENTITY a "sport"><!ENTITY b "&a;&a;&a;">]>'
            "<labels><label name='&b;'/></labels>",
            "a document type is declared",
        ),
        (
            '<!DOCTYPE labels SYSTEM "file:///etc/passwd"><labels><label name="sport"/></labels>',
            "a document type is declared",
        ),
        ("<labels><label name='&undeclared;'/></labels>", "this is no XML (undefined entity)"),
    ],
)
def test_a_bad_list_is_refused_in_one_sentence(news, content, said):
    news.with_suffix(".xml").write_text(content)
    with pytest.raises(DataError) as caught:
        read_table(news)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(news.with_suffix(".xml")))
    done = prefero("check", news)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)


def test_a_list_that_is_too_large_is_not_read(news, monkeypatch):
    monkeypatch.setattr(_arff, "_LARGEST", 64)
    with pytest.raises(DataError, match="at most"):
        read_table(news)


def test_every_command_knows_what_is_relevant(news, tmp_path):
    model = tmp_path / "m.prefero"
    for command, told in (
        (("check", news), "labels are relevant"),
        (("convert", news, "-", "--to", "calibrated"), "[economy"),
        (("aggregate", news), "["),
        (("compare", news, "--rankers", "binary-relevance", "--folds", "2"), "subset loss"),
        (("train", news, "-o", model, "--model", "binary-relevance"), ""),
        (("predict", model, news, "--output", "relevant"), "sport,economy,world politics"),
    ):
        done = prefero(*command)
        assert done.returncode == 0, done.stderr
        assert told in done.stdout


def test_compare_refuses_tables_of_two_tasks(news, tmp_path):
    ranks = tmp_path / "ranks.xarff"
    ranks.write_text(
        "@relation r\n@attribute words numeric\n@attribute o ranking {a,b}\n@data\n"
        + "1,a>b\n2,b>a\n" * 6
    )
    done = prefero("compare", news, ranks, "--folds", "2")
    assert done.returncode == 3
    assert "ranks.xarff: some tables say which labels are relevant" in done.stderr
