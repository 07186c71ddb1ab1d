"""No page names a file, a command, an option, a name or a parameter that does not exist."""

import pytest

from doc_names import PAGES, ROOT, wrong_commands, wrong_files, wrong_names, wrong_parameters

CHECKS = [wrong_files, wrong_commands, wrong_names, wrong_parameters]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_pages_name_what_exists(check):
    pages = {page.relative_to(ROOT): page.read_text("utf-8") for page in PAGES}
    assert len(pages) > 40
    wrong = {str(page): sorted(set(check(text))) for page, text in pages.items()}
    assert not {page: names for page, names in wrong.items() if names}


@pytest.mark.parametrize(
    ("check", "text", "found"),
    [
        (wrong_files, "See `docs/nowhere.md` and `docs/data.md`.", ["docs/nowhere.md"]),
        (wrong_files, "`spread.hpp`, `spreed.hpp`, `your.csv`", ["spreed.hpp"]),
        (wrong_files, "```sh\nprefero check examples/yelds.csv\n```", ["examples/yelds.csv"]),
        (wrong_commands, "`--labels`, `--lables`", ["--lables"]),
        (wrong_commands, "`prefero train t.csv --top 2`", ["prefero train --top"]),
        (wrong_commands, "```console\n$ prefero trian t.csv\n```", ["prefero trian"]),
        (wrong_commands, "`make demo`, `make coffee`", ["make coffee"]),
        (
            wrong_commands,
            "    python reproduction/real.py --sets a --seats b",
            ["reproduction/real.py --seats"],
        ),
        (wrong_names, "`prefero.metrics.kendall_tau`", []),
        (wrong_names, "`prefero.metrics.kendal_tau`", ["prefero.metrics.kendal_tau"]),
        (wrong_names, "`n_neighbors_`, `n_neighbours_`", ["n_neighbours_"]),
        (wrong_names, "`ForestLabelRanker`, `ForrestLabelRanker`", ["ForrestLabelRanker"]),
        (wrong_parameters, "`ForestLabelRanker(trees=5)`", ["ForestLabelRanker(trees)"]),
        (wrong_parameters, "`fit(X, y, scores=S)`, `fit(X, y, score=S)`", ["fit(score)"]),
    ],
)
def test_what_does_not_exist_is_found(check, text, found):
    assert list(check(text)) == found
