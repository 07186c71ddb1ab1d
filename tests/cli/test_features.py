"""What commands say of features: all of a table's problems at once."""

import pytest

from cli_program import prefero_inside as prefero

READING = ("--labels", "a,b")


def table(write, header, cells, n=300):
    rows = [f"{cells(i)},{1 + i % 2},{2 - i % 2}" for i in range(n)]
    return write("\n".join([f"{header},a,b", *rows]) + "\n")


def train(path, tmp_path, *options):
    command = ("train", path, "-o", tmp_path / "m.prefero", "--model", "tree")
    return prefero(*command, *READING, *options)


def test_all_columns_of_prose_are_named_at_once(write, tmp_path):
    path = table(write, "question,answer,x", lambda i: f"why {i},since {i},{i % 3}")
    done = train(path, tmp_path)
    assert done.returncode == 3
    assert "column 'question' holds 300 and column 'answer' holds 300 different" in done.stderr
    assert "--text 'question,answer'" in done.stderr
    assert train(path, tmp_path, "--text", "question,answer").returncode == 0
    assert train(path, tmp_path, "--ignore", "question,answer").returncode == 0


def test_all_columns_that_mix_numbers_and_words_are_named_at_once(write, tmp_path):
    def cells(i):
        return f"{'n/k' if i == 5 else i % 4},{'about 3' if i == 7 else i % 3}"

    path = table(write, "size,age", cells, n=20)
    done = train(path, tmp_path)
    assert done.returncode == 3
    assert "data.csv:7:" in done.stderr
    assert "'size' holds 'n/k'" in done.stderr
    assert "as in 'age' ('about 3')" in done.stderr
    assert "add --categorical 'size,age'" in done.stderr
    assert train(path, tmp_path, "--categorical", "size,age").returncode == 0


def test_names_that_are_no_features_are_refused_together(write, tmp_path):
    path = table(write, "x,y", lambda i: f"{i % 4},{i % 3}", n=20)
    done = train(path, tmp_path, "--text", "a,b")
    assert done.returncode == 3
    assert "--text a,b: that is no feature" in done.stderr


@pytest.mark.parametrize("command", ["trian", "comapre"])
def test_a_command_that_is_not_there_is_answered_by_the_nearest(command):
    done = prefero(command)
    assert done.returncode == 2
    assert "Did you mean" in done.stderr


@pytest.mark.parametrize("model", ["forest", "loglinear", "auto"])
def test_an_empty_text_has_no_words(tmp_path, model):
    rows = [
        f"{'' if i % 5 == 0 else 'some words here ' + str(i % 3)},{i},{1 + i % 2},{2 - i % 2}"
        for i in range(20)
    ]
    data, out = tmp_path / "data.csv", tmp_path / "m.prefero"
    data.write_text("note,x,a,b\n" + "\n".join(rows) + "\n")
    quick = ("--preset", "quick") if model == "auto" else ()
    named = ("--labels", "a,b", "--text", "note", "--model", model, *quick)
    done = prefero("train", data, "-o", out, *named)
    assert done.returncode == 0, done.stderr
    done = prefero("predict", out, data)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 21
