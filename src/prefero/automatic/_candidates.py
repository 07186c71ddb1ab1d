"""The candidates of an automatic ranker, each with the preparation that it needs."""

from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from prefero._pipelines import final_step
from prefero._typing import Mask
from prefero.label_ranking import (
    BoostingLabelRanker,
    ConstraintLabelRanker,
    ForestLabelRanker,
    LogLinearLabelRanker,
    NeighborsLabelRanker,
    PairwiseLabelRanker,
    RidgeLabelRanker,
)

# Tolerances of linear rankers that are exact enough for a stack; the second one with a kernel.
_TOL, _KERNEL_TOL = 1e-3, 1e-2
# Penalties of linear rankers; rankings without noise need next to none.
_PENALTIES = (1e-3, 1e-5, 1e-2, 1e-7)
# Dimensions of sparse features for rankers that need dense ones; landmarks of a kernel.
_DIMENSIONS, _LANDMARKS = 100, 300
# The most rows for neighbors and for kernels.
_MOST_CASES, _MOST_KERNEL_ROWS = 50_000, 100_000
# The most rows for perceptrons, which pass them a thousand times.
_MOST_PASSES = 10_000
_MOST_PAIRS = 500


class Shape(NamedTuple):
    """What candidates depend on in the data."""

    n_rows: int
    n_features: int
    n_labels: int
    nominal: Mask  # which prepared features are category numbers
    sparse: bool


class Candidate(NamedTuple):
    """A ranker to try."""

    name: str
    family: str
    ranker: Any
    most_rows: int | None = None
    own: bool = False  # its own held-out predictions come from folds anyway


def candidates(preset: str, shape: Shape, seed: int) -> list[Candidate]:
    """Return the rankers to try: one of each family, then a second one of each, and so on.

    Parameters
    ----------
    preset : {"quick", "balanced", "best"}
        How many.
    shape : Shape
        The data.
    seed : int
        The seed of forests and kernels.

    Returns
    -------
    list of Candidate
        Without those that do not scale to so many labels.
    """
    families = [_linear(shape, preset), _trees("forest", shape, preset, seed)]
    families += [_trees("boosting", shape, preset, seed)]
    if preset != "quick":
        families += [_kernels(shape, preset, seed)]
    neighbors = behind_numbers(shape, NeighborsLabelRanker())
    families += [
        _trees("extra-trees", shape, preset, seed),
        [Candidate("neighbors", "neighbors", neighbors, _MOST_CASES)],
    ]
    if preset != "quick":
        constraint = ConstraintLabelRanker(calibrate=False, random_state=seed)
        model = behind_numbers(shape, constraint, dense=False)
        families += [
            _pairwise(shape, preset),
            [Candidate("constraint", "constraint", model, _MOST_PASSES)],
        ]
    return [one for turn in zip_longest(*families) for one in turn if one is not None]


# Rankers of scores, most of them forests on the scores as they are, less the mean of their row, or
# their log regret: which one is best depends on how heavy the tails are.
_VALUE_FORESTS: dict[str, dict[str, Any]] = {
    "forest of raw scores": {"criterion": "raw_scores"},
    "forest of relative scores": {"criterion": "relative_scores"},
    "forest of log regret": {"criterion": "log_regret"},
    "extra-trees of relative scores": {"criterion": "relative_scores", "splitter": "random"},
}


def value_candidates(preset: str, shape: Shape, seed: int) -> list[Candidate]:
    """Return the rankers to try where scores say what is lost: of scores first, then of ranks."""
    nominal = shape.nominal if shape.nominal.any() else None
    given: dict[str, Any] = {"random_state": seed, "categorical_features": nominal}
    found = []
    for name, options in _VALUE_FORESTS.items():
        forest = ForestLabelRanker(max_features=0.33, **options, **given)
        found.append(Candidate(name, name, made_dense(shape, forest, seed), own=True))
    linear = RidgeLabelRanker(target="relative_scores", calibrate=False, scale=False)
    found.append(Candidate("ridge", "ridge", behind_numbers(shape, linear, seed=seed)))
    count = int(np.clip(shape.n_rows, 1, _LANDMARKS))
    kernel = Nystroem(gamma=0.5 / max(1, shape.n_features), n_components=count, random_state=seed)
    ranker = make_pipeline(
        kernel, RidgeLabelRanker(target="log_regret", calibrate=False, scale=False)
    )
    model = behind_numbers(shape, ranker, seed=seed)
    found.append(Candidate("kernel ridge", "kernel ridge", model, _MOST_KERNEL_ROWS))
    for one in candidates(preset, shape, seed):
        if one.name in ("boosting", "neighbors"):
            ranker = clone(one.ranker)
            final_step(ranker).set_params(pair_weight=None)
            found.append(one._replace(name=f"{one.name} by ranks", ranker=ranker))
        if one.name in ("forest", "extra-trees"):
            final_step(one.ranker).set_params(leaf_values="ranks")
        found.append(one)
    return found


def _linear(shape: Shape, preset: str) -> list[Candidate]:
    found = []
    alphas: tuple[Any, ...] = ("auto",) if preset == "quick" else _PENALTIES
    for alpha in alphas:
        plain = {"calibrate": alpha == "auto", "scale": False}
        ranker = LogLinearLabelRanker(alpha=alpha, tol=_TOL, **plain)
        name = "log-linear" if alpha == "auto" else f"log-linear {alpha:g}"
        found.append(Candidate(name, "log-linear", behind_numbers(shape, ranker, dense=False)))
    return found


def _pairwise(shape: Shape, preset: str) -> list[Candidate]:
    if shape.n_labels * (shape.n_labels - 1) // 2 > _MOST_PAIRS:
        return []
    found = []
    for C in (10.0, 0.1) if preset == "balanced" else (10.0, 0.1, 1.0, 100.0, 0.01):
        ranker = PairwiseLabelRanker(C=C, calibrate=False, scale=False)
        model = behind_numbers(shape, ranker, dense=False)
        found.append(Candidate(f"pairwise {C:g}", "pairwise", model))
    return found


_EXTRA = {"splitter": "random", "max_features": None}
# By family: the class, how many of its settings each preset tries, and the settings by name.
# Larger boosted trees of all features are better for thousands of rows or few features.
_TREES: dict[str, tuple[type[Any], dict[str, int], dict[str, dict[str, Any]]]] = {
    "forest": (
        ForestLabelRanker,
        {"quick": 1, "balanced": 1, "best": 2},
        {"forest": {}, "wide forest": {"max_features": 0.7}},
    ),
    "extra-trees": (
        ForestLabelRanker,
        {"quick": 1, "balanced": 1, "best": 2},
        {
            "extra-trees": _EXTRA,
            "many extra-trees": _EXTRA | {"criterion": "spearman", "n_estimators": 300},
        },
    ),
    "boosting": (
        BoostingLabelRanker,
        {"quick": 1, "balanced": 2, "best": 4},
        {
            "boosting": {},
            "boosting of large trees": {"max_leaf_nodes": 31, "max_features": None}
            | {"learning_rate": 0.05, "n_estimators": 2000},
            "slow boosting": {"learning_rate": 0.05, "n_estimators": 800},
            "boosting of small trees": {"max_leaf_nodes": 6, "n_estimators": 800},
        },
    ),
}


def _trees(family: str, shape: Shape, preset: str, seed: int) -> list[Candidate]:
    kind, counts, settings = _TREES[family]
    nominal = shape.nominal if shape.nominal.any() else None
    found = []
    for name, options in list(settings.items())[: counts[preset]]:
        ranker = kind(random_state=seed, categorical_features=nominal, **options)
        model = made_dense(shape, ranker, seed)
        found.append(Candidate(name, family, model, own=family == "boosting"))
    return found


def _kernels(shape: Shape, preset: str, seed: int) -> list[Candidate]:
    """Log-linear models on kernel features."""
    settings = [(1.0, 1e-5), (1.0, 1e-3), (3.0, 1e-5), (1.0, 1e-4)]
    if preset == "best":
        settings += [(0.3, 1e-4), (0.3, 1e-6), (1.0, 1e-6), (3.0, 1e-3)]
    count = int(np.clip(shape.n_rows // 2, 1, _LANDMARKS * (1 if preset == "balanced" else 2)))
    found = []
    for width, alpha in settings:
        kernel = Nystroem(
            gamma=width / max(1, shape.n_features), n_components=count, random_state=seed
        )
        linear = LogLinearLabelRanker(alpha=alpha, calibrate=False, scale=False, tol=_KERNEL_TOL)
        ranker = make_pipeline(kernel, linear)
        name = f"kernel {width:g} {alpha:g}"
        model = behind_numbers(shape, ranker, seed=seed)
        found.append(Candidate(name, "kernel", model, _MOST_KERNEL_ROWS))
    return found


def behind_numbers(shape: Shape, ranker: Any, *, dense: bool = True, seed: int = 0) -> Any:
    """Put a ranker behind imputed and standardized numbers, and one column per category."""
    steps = ranker.steps if isinstance(ranker, Pipeline) else [("ranker", ranker)]
    steps = [step for _, step in steps]
    if shape.sparse:
        before = [_svd(shape, seed), StandardScaler()] if dense else [MaxAbsScaler()]
        return make_pipeline(*before, *steps)
    numbers = [SimpleImputer(keep_empty_features=True), StandardScaler()]
    if not shape.nominal.any():
        return make_pipeline(*numbers, *steps)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = [
        ("numbers", make_pipeline(*numbers), np.flatnonzero(~shape.nominal).tolist()),
        ("nominal", encoder, np.flatnonzero(shape.nominal).tolist()),
    ]
    return make_pipeline(ColumnTransformer([part for part in columns if part[2]]), *steps)


def made_dense(shape: Shape, ranker: Any, seed: int) -> Any:
    """Put a ranker behind a few dimensions of sparse features."""
    return make_pipeline(_svd(shape, seed), ranker) if shape.sparse else ranker


def _svd(shape: Shape, seed: int) -> Any:
    return TruncatedSVD(min(_DIMENSIONS, shape.n_features), random_state=seed)
