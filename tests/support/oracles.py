"""Plain versions of the kernels: a few lines each, which the fast code must agree with."""

import itertools
from itertools import combinations, pairwise

import numpy as np


def pair_counts(a, b):
    """Concordant, discordant, tied in a only, tied in b only, tied in both."""
    counts = [0, 0, 0, 0, 0]
    known = [i for i in range(len(a)) if not (np.isnan(a[i]) or np.isnan(b[i]))]
    for i, j in combinations(known, 2):
        s, t = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
        if s * t != 0:
            counts[0 if s == t else 1] += 1
        elif s == t:
            counts[4] += 1
        else:
            counts[2 if s == 0 else 3] += 1
    return counts


def bucket_positions(ranks):
    """Labels above plus the middle of the own bucket."""
    return [np.nan if np.isnan(r) else sum(ranks < r) + (sum(ranks == r) + 1) / 2 for r in ranks]


def row_votes(row):
    """Votes and evidence of each label of one row, over all other labels."""
    others = max(len(row) - 1, 1)
    known = [rank for rank in row if not np.isnan(rank)]
    votes = [sum(int(r > own) - int(r < own) for r in known) / others for own in row]
    return votes, [0 if np.isnan(own) else (len(known) - 1) / others for own in row]


def numeric_edges(column, max_bins):
    """Edges between the values of a feature, or between those at quantiles."""
    values = np.sort(column[~np.isnan(column)])
    new = np.flatnonzero(np.diff(values) > 0) + 1
    if len(new) >= max_bins:
        wanted = np.arange(1, max_bins) * len(values) // max_bins
        new = np.unique(new[np.minimum(np.searchsorted(new, wanted), len(new) - 1)])
    low, high = values[new - 1], values[new]
    middle = low / 2 + high / 2
    return np.where(middle < high, middle, low)


def pair_sign(ranks, i, j):
    """+1 if label i stands before label j, -1 if after, 0 if tied or unknown."""
    if np.isnan(ranks[i]) or np.isnan(ranks[j]):
        return 0
    return int(np.sign(ranks[j] - ranks[i]))


def kendall_distance(a, b):
    """Pairs of labels in opposite strict orders."""
    return pair_counts(a, b)[1]


def permutations(n):
    """All strict rankings of n labels."""
    return np.array(list(itertools.permutations(range(1, n + 1))), dtype=float)


def extensions(ranks):
    """All strict rankings of all labels that keep every strict preference of one row."""
    return [p for p in permutations(len(ranks)) if kendall_distance(ranks, p) == 0]


def insertions(ranks):
    """All rankings that keep a row's buckets whole and add each missing label strictly."""
    ranks = np.asarray(ranks, float)
    missing = np.flatnonzero(np.isnan(ranks))
    buckets = [tuple(np.flatnonzero(ranks == r)) for r in np.unique(ranks[~np.isnan(ranks)])]
    items = [*buckets, *((i,) for i in missing)]
    for order in itertools.permutations(range(len(items))):
        kept = [k for k in order if k < len(buckets)]
        if kept == sorted(kept):
            out = np.empty(len(ranks))
            for position, k in enumerate(order):
                out[list(items[k])] = position
            yield bucket_positions(out)


def borda_votes(ranks):
    """Votes of one row, label by label (Cheng 2009, Proposition 2)."""
    n, m = len(ranks), np.count_nonzero(~np.isnan(ranks))
    return [
        (n + 1) / 2 if np.isnan(p) else (m - p + 1) * (n + 1) / (m + 1)
        for p in bucket_positions(ranks)
    ]


def extend(ranks, center):
    """Proposition 1, label by label: the first cheapest gap between buckets."""
    ranks = np.asarray(ranks, float)
    levels = np.unique(ranks[~np.isnan(ranks)])
    key = {i: (np.searchsorted(levels, r) + 1, 0) for i, r in enumerate(ranks) if not np.isnan(r)}
    known = dict(key)
    for i in np.flatnonzero(np.isnan(ranks)):

        def cost(gap, i=i):
            return sum(
                center[k] > center[i] if level <= gap else center[k] < center[i]
                for k, (level, _) in known.items()
            )

        gap = min(range(len(levels) + 1), key=cost)
        key[i] = (gap, center[i])  # after bucket number `gap`, in center order
    order = sorted(set(key.values()))
    return bucket_positions(np.array([order.index(key[i]) for i in range(len(ranks))]))


def ranks_by_votes(votes):
    """Strict ranks by descending votes, equal ones (up to rounding) by index."""
    order = sorted(range(len(votes)), key=lambda j: (-round(votes[j], 6), j))
    return np.argsort(order) + 1


def fit_mallows(Y, weights, rounds=20):
    """Algorithm 1 of Cheng 2009: the center and the mean distance to it."""
    Y = np.asarray(Y, float)
    n = Y.shape[1]
    share = np.count_nonzero(~np.isnan(Y), axis=1) / n
    w = np.asarray(weights, float) * share
    if w.sum() == 0:
        return np.arange(1, n + 1), None
    center = ranks_by_votes(np.average([borda_votes(y) for y in Y], axis=0, weights=w))
    for _ in range(rounds):
        extended = np.array([extend(y, center) for y in Y])
        new = ranks_by_votes(np.average(n + 1 - extended, axis=0, weights=w))
        if (new == center).all():
            break
        center = new
    distances = [kendall_distance(extend(y, center), center) for y in Y]
    return center, np.average(distances, weights=w)


def mallows_pmf(center, theta):
    """The probability of every ranking, by enumeration."""
    distances = np.array([kendall_distance(p, center) for p in permutations(len(center))])
    weights = np.exp(-theta * distances)
    return weights / weights.sum()


def object_pairs(positions, starts):
    """All pairs (better, worse) of rows of one group that its order tells apart."""
    return [
        (i, j)
        for begin, end in pairwise(starts)
        for i in range(begin, end)
        for j in range(begin, end)
        if positions[i] < positions[j]
    ]


def pair_hinge(scores, pairs, weights=None):
    """Squared hinge over pairs, its gradient and its generalized Hessian by score."""
    weights = np.ones(len(scores)) if weights is None else weights
    loss, gradient = 0.0, np.zeros(len(scores))
    hessian = np.zeros((len(scores), len(scores)))
    for i, j in pairs:
        margin = 1 - (scores[i] - scores[j])
        if margin > 0:
            step = np.zeros(len(scores))
            step[i], step[j] = -1, 1
            weight = weights[i] * weights[j]
            loss += weight * margin**2
            gradient += 2 * weight * margin * step
            hessian += 2 * weight * np.outer(step, step)
    return loss, gradient, hessian


def subgraphs(edges, decomposition):
    """The edge lists that a named decomposition cuts a graph into."""
    if decomposition == "graph":
        return [edges] if edges else []
    if decomposition == "edges":
        return [[edge] for edge in edges]
    end = 0 if decomposition == "domination" else 1
    vertices = sorted({edge[end] for edge in edges})
    return [[edge for edge in edges if edge[end] == vertex] for vertex in vertices]


def ranking_loss(edges, scores, decomposition):
    """Mean of log(1 + sum of exp(f(other) - f(preferred))) over the subgraphs."""
    parts = subgraphs(edges, decomposition)
    losses = [
        np.logaddexp.reduce([0.0] + [scores[v] - scores[u] for u, v in part]) for part in parts
    ]
    return np.mean(losses) if parts else 0.0


def ranking_error(edges, scores, decomposition):
    """Share of the subgraphs with an edge that is not scored strictly its way."""
    parts = subgraphs(edges, decomposition)
    violated = [any(scores[u] <= scores[v] for u, v in part) for part in parts]
    return np.mean(violated) if parts else np.nan


def expanded_calibrated(row, gap):
    """A calibrated row with the virtual label written out as that many tied virtual labels."""
    return np.append(row[:-1], np.full(gap, row[-1]))


def squared_rank_distance(a, b):
    """Sum of squared differences of generalized ranks."""
    return sum((x - y) ** 2 for x, y in zip(bucket_positions(a), bucket_positions(b), strict=True))


def dudani_weights(distances):
    """(d_k - d_i)/(d_k - d_1), or 1 where all are equally far."""
    nearest, farthest = min(distances), max(distances)
    if nearest == farthest:
        return [1.0] * len(distances)
    return [(farthest - d) / (farthest - nearest) for d in distances]


def pair_votes(Y, weights, prior):
    """Votes from observed pairs: half the shares of a label against each other one."""
    c = Y.shape[1]
    share = np.zeros((c, c))
    for i, j in itertools.permutations(range(c), 2):
        signs = np.array([pair_sign(y, i, j) for y in Y])
        seen = np.sum(weights * np.abs(signs)) + prior * np.sum(weights)
        share[i, j] = np.sum(weights * signs) / seen if seen > 0 else 0
    return (c + 1) / 2 + share.sum(axis=1) / 2, share


def nearest(points, query, k):
    """The k nearest rows, nearest first, with their distances."""
    distances = np.linalg.norm(points - query, axis=1)
    order = np.argsort(distances, kind="stable")[:k]
    return order, distances[order]


def plackett_luce_pmf(worth):
    """The probability of every ranking, choice by choice."""
    out = []
    for ranks in permutations(len(worth)):
        left = np.asarray(worth, float)[np.argsort(ranks)]
        out.append(np.prod([left[t] / left[t:].sum() for t in range(len(left))]))
    return np.array(out)


def plackett_luce_objective(log_worth, Y, weights, prior):
    """Weighted log-likelihood of all choices but those in last buckets, and the prior's."""
    worth = np.exp(log_worth)
    total = prior * np.log(worth / worth.sum()).sum()
    for y, weight in zip(Y, weights, strict=True):
        for i, r in enumerate(y):
            if np.any(y > r):
                total += weight * np.log(worth[i] / worth[y >= r].sum())
    return total


def multilabel_errors(relevance, scores):
    """Errors of one row in which every relevance is known."""
    relevant, irrelevant = scores[relevance == 1], scores[relevance == 0]
    wrong = (scores > 0) != (relevance == 1)
    pairs = [(r, s) for r in relevant for s in irrelevant]
    precisions = [np.mean(relevance[scores >= r]) for r in relevant]
    best_is_wrong = relevance[np.argmax(scores)] == 0
    return {
        "hamming_loss": np.mean(wrong),
        "subset_loss": float(any(wrong)),
        "ranking_loss": np.mean([r <= s for r, s in pairs]) if pairs else 0.0,
        "one_error": float(len(relevant) > 0 and best_is_wrong),
        "coverage": sum(scores >= min(relevant)) if len(relevant) else 0,
        "average_precision": np.mean(precisions) if precisions else 1.0,
    }


def perceptron(X, graphs, c, weight, margin, alpha, alpha_per, epochs):
    """Constraint classification in plain steps: the last weights, and their mean over visits."""
    W, visits, updates = np.zeros((X.shape[1], c)), [], {}
    for _ in range(epochs):
        moved = False
        for i, x in enumerate(X):
            visits.append(W.copy())
            scores, change = x @ W, np.zeros(c)
            spent = updates.get(i, 0)
            for u, v in graphs[i]:
                key = (i, u, v) if alpha_per == "pair" else i
                used = updates.get(key, 0) if alpha_per == "pair" else spent
                if scores[u] <= scores[v] + margin and (alpha is None or used < alpha):
                    updates[key] = updates.get(key, 0) + 1
                    change[u], change[v], moved = change[u] + 1, change[v] - 1, True
            W = W + weight[i] * np.outer(x, change)
        if not moved:
            break
    return W, np.mean([*visits[1:], W], axis=0)


def rank_correlation(positions, values, measure):
    """Tau-a, tau-b, rho-a or rho of an order and that by descending value; 0 where undefined."""
    values = np.round(values, 9)
    if measure == "rho-a":
        ranks = np.array([sum(values > v) + (sum(values == v) + 1) / 2 for v in values])
        return np.cov(ranks, positions, bias=True)[0, 1] / np.var(np.arange(len(values)))
    if measure == "spearman":
        ranks = np.array([sum(values > v) + (sum(values == v) + 1) / 2 for v in values])
        spread = np.std(ranks) * np.std(positions)
        return 0.0 if spread == 0 else np.cov(ranks, positions, bias=True)[0, 1] / spread
    pairs = list(combinations(range(len(values)), 2))
    signs = [np.sign([positions[j] - positions[i], values[i] - values[j]]) for i, j in pairs]
    total = sum(s * t for s, t in signs)
    if measure == "tau-a":
        return total / len(pairs)
    untied = np.count_nonzero(signs, axis=0)
    return total / np.sqrt(np.prod(untied)) if untied.all() else 0.0


def rank_correlation_components(X, positions, starts, n_components, measure, deflate=False):
    """Figure 3 of Kamishima & Akaho (2006), line by line; also the norms of R over N.

    With ``deflate``, the orders lose what the components explain of their places.
    """
    original, given_positions = X, positions
    X, W, norms = X.copy(), np.zeros((0, X.shape[1])), []
    blocks = [slice(begin, end) for begin, end in pairwise(starts) if end - begin > 1]
    for _ in range(n_components):
        R = np.array(
            [sum(rank_correlation(positions[b], x[b], measure) for b in blocks) for x in X.T]
        )
        w = (np.eye(X.shape[1]) - W.T @ W) @ R
        w /= np.linalg.norm(w)
        W = np.vstack([W, w])
        X = X - np.outer(X @ w, w)
        norms.append(np.linalg.norm(R) / (len(starts) - 1))
        if deflate:
            positions = _unexplained_positions(original @ W.T, given_positions, starts)
    return W, norms


def _unexplained_positions(coordinates, positions, starts):
    """Places by what a regression of the shares r / (L + 1), with one constant an order, leaves."""
    order = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    share = positions / (np.diff(starts) + 1)[order]
    design = np.column_stack([coordinates, np.eye(len(starts) - 1)[order]])
    left = np.round(share - design @ np.linalg.pinv(design) @ share, 9)
    return np.array(
        [
            sum(left[order == g] < value) + (sum(left[order == g] == value) + 1) / 2
            for g, value in zip(order, left, strict=True)
        ]
    )


def rank_boost(X, pairs, rounds):
    """RankBoost on a list of pairs, following the given (attribute, threshold, missing, weight).

    Yields for each round the separation of its weak ranker, the largest separation of any, and
    the weight that the paper gives it.
    """
    better, worse = np.array(pairs).T
    weight = np.full(len(pairs), 1 / len(pairs))

    def says(attribute, threshold, missing):
        x = X[:, attribute]
        return np.where(np.isnan(x), float(missing), x > threshold)

    def separation(h):
        return weight @ (h[better] - h[worse])

    candidates = [
        says(k, threshold, missing)
        for k in range(X.shape[1])
        for values in [np.unique(X[~np.isnan(X[:, k]), k])]
        for threshold in [-np.inf, *((a + b) / 2 for a, b in pairwise(values))]
        for missing in (False, True)
    ]
    for *chosen, alpha in rounds:
        h = says(*chosen)
        r = separation(h)
        limited = np.clip(r, -1 + 1e-6, 1 - 1e-6)
        best = max(abs(separation(c)) for c in candidates)
        yield r, best, np.log((1 + limited) / (1 - limited)) / 2
        weight = weight * np.exp(alpha * (h[worse] - h[better]))
        weight /= weight.sum()


def greedy_order(X, weights):
    """Cohen's greedy order: places 1..L by the potential among the objects left."""
    left, places = list(range(len(X))), np.zeros(len(X), dtype=int)

    def prefer(u, v):
        return weights @ np.sign(X[u] - X[v])

    for place in range(1, len(X) + 1):
        best = max(left, key=lambda u: sum(prefer(u, v) - prefer(v, u) for v in left))
        places[best] = place
        left.remove(best)
    return places
