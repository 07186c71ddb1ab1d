"""The leaderboard of a page: places, intervals and p-values."""

import numpy as np
import pytest
from scipy import stats

from prefero.evaluation import ResultTable, compare, compare_folds
from prefero.report.standings import p_text, standings


def results(scores, scoring="tau"):
    """One row per ranker, data set and fold; scores are [ranker][data set][fold]."""
    return ResultTable(
        {
            **{"dataset": f"d{d}", "ranker": name, "missing": 0.0, "repetition": 0, "fold": f},
            **{scoring: float(value), "train_rows": 30, "test_rows": 10},
        }
        for name, sets in scores.items()
        for d, folds in enumerate(sets)
        for f, value in enumerate(folds)
    )


def drawn(scores, scoring="tau", constant=("same",)):
    table = results(scores, scoring)
    found = compare(table, scoring=scoring)
    return standings("label_ranker", found, table, constant), found, table


FOLDS = {"forest": [(0.8, 0.9, 0.7, 0.84)], "tree": [(0.6, 0.5, 0.7, 0.6)]}
FOLDS["same"] = [(0.2, 0.1, 0.3, 0.1)]


def test_intervals_over_folds_are_corrected_for_shared_training_rows():
    board, _, table = drawn(FOLDS)
    (column,) = board.columns
    assert [row.name for row in board.rows] == ["forest", "tree", "same"]
    for row, mark in zip(board.rows, column.marks, strict=True):
        values = np.array(FOLDS[row.name][0])
        half = stats.t.ppf(0.975, 3) * np.sqrt((1 / 4 + 10 / 30) * values.var(ddof=1))
        assert mark.value == pytest.approx(values.mean())
        assert mark.margin == f"± {half:.3f}"
    behind = {row["ranker"]: row for row in compare_folds(table)}
    for row in board.rows[1:]:
        assert row.behind == f"{behind[row.name]['behind']:.3f}"
        assert row.p == behind[row.name]["p_value"]
    assert column.baseline == column.marks[2].at
    assert board.figures[0][2:] == ("0.810", "0.175")


def test_intervals_over_data_sets_leave_out_what_all_rankers_share():
    steps = np.array([0.0, 0.3, -0.3])
    scores = {"one": [(0.5 + s,) for s in steps], "two": [(0.3 + s,) for s in steps]}
    board, _, _ = drawn(scores)
    ranks, tau = board.columns
    assert [mark.value for mark in ranks.marks] == [1, 2]
    # They differ equally much on each set, so that there is nothing that varies.
    assert [mark.margin for mark in tau.marks] == ["± 0.000", "± 0.000"]
    scores["two"] = [(0.3,), (0.5,), (0.1,)]
    board, _, _ = drawn(scores)
    gaps = np.array([scores["one"][d][0] - scores["two"][d][0] for d in range(3)])
    # Of two rankers the deviation from their mean is half the gap; Morey's factor is 2.
    half = stats.t.ppf(0.975, 2) * (gaps / 2).std(ddof=1) * np.sqrt(2) / np.sqrt(3)
    assert board.columns[1].marks[0].margin == f"± {half:.3f}"


def test_marks_stay_inside_and_in_order():
    board, _, _ = drawn(FOLDS)
    for column in board.columns:
        places = [mark.at for mark in column.marks]
        assert places == sorted(places, reverse=True)
        ends = [end for mark in column.marks for end in (mark.low, mark.high)]
        assert min(ends) >= 5 - 1e-9
        assert max(ends) <= 95 + 1e-9


def test_a_single_fold_has_no_interval():
    board, _, _ = drawn({"a": [(0.5,)], "b": [(0.2,)]}, constant=())
    assert [mark.margin for mark in board.columns[0].marks] == ["", ""]
    assert [mark.low for mark in board.columns[0].marks] == [None, None]
    assert board.columns[0].baseline is None
    assert [row.p_value for row in board.rows] == ["–", "–"]
    assert [row.tags for row in board.rows] == [["best"], []]


def test_who_is_best_and_who_cannot_be_told_apart_is_tagged():
    scores = {"a": [(0.80, 0.81, 0.79)], "b": [(0.79, 0.81, 0.79)], "same": [(0.2, 0.21, 0.19)]}
    board, found, _ = drawn(scores)
    assert found.alike() == ["b"]
    tags = [row.tags for row in board.rows]
    assert tags == [["best"], ["not significantly worse than the best"], ["baseline"]]


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.5, "0.500"), (0.001, "0.001"), (0.00099, "< 0.001"), (1e-300, "< 0.001"), (np.nan, "–")],
)
def test_p_values_are_never_zero(p, text):
    assert p_text(p) == text


def test_regret_is_never_drawn_below_zero():
    board, _, _ = drawn({"a": [(0.0, 0.1, 4.0)], "b": [(3.0, 9.0, 1.0)]}, scoring="regret")
    least = min(mark.low for mark in board.columns[0].marks)
    zero = board.columns[0].marks[0]
    assert least == pytest.approx(5)
    assert zero.low == least
