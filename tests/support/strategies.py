"""Hypothesis strategies shared by the tests."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prefero.ordering import ranks_in_queries
from prefero.rankings import calibrated_from_scores, strict_ranks


@st.composite
def rank_matrices(draw, rows=(1, 5), labels=(1, 7), ties=True, missing=True):
    """Random rank matrices, with ties and missing labels unless told otherwise."""
    n, c = draw(st.integers(*rows)), draw(st.integers(*labels))
    if ties:
        ranks = draw(arrays(np.float64, (n, c), elements=st.integers(1, c).map(float)))
    else:
        ranks = np.array([draw(st.permutations(range(1, c + 1))) for _ in range(n)], float)
    if missing:
        ranks[draw(arrays(np.bool_, (n, c)))] = np.nan
    return ranks


@st.composite
def calibrated_matrices(draw, rows=(1, 5), labels=(1, 5), missing=True):
    """Random calibrated ranks: signed levels around a virtual label, with ties."""
    n, c = draw(st.integers(*rows)), draw(st.integers(*labels))
    levels = st.integers(1, c).flatmap(lambda level: st.sampled_from([-level, level]))
    scores = draw(arrays(np.float64, (n, c), elements=levels.map(float)))
    if missing:
        scores[draw(arrays(np.bool_, (n, c)))] = np.nan
    return calibrated_from_scores(scores)


@st.composite
def grouped_objects(draw, columns=3, groups=(1, 4), size=(1, 6)):
    """Objects in groups: small-integer values (so ties abound), positions and group starts."""
    sizes = draw(st.lists(st.integers(*size), min_size=groups[0], max_size=groups[1]))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n = int(starts[-1])
    values = draw(arrays(np.float64, (n, columns), elements=st.integers(-3, 3).map(float)))
    ranks = draw(arrays(np.float64, n, elements=st.integers(1, 6).map(float)))
    return values, ranks, starts


@st.composite
def neighborhoods(draw, **options):
    """Rank matrices with sets of their rows: Y, indices, weights, indptr."""
    Y = draw(rank_matrices(rows=(1, 6), **options))
    members = st.lists(st.integers(0, len(Y) - 1), max_size=5)
    sets = draw(st.lists(members, min_size=1, max_size=4))
    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.array([i for members in sets for i in members], dtype=np.int64)
    weights = draw(st.lists(st.integers(0, 3), min_size=len(indices), max_size=len(indices)))
    return Y, indices, np.array(weights, dtype=float), indptr


@st.composite
def edge_lists(draw, graphs=(1, 4), labels=(2, 6)):
    """Random simple directed graphs, often cyclic, as (edge list a graph, number of labels)."""
    c = draw(st.integers(*labels))
    directions = st.lists(
        st.sampled_from([-1, 0, 1]), min_size=c * (c - 1) // 2, max_size=c * (c - 1) // 2
    )
    pairs = list(combinations(range(c), 2))
    result = []
    for _ in range(draw(st.integers(*graphs))):
        signs = draw(directions)
        result.append([p if s > 0 else p[::-1] for p, s in zip(pairs, signs, strict=True) if s])
    return result, c


def noisy_linear_problem(n, features, labels, random_state=0):
    """Features and complete strict ranks by noisy linear utilities."""
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n, features))
    utilities = X @ rng.normal(size=(features, labels)) + 0.3 * rng.normal(size=(n, labels))
    return X, np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1.0


def linear_data(n=80, features=3, labels=4, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    utility = X @ rng.normal(size=(features, labels)) + noise * rng.normal(size=(n, labels))
    return X, strict_ranks(utility).astype(float)


def linear_values(X, labels):
    """h of one linear utility per label with intercept: what the default base functions are."""
    X = np.column_stack([X, np.ones(len(X))])
    values = np.zeros((len(X), labels, X.shape[1], labels))
    for label in range(labels):
        values[:, label, :, label] = X
    return values.reshape(len(X), labels, -1)


def sample_orders(seed=0, n_groups=40, size=6, noise=0.3):
    """Linear orders of random objects, with qid in a random mixture of rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_groups * size, 4))
    qid = rng.permutation(np.repeat(np.arange(n_groups), size))
    worth = X @ [1.0, -1.0, 0.5, 0.0] + noise * rng.normal(size=len(X))
    return X, ranks_in_queries(worth, qid, higher_is_better=True), qid
