"""Figures that ship with Prefero."""

import numpy as np
import pytest

from prefero.datasets import get_results


def test_stored_figures_stand_beside_the_constant_order():
    results = get_results("real")
    assert results.DESCR.startswith("Prefero ")
    assert "reproduction/real.py" in results.DESCR
    by_set = {}
    for row in results.data:
        by_set.setdefault(row["dataset"], {})[row["ranker"]] = row
    for name, rows in by_set.items():
        assert {"consensus order", "consensus order (Kemeny)", "Forest"} <= rows.keys(), name
        for row in rows.values():
            assert -1 <= row["tau"] <= 1
            assert 0 <= row["top1"] <= 1
            assert 0 <= row["calibration_error"] <= 0.5
            assert np.isnan(row["regret"]) or row["regret"] >= 0


def test_stored_figures_as_a_table():
    frame = get_results("real", as_frame=True).data
    assert len(frame) == len(get_results("real").data)
    assert frame["tau"].dtype == float
    with pytest.raises(ValueError, match="no results 'unreal'; there are real"):
        get_results("unreal")
