"""The examples of the page on ordering run, one after the other."""

import re
from pathlib import Path

from sklearn import config_context

PAGE = Path(__file__).parents[1] / "docs" / "ordering.md"


def test_examples_of_the_page(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    names = {}
    with config_context():
        for block in blocks:
            exec(block, names)
        assert list(names["orderer"].predict([[1.0, 0.5], [2.5, 0.2]])) == [2, 1]
    assert "larger is better" in capsys.readouterr().out
