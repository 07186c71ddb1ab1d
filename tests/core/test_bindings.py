"""The compiled kernels refuse indices that lie outside the arrays they point into."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from prefero import _core

RANKS = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
SCORES = np.zeros((2, 2))


def whole(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def small(*values: Any) -> Any:
    return np.array(values, dtype=np.int32)


def bundle(kernel: Callable[..., Any], *more: Any) -> Callable[..., Any]:
    return lambda starts, rows: kernel(RANKS, starts, rows, np.ones(len(rows)), *more)


SETS = [
    bundle(_core.borda_batch),
    bundle(_core.mean_offsets),
    bundle(_core.fit_mallows_batch, 3),
    bundle(_core.pair_votes_batch, 1.0),
    bundle(_core.kemeny_batch, 1.0),
    bundle(_core.fit_plackett_luce_batch, 1.0, 1e-6, 3),
]


@pytest.mark.parametrize("kernel", SETS)
@pytest.mark.parametrize(
    ("starts", "rows"),
    [
        (whole(0, 2), whole(0, 3)),
        (whole(0, 2), whole(-1, 0)),
        (whole(0, 3), whole(0, 1)),
        (whole(0, 2, 1, 2), whole(0, 1)),
        (whole(1, 2), whole(0, 1)),
        (whole(), whole()),
    ],
)
def test_members_outside_the_matrix_are_refused(
    kernel: Callable[..., Any], starts: Any, rows: Any
) -> None:
    kernel(whole(0, 2), whole(0, 2))
    with pytest.raises(ValueError, match=r"starts|rows"):
        kernel(starts, rows)


@pytest.mark.parametrize("label", [-1, 2])
def test_labels_outside_the_scores_are_refused(label: int) -> None:
    layer = small([0, 1], [0, 1])
    order = small([0, 1], [1, label])
    cut = (whole(0, 1, 2), whole(0, 1, 2))
    with pytest.raises(ValueError, match="order must hold labels"):
        _core.layered_loss(SCORES, order, layer, 0)
    with pytest.raises(ValueError, match="order must hold labels"):
        _core.layered_gradient(SCORES.copy(), order, layer, 0, np.ones(2))
    with pytest.raises(ValueError, match="order must hold labels"):
        _core.layered_violations(SCORES, order, layer, 0)
    for edges in (small(0, label), small(1, 1)), (small(1, 1), small(0, label)):
        with pytest.raises(ValueError, match="edges must"):
            _core.subgraph_loss(SCORES, *cut, *edges)
        with pytest.raises(ValueError, match="edges must"):
            _core.subgraph_violations(SCORES, *cut, *edges)
        with pytest.raises(ValueError, match="edges must"):
            _core.boosting_sums(np.zeros((2, 2, 1)), *cut, *edges, np.ones(2))
    with pytest.raises(ValueError, match="order must hold every label"):
        _core.improve_order(np.zeros((2, 2)), whole(0, label))


@pytest.mark.parametrize("cut", [(whole(0, 2, 1), whole(0, 1)), (whole(0, 1, 2), whole(0, 2, 1))])
def test_subgraphs_outside_the_edges_are_refused(cut: Any) -> None:
    with pytest.raises(ValueError, match="must fit"):
        _core.subgraph_loss(SCORES, *cut, small(0), small(1))


@pytest.mark.parametrize("rank", [0, 3])
def test_centers_that_are_no_ranks_are_refused(rank: int) -> None:
    with pytest.raises(ValueError, match="centers must hold ranks"):
        _core.mallows_pairwise(np.array([[1, rank]]), np.ones(1))


@pytest.mark.parametrize(
    ("begin", "column"),
    [
        (whole(0, 1, 2), small(0, 2)),
        (whole(0, 1, 2), small(-1, 0)),
        (whole(0, 1, 3), small(0, 1)),
        (whole(0, 2, 1, 2), small(0, 1)),
    ],
)
def test_columns_outside_the_features_are_refused(begin: Any, column: Any) -> None:
    with pytest.raises(ValueError, match="X_"):
        _core.sparse_product(begin, column, np.ones(2), np.ones((2, 1)), np.empty((2, 1)))


def perceptron(**more: Any) -> dict[str, Any]:
    """What both kinds of epochs take of two rows of two features."""
    return {
        "X_begin": whole(0, 1, 2),
        "X_column": small(0, 1),
        "X_value": np.ones(2),
        "row_weight": np.ones(2),
        "order": whole(1, 0),
        "margin": 0.0,
        "alpha": 10,
        "weights": np.zeros((2, 2)),
        "drift": np.zeros((2, 2)),
        "updates": whole(0, 0),
        "steps": 0,
        **more,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"X_column": small(0, 2)},
        {"edge_begin": whole(0, 1, 3)},
        {"preferred": small(0, 2)},
        {"other": small(-1, 0)},
        {"order": whole(0, 2)},
    ],
)
def test_a_perceptron_stays_inside_its_arrays(change: dict[str, Any]) -> None:
    edges = {"edge_begin": whole(0, 1, 2), "preferred": small(0, 1), "other": small(1, 0)}
    arguments = perceptron(**edges, alpha_per_edge=False)
    _core.perceptron_epoch(**arguments)
    with pytest.raises(ValueError, match="must"):
        _core.perceptron_epoch(**arguments | change)


@pytest.mark.parametrize(
    "change",
    [
        {"X_column": small(0, 2)},
        {"labels": np.array([[0, 2], [1, 0]], dtype=np.int32)},
        {"labels": np.array([[0, -1], [1, 0]], dtype=np.int32)},
        {"labels": np.array([[0, 1]], dtype=np.int32)},
        {"layer": np.array([[0], [0]], dtype=np.int32)},
        {"layer": np.array([[0, 0], [0, 1]], dtype=np.int32)},
        {"updates": whole(0)},
        {"order": whole(0, 2)},
    ],
)
def test_a_perceptron_of_layers_stays_inside_its_arrays(change: dict[str, Any]) -> None:
    labels = np.array([[0, 1], [1, 0]], dtype=np.int32)
    layer = np.array([[0, 1], [0, 1]], dtype=np.int32)
    arguments = perceptron(labels=labels, layer=layer, alpha_per_edge=True)
    _core.perceptron_layers_epoch(**arguments)
    with pytest.raises(ValueError, match="must"):
        _core.perceptron_layers_epoch(**arguments | change)
