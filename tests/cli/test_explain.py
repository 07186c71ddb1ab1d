"""explain, and the way from a chemist's table to an answer, run as a user runs them."""

import json

import numpy as np
import pandas as pd
import pytest

from cli_program import prefero as prefero_outside
from cli_program import prefero_inside as prefero


@pytest.fixture(scope="module")
def yields(tmp_path_factory):
    """Yields of four conditions for thirty substrates; some reactions were never run."""
    folder = tmp_path_factory.mktemp("chemistry")
    rng = np.random.default_rng(3)
    n = 30
    acidity, solvent = rng.normal(9, 2, n).round(2), rng.choice(["DMF", "THF", "water"], n)
    effects = np.outer(acidity - 9, [-6, -2, 2, 6]) + 15 * np.outer(solvent == "DMF", [1, 0, 0, 1])
    found = (50 + effects + rng.normal(0, 3, (n, 4))).clip(0, 100).round(1).astype(object)
    found[rng.random((n, 4)) < 0.25] = ""
    found[7] = ""
    table = pd.DataFrame(
        {"substrate": [f"S{i}" for i in range(n)], "pKa": acidity, "solvent": solvent}
    ).join(pd.DataFrame(found, columns=["y_A", "y_B", "y_C", "y_D"]))
    table.to_csv(folder / "yields.csv", index=False)
    new = pd.DataFrame({"solvent": ["THF", "DMF"], "pKa": [4.0, 13.0], "substrate": ["N1", "N2"]})
    new.to_csv(folder / "new.csv", index=False)
    return folder


READING = ("--labels", "y_*", "--format", "scores", "--higher-is-better")


def test_from_a_table_of_yields_to_an_answer(yields):
    """The installed program, where it writes and where it answers; the rest in this process."""
    data, model, new = yields / "yields.csv", yields / "m.prefero", yields / "new.csv"
    steps = [
        ("check", data, *READING),
        ("train", data, "-o", model, *READING, "--ignore", "substrate", "--model", "forest"),
        ("predict", model, new, "--output", "order", "--keep", "substrate", "--expected-tau"),
        ("info", model),
        ("explain", model, new, "--row", "2"),
    ]
    shown = []
    for step in steps:
        run = prefero_outside if step[0] in ("train", "predict") else prefero
        done = run(*step)
        assert done.returncode == 0, done.stderr
        shown.append(done.stdout + done.stderr)
    assert "1 empty" in shown[0]
    assert "1 of 30 rankings are empty and left out" in shown[1]
    assert "Trained forest on 29 rankings of 4 labels by 2 features" in shown[1]
    first, second = (line.split(",") for line in shown[2].splitlines()[1:])
    assert first[:2] == ["N1", "y_A > y_B > y_C > y_D"]
    assert second[1].startswith("y_D > y_C")
    assert "ForestLabelRanker" in shown[3]
    assert "y_D is ahead of y_C" in shown[4]
    assert "| pKa " in shown[4]


@pytest.fixture(scope="module", params=["forest", "neighbors", "pairwise"])
def model(request, yields):
    path = yields / f"{request.param}.prefero"
    options = (*READING, "--ignore", "substrate", "--model", request.param)
    assert prefero("train", yields / "yields.csv", "-o", path, *options).returncode == 0
    return path


def test_a_pair_as_text_and_json(model, yields):
    arguments = ("explain", model, yields / "new.csv", "--row", "1", "--pair", "y_A, y_D")
    text = prefero(*arguments)
    assert text.returncode == 0, text.stderr
    assert text.stdout.startswith("Row 1: y_A > y_B")
    assert "y_A is ahead of y_D" in text.stdout
    why = json.loads(prefero(*arguments, "--json").stdout)
    assert why["pair"] == ["y_A", "y_D"]
    assert why["row"] == 1
    assert why["margin"] > 0
    assert why["effects"][0]["feature"] == "pKa"


def test_figure(yields, model):
    pytest.importorskip("matplotlib")
    path = yields / "why.svg"
    done = prefero("explain", model, yields / "new.csv", "--figure", path)
    assert done.returncode == 0, done.stderr
    assert "<svg" in path.read_text()


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--row", "3"], 3, "new.csv: there are 2 rows, so --row cannot be 3"),
        (["--row", "0"], 2, "--row"),
        (["--pair", "y_A"], 2, "--pair takes two labels"),
        (["--pair", "y_A,y_Z"], 3, "There is no label 'y_Z' (did you mean 'y_D'?); there are y_A"),
    ],
)
def test_what_cannot_be_explained(yields, options, code, sentence):
    path = yields / "consensus.prefero"
    arguments = (*READING, "--ignore", "substrate", "--model", "consensus")
    prefero("train", yields / "yields.csv", "-o", path, *arguments)
    done = prefero("explain", path, yields / "new.csv", *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
