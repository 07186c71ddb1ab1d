import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing, indexable

from oracles import pair_sign, ranking_loss
from oracles import ranking_error as ranking_error_oracle
from prefero.metrics import ranking_error
from prefero.preferences import DECOMPOSITIONS, PreferenceGraphs, decompose
from strategies import edge_lists, rank_matrices

FIGURE_2 = [(1, 2), (1, 4), (1, 5), (2, 3), (3, 1), (3, 5), (5, 2), (5, 4)]
decompositions = st.sampled_from(DECOMPOSITIONS)


def random_scores(shape, seed, spread=1.0):
    """Scores with a few ties."""
    return spread * np.random.default_rng(seed).integers(-6, 6, shape) / 2.0


@pytest.mark.parametrize(
    ("decomposition", "error"),
    [("edges", 3 / 8), ("domination", 2 / 4), ("dominated", 3 / 5), ("graph", 1)],
)
def test_errors_of_figure_2(decomposition, error):
    graphs = PreferenceGraphs.from_pairs([FIGURE_2], labels=[1, 2, 3, 4, 5])
    assert ranking_error(graphs, [[5, 4, 3, 2, 1]], decomposition) == error


@given(edge_lists(), decompositions, st.integers(0, 99))
def test_errors_of_any_graphs(drawn, decomposition, seed):
    edges, c = drawn
    graphs = PreferenceGraphs.from_pairs(edges, n_labels=c)
    scores = random_scores(graphs.shape, seed)
    expected = [
        ranking_error_oracle(e, f, decomposition) for e, f in zip(edges, scores, strict=True)
    ]
    found = ranking_error(graphs, scores, decomposition, average=False)
    np.testing.assert_allclose(found, expected)


@given(rank_matrices(), decompositions, st.integers(0, 99))
def test_errors_of_layers_equal_those_of_their_edges(ranks, decomposition, seed):
    scores = random_scores(ranks.shape, seed)
    graphs = PreferenceGraphs.from_ranks(ranks)
    expected = [
        ranking_error_oracle(list(map(tuple, graphs.edges(i))), scores[i], decomposition)
        for i in range(len(graphs))
    ]
    found = ranking_error(ranks, scores, decomposition, average=False)
    np.testing.assert_allclose(found, expected)


@given(edge_lists(), decompositions, st.integers(0, 99), st.sampled_from([1.0, 30.0, 1000.0]))
def test_losses_of_any_graphs(drawn, decomposition, seed, spread):
    edges, c = drawn
    graphs = PreferenceGraphs.from_pairs(edges, n_labels=c)
    scores = random_scores(graphs.shape, seed, spread)
    expected = [ranking_loss(e, f, decomposition) for e, f in zip(edges, scores, strict=True)]
    found = decompose(graphs, decomposition).loss(scores).loss
    np.testing.assert_allclose(found, expected, atol=1e-14)


@given(
    rank_matrices(labels=(1, 12)),
    decompositions,
    st.integers(0, 99),
    st.sampled_from([0.0, 1.0, 30.0, 1000.0]),
)
def test_layers_have_the_losses_and_weights_of_their_edges(ranks, decomposition, seed, spread):
    graphs = PreferenceGraphs.from_ranks(ranks)
    same = PreferenceGraphs(*graphs.compressed(), n_labels=graphs.n_labels)
    scores = random_scores(ranks.shape, seed, spread)
    layered = decompose(graphs, decomposition).loss(scores)
    general = decompose(same, decomposition).loss(scores)
    for found, expected in zip(layered, general, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


@given(rank_matrices(labels=(1, 12)), decompositions, st.integers(0, 99), st.booleans())
def test_gradients_are_weighted_differences_of_the_sums(ranks, decomposition, seed, layered):
    graphs = PreferenceGraphs.from_ranks(ranks)
    if not layered:
        graphs = PreferenceGraphs(*graphs.compressed(), n_labels=graphs.n_labels)
    cut = decompose(graphs, decomposition)
    scores = random_scores(ranks.shape, seed)
    weight = np.arange(len(ranks)) / 2.0
    sums = cut.loss(scores)
    loss, slopes = cut.gradient(scores.copy(), weight)
    assert loss == pytest.approx(weight @ sums.loss)
    np.testing.assert_allclose(slopes, weight[:, None] * (sums.incoming - sums.outgoing))


@given(rank_matrices(labels=(2, 8)), decompositions, st.integers(0, 99))
def test_weights_are_the_gradient_by_the_scores(ranks, decomposition, seed):
    cut = decompose(PreferenceGraphs.from_ranks(ranks), decomposition)
    scores = random_scores(ranks.shape, seed)
    sums = cut.loss(scores)
    for label in range(ranks.shape[1]):
        step = np.zeros(ranks.shape)
        step[:, label] = 1e-5
        slope = (cut.loss(scores + step).loss - cut.loss(scores - step).loss) / 2e-5
        gradient = sums.incoming[:, label] - sums.outgoing[:, label]
        np.testing.assert_allclose(gradient, slope, atol=1e-8)


@given(edge_lists(), st.integers(0, 99))
def test_a_callable_may_be_any_decomposition(drawn, seed):
    edges, c = drawn
    graphs = PreferenceGraphs.from_pairs(edges, n_labels=c)
    scores = random_scores(graphs.shape, seed)

    def by_preferred(part):
        return [np.flatnonzero(part[:, 0] == vertex) for vertex in np.unique(part[:, 0])]

    np.testing.assert_allclose(
        ranking_error(graphs, scores, by_preferred, average=False),
        ranking_error(graphs, scores, "domination", average=False),
    )


@pytest.mark.parametrize("subgraph", [[], [5], [-1]])
def test_a_callable_with_foreign_edges_is_refused(subgraph):
    graphs = PreferenceGraphs.from_pairs([[(0, 1)]], n_labels=2)
    with pytest.raises(ValueError, match="graph 0: expected one or more of its edge indices"):
        ranking_error(graphs, [[0, 1]], lambda edges: [subgraph])


@given(rank_matrices())
def test_edges_of_ranks_are_the_ordered_pairs(ranks):
    graphs = PreferenceGraphs.from_ranks(ranks)
    for row, rank in enumerate(ranks):
        found = {tuple(edge) for edge in graphs.edges(row).tolist()}
        c = len(rank)
        assert found == {(i, j) for i in range(c) for j in range(c) if pair_sign(rank, i, j) == 1}
        assert graphs.edge_counts()[row] == len(found)
        assert set(np.flatnonzero(graphs.touched()[row])) == {label for e in found for label in e}


def test_classes_and_relevance_are_figure_1():
    classes = PreferenceGraphs.from_classes([1], labels=[1, 2, 3, 4, 5])
    assert classes.edges(0).tolist() == [[0, 1], [0, 2], [0, 3], [0, 4]]
    indicator = PreferenceGraphs.from_relevance([[1, 1, 0, 0, 0]])
    assert indicator.edges(0).tolist() == [[i, j] for i in (0, 1) for j in (2, 3, 4)]
    graded = PreferenceGraphs.from_relevance(pd.DataFrame([[2, 1, 0, np.nan]], columns=[*"abcd"]))
    assert graded.edges(0).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graded.labels.tolist() == [*"abcd"]
    with pytest.raises(ValueError, match=r"y\[1\] is 'x'"):
        PreferenceGraphs.from_classes(["a", "x"], labels=["a", "b"])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[("a", "b")], [("b", "b")]], "Graph 1: label 'b' is preferred to itself"),
        ([[("a", "b"), ("a", "b")]], "Graph 0: there are two edges between the labels 'a' and 'b'"),
        ([[], [("b", "a"), ("a", "b")]], "Graph 1: there are two edges"),
        ([[("a", "z")]], "Graph 0: 'z' is not among the labels"),
    ],
)
def test_graphs_that_are_not_simple_are_refused(pairs, message):
    with pytest.raises(ValueError, match=message):
        PreferenceGraphs.from_pairs(pairs, labels=["a", "b", "c"])


def test_wrong_indices_and_offsets_are_refused():
    with pytest.raises(ValueError, match=r"Graph 0: the edge \[0, 3\] leaves the label indices"):
        PreferenceGraphs.from_pairs([[(0, 3)]], n_labels=3)
    with pytest.raises(ValueError, match="indptr must rise"):
        PreferenceGraphs([0, 2], [[0, 1]], n_labels=2)
    with pytest.raises(ValueError, match="Give either labels"):
        PreferenceGraphs.from_pairs([[(0, 1)]])
    with pytest.raises(ValueError, match="decomposition must be one of 'graph'"):
        ranking_error([[1, 2]], [[0, 1]], "vertices")
    with pytest.raises(ValueError, match="scores has 3 labels, but Y has 2"):
        ranking_error([[1, 2]], [[0, 1, 2]])


def test_an_error_without_edges_is_undefined():
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(ranking_error([[1, 1]], [[0, 1]]))


@given(edge_lists(graphs=(1, 6)), st.data())
def test_indexing_takes_the_graphs_asked_for(drawn, data):
    edges, c = drawn
    graphs = PreferenceGraphs.from_pairs(edges, n_labels=c)
    rows = data.draw(st.lists(st.integers(0, len(edges) - 1), max_size=6))
    chosen = graphs[np.array(rows, dtype=int)]
    assert [chosen.edges(k).tolist() for k in range(len(rows))] == [
        graphs.edges(row).tolist() for row in rows
    ]
    mask = np.isin(np.arange(len(edges)), rows)
    assert graphs[mask].n_edges == sum(len(edges[row]) for row in set(rows))
    assert graphs[-1:].edges(0).tolist() == graphs[-1].edges(0).tolist()
    assert graphs.edges(-1).tolist() == [list(edge) for edge in edges[-1]]


@pytest.mark.parametrize("layered", [True, False])
def test_cross_validation_indexes_graphs(layered):
    graphs = PreferenceGraphs.from_ranks([[1, 2, 3], [3, 1, 2], [2, 2, 1], [1, 3, 2]])
    if not layered:
        graphs = PreferenceGraphs(*graphs.compressed(), n_labels=3)
    X, y = indexable(np.zeros((4, 1)), graphs)
    folds = [_safe_indexing(y, test) for _, test in KFold(2).split(X, y)]
    again = PreferenceGraphs.concatenate(folds)
    assert [again.edges(i).tolist() for i in range(4)] == [
        graphs.edges(i).tolist() for i in range(4)
    ]


def test_concatenation_mixes_layers_and_lists_of_edges():
    ranks = PreferenceGraphs.from_ranks([[1, 2, 3]])
    pairs = PreferenceGraphs.from_pairs([[(2, 0)]], n_labels=3)
    both = PreferenceGraphs.concatenate([ranks, pairs])
    assert both.layers is None
    assert both.edges(1).tolist() == [[2, 0]]
    with pytest.raises(ValueError, match="part 1 has 2"):
        PreferenceGraphs.concatenate([ranks, PreferenceGraphs.from_ranks([[1, 2]])])


# A and B are inner, each with a leaf of its own; A2 is inner too.
PARENTS = {"A": "*", "A1": "A", "A2": "A", "A2x": "A2", "A2y": "A2", "B": "*", "B1": "B"}
NAMES = list(PARENTS)


class TestHierarchy:
    def layers(self, *labels, layers=3):
        indicator = pd.DataFrame([[name in labels for name in NAMES]], columns=NAMES)
        graphs = PreferenceGraphs.from_hierarchy(indicator, PARENTS, layers)
        return dict(zip(NAMES, graphs.layers[0].tolist(), strict=True))

    def test_siblings_follow_the_right_leaf(self):
        found = self.layers("A", "A2", "A2x")
        assert found == {"A2x": 0, "A2y": 1, "A2": 1, "A1": 2, "A": 2, "B": 2, "B1": 2}

    def test_ancestors_need_not_be_listed(self):
        assert self.layers("A2x") == self.layers("A", "A2", "A2x")

    def test_a_path_may_end_in_an_inner_vertex(self):
        found = self.layers("A")
        assert found == {"A": 0, "A1": 1, "A2": 2, "A2x": 2, "A2y": 2, "B": 2, "B1": 2}

    def test_the_nearest_right_leaf_counts(self):
        found = self.layers("A1", "B1")
        assert found == {"A1": 0, "B1": 0, "A": 1, "B": 1, "A2": 2, "A2x": 2, "A2y": 2}

    def test_more_layers_are_steps_in_the_tree(self):
        found = self.layers("A1", layers=5)
        assert found == {"A1": 0, "A": 1, "A2": 2, "A2x": 2, "A2y": 2, "B": 3, "B1": 3}

    def test_no_label_gives_no_edge(self):
        assert set(self.layers().values()) == {-1}

    @pytest.mark.parametrize(
        ("parents", "message"),
        [({"a": "b", "b": "a"}, "its own ancestor"), ({"a": "r"}, "'b' has none")],
    )
    def test_what_is_no_tree_is_refused(self, parents, message):
        with pytest.raises(ValueError, match=message):
            PreferenceGraphs.from_hierarchy(pd.DataFrame([[1, 0]], columns=["a", "b"]), parents)
