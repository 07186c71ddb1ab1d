"""The examples of the pages on studies and on model files run, one after the other."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(
    ("page", "written"),
    [("study.md", {"ranks.svg", "study-cells"}), ("model-files.md", {"model.prefero"})],
)
def test_examples_of_the_page(page, written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL):
        exec(block, names)
    plt.close("all")
    assert {file.name for file in tmp_path.iterdir()} == written
