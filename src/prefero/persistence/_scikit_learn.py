"""What the estimators of scikit-learn on the list hold, since they do not declare it themselves."""

from importlib.util import find_spec
from math import comb
from typing import Any

import numpy as np
from scipy.sparse import issparse

from prefero._state import (
    Array,
    Attribute,
    Count,
    Each,
    FittedState,
    Flag,
    Model,
    Names,
    State,
    Word,
)
from prefero.persistence._widths import chain_fits, columns_fit, union_fits

_F = "n_features"
_HIGHEST_DEGREE = 16


def _is_none(value: Any, _: State) -> bool:
    return value is None


def _is_output_config(config: Any, _: State) -> bool:
    if type(config) is not dict or config.keys() - {"transform"}:
        return False
    kind = config.get("transform", "default")
    return kind == "default" or (kind in ("pandas", "polars") and find_spec(kind) is not None)


_OUTPUT: FittedState = {
    "_sklearn_output_config": Attribute(
        optional=True, rule=("a kind of table that is installed", _is_output_config)
    ),
}
_FEATURES: FittedState = {
    "n_features_in_": Count(1, size=_F),
    "feature_names_in_": Names(_F, optional=True),
    **_OUTPUT,
}


def _rises(values: Any, _: State) -> bool:
    return values.dtype == object or len(values) < 2 or bool((values[:-1] < values[1:]).all())


_CLASSES: FittedState = {"classes_": Names("n_classes", rule=("sorted classes", _rises))}


def _row_a_class(coef: Any, state: State) -> bool:
    n_classes = state.size("n_classes")
    return bool(coef.shape[0] == (1 if n_classes == 2 else n_classes))


_LINEAR_CLASSIFIER: FittedState = {
    **_FEATURES,
    **_CLASSES,
    "coef_": Array("f", "n_rows", _F, rule=("one row per class", _row_a_class)),
    "intercept_": Array("f", "n_rows"),
}


def _is_offset(value: Any, _: State) -> bool:
    return np.ndim(value) == 0 and isinstance(value, int | float | np.floating)


_REGRESSOR: FittedState = {
    **_FEATURES,
    "coef_": Array("f", _F),
    "intercept_": Attribute(rule=("one number", _is_offset)),
}


def _is_ridge_coef(coef: Any, state: State) -> bool:
    shapes = ((state.size(_F),), (1, state.size(_F)))
    return type(coef) is np.ndarray and coef.dtype.kind == "f" and coef.shape in shapes


def _sums_to_one(shares: Any, _: State) -> bool:
    return bool(abs(shares.sum() - 1) < 1e-6)


# Categories of encoders


def _are_sorted(categories: Any, state: State) -> bool:
    for values in categories:
        Names("n_categories").check(values, State({}))
        if not _rises(values, state):
            return False
    return True


def _rare(state: State, feature: int) -> int:
    """How many categories of a feature are taken together."""
    if not state.values["_infrequent_enabled"]:
        return 0
    rare = state.values["_infrequent_indices"][feature]
    return 0 if rare is None else len(rare)


def _are_rare(rare: Any, state: State) -> bool:
    for indices, values in zip(rare, state.values["categories_"], strict=True):
        if indices is not None:
            Array("i", "n_rare", low=0, high=len(values) - 1).check(indices, State({}))
            if not 0 < len(indices) <= len(values):
                return False
    return True


def _lead_to_groups(mappings: Any, state: State) -> bool:
    categories = state.values["categories_"]
    for feature, mapping in enumerate(mappings):
        rare = _rare(state, feature)
        if (mapping is None) != (rare == 0):
            return False
        if mapping is not None:
            n = len(categories[feature])
            Array("i", n, low=0, high=n - rare).check(mapping, State({}))
    return True


_IF_RARE = {"_infrequent_enabled": True}
_CATEGORIES: FittedState = {
    **_FEATURES,
    "categories_": Each(Attribute(), _F, rule=("sorted categories", _are_sorted)),
    "_infrequent_enabled": Flag(),
    "_infrequent_indices": Each(
        Attribute(), _F, when=_IF_RARE, rule=("categories there are", _are_rare)
    ),
    "_default_to_infrequent_mappings": Each(
        Attribute(), _F, when=_IF_RARE, rule=("groups there are", _lead_to_groups)
    ),
}


def _counts_columns(counts: Any, state: State) -> bool:
    """Whether an encoder says rightly how many columns each feature becomes."""
    dropped = state.values.get("_drop_idx_after_grouping")
    for i, (count, values) in enumerate(zip(counts, state.values["categories_"], strict=True)):
        rare = _rare(state, i)
        groups = len(values) - rare + (rare > 0)
        drop = None if dropped is None else dropped[i]
        if drop is not None and not (isinstance(drop, int | np.integer) and 0 <= drop < groups):
            return False
        if count != groups - (drop is not None):
            return False
    return True


def _is_index_a_feature(dropped: Any, state: State) -> bool:
    return type(dropped) is np.ndarray and dropped.shape == (state.size(_F),)


def _are_missing(indices: Any, state: State) -> bool:
    categories = state.values["categories_"]
    return type(indices) is dict and all(
        type(feature) is int
        and 0 <= feature < len(categories)
        and type(index) is int
        and 0 <= index < len(categories[feature])
        for feature, index in indices.items()
    )


def _is_dtype(value: Any, _: State) -> bool:
    return isinstance(value, type | np.dtype) and np.dtype(value).kind in "iuf"


# Imputers


def _are_statistics(values: Any, state: State) -> bool:
    Names(_F, unique=False).check(values, state)
    return True


def _is_simple_dtype(value: Any, _: State) -> bool:
    return isinstance(value, np.dtype) and value.kind in "biufOU"


# Polynomials


def _n_terms(values: Any, n: int, low: int) -> int:
    """How many products of features have a degree from ``low`` to the highest, and perhaps 1."""
    high, bias = values["_max_degree"], bool(values["include_bias"])
    if values["interaction_only"]:
        return sum(comb(n, degree) for degree in range(max(1, low), min(high, n) + 1)) + bias
    below = comb(n + low - 1, low - 1) - 1 if low > 0 else 0
    return comb(n + high, high) - 1 - below + bias


def _is_number_of_terms(count: Any, state: State) -> bool:
    values = state.values
    return bool(count == _n_terms(values, state.size(_F), values["_min_degree"]))


def _is_full_number(count: Any, state: State) -> bool:
    return bool(count == _n_terms(state.values, state.size(_F), 0))


def _is_feature_range(value: Any, _: State) -> bool:
    return len(value) == 2 and all(isinstance(end, int | float) for end in value)


def _are_components(value: Any, state: State) -> bool:
    if issparse(value):
        finite = bool(np.isfinite(value.data).all())
        return value.dtype.kind == "f" and value.shape[1] == state.size(_F) and finite
    Array("f", "n_components", _F).check(value, state)
    return True


def _are_kernel_parameters(value: Any, _: State) -> bool:
    return all(isinstance(number, int | float) for number in value.values())


STATES: dict[str, FittedState] = {
    "ColumnTransformer": {
        **_FEATURES,
        "transformers_": Attribute(rule=("transformers of columns there are", columns_fit)),
        "_transformer_to_input_indices": Attribute(),
        "_columns": Attribute(optional=True),
        "_remainder": Attribute(optional=True),
        "_n_features": Count(size=_F, optional=True),
        "sparse_output_": Flag(),
        "output_indices_": Attribute(),
        "_name_to_fitted_passthrough": Attribute(optional=True),
    },
    "DummyClassifier": {
        **_FEATURES,
        **_CLASSES,
        "_strategy": Word("prior", "most_frequent", "uniform", "stratified"),
        "sparse_output_": Flag(rule=("False", lambda value, _: not value)),
        "n_outputs_": Count(1, 1),
        "n_classes_": Count(size="n_classes"),
        "class_prior_": Array("f", "n_classes", low=0, rule=("shares", _sums_to_one)),
    },
    "FeatureUnion": _OUTPUT,
    "GaussianNB": {
        **_FEATURES,
        **_CLASSES,
        "theta_": Array("f", "n_classes", _F),
        "var_": Array("f", "n_classes", _F, low=1e-300),
        "class_prior_": Array("f", "n_classes", low=0, high=1),
    },
    "LabelBinarizer": {
        **_OUTPUT,
        **_CLASSES,
        "y_type_": Word("binary", "multiclass"),
        "sparse_input_": Flag(),
    },
    "LabelEncoder": _CLASSES,
    "LinearRegression": _REGRESSOR,
    "LinearSVC": _LINEAR_CLASSIFIER,
    "LogisticRegression": _LINEAR_CLASSIFIER,
    "LogisticRegressionCV": _LINEAR_CLASSIFIER,
    "MaxAbsScaler": {**_FEATURES, "scale_": Array("f", _F, nan=True)},
    "MinMaxScaler": {
        **_FEATURES,
        "scale_": Array("f", _F, nan=True),
        "min_": Array("f", _F, nan=True),
    },
    "MissingIndicator": {
        **{name: kind for name, kind in _FEATURES.items() if name != "n_features_in_"},
        # Inside an imputer it is not told the number of features.
        "_n_features": Count(1, size=_F),
        "n_features_in_": Count(1, size=_F, optional=True),
        "features_": Array("i", "n_shown", low=0, high="n_features - 1"),
        "_precomputed": Flag(),
    },
    "Normalizer": _FEATURES,
    "Nystroem": {
        **_FEATURES,
        "normalization_": Array("f", "n_components", "n_components"),
        "components_": Attribute(rule=("a row of features a component", _are_components)),
        "_n_features_out": Count(size="n_components", optional=True),
    },
    "OneHotEncoder": {
        **_CATEGORIES,
        "drop_idx_": Attribute(none=True, rule=("one index per feature", _is_index_a_feature)),
        "_drop_idx_after_grouping": Attribute(
            none=True, rule=("one index per feature", _is_index_a_feature)
        ),
        "_n_features_outs": Each(Count(), _F, rule=("one column per category", _counts_columns)),
    },
    "OrdinalEncoder": {
        **_CATEGORIES,
        "_missing_indices": Attribute(rule=("the index of a category", _are_missing)),
    },
    "PCA": {
        **_FEATURES,
        "n_components_": Count(size="n_components"),
        "components_": Array("f", "n_components", _F),
        "mean_": Array("f", _F),
        "explained_variance_": Array("f", "n_components", low=0),
    },
    "Pipeline": _OUTPUT,
    "PolynomialFeatures": {
        **_FEATURES,
        "_min_degree": Count(0, _HIGHEST_DEGREE),
        "_max_degree": Count(0, _HIGHEST_DEGREE),
        "n_output_features_": Count(rule=("the number of terms", _is_number_of_terms)),
        "_n_out_full": Count(rule=("the number of terms", _is_full_number)),
    },
    "PowerTransformer": {
        **_FEATURES,
        "lambdas_": Array("f", _F, nan=True),
        "_scaler": Model("transform", when={"standardize": True}),
    },
    "QuantileTransformer": {
        **_FEATURES,
        "n_quantiles_": Count(1, size="n_quantiles"),
        "references_": Array("f", "n_quantiles"),
        "quantiles_": Array("f", "n_quantiles", _F, nan=True),
    },
    "Ridge": _REGRESSOR,
    "RidgeCV": _REGRESSOR,
    "RidgeClassifier": {
        **_FEATURES,
        "classes_": Names("n_classes", optional=True, rule=("sorted classes", _rises)),
        "coef_": Attribute(rule=("one weight per feature", _is_ridge_coef)),
        "intercept_": Array("f", 1),
        "_label_binarizer": Model("inverse_transform", n_features=None),
    },
    "RobustScaler": {
        **_FEATURES,
        "center_": Array("f", _F, nan=True, when={"with_centering": True}),
        "scale_": Array("f", _F, nan=True, when={"with_scaling": True}),
    },
    "SimpleImputer": {
        **_FEATURES,
        "statistics_": Attribute(rule=("one value per feature", _are_statistics)),
        "_fit_dtype": Attribute(rule=("a plain dtype", _is_simple_dtype)),
        "_fill_dtype": Attribute(optional=True, rule=("a plain dtype", _is_simple_dtype)),
        "indicator_": Model("transform", n_features=None, when={"add_indicator": True}),
    },
    "StandardScaler": {
        **_FEATURES,
        "mean_": Array("f", _F, nan=True, when={"with_mean": True}),
        "scale_": Array("f", _F, nan=True, when={"with_std": True}),
    },
    "TruncatedSVD": {**_FEATURES, "components_": Array("f", "n_components", _F)},
    "VarianceThreshold": {**_FEATURES, "variances_": Array("f", _F, nan=True)},
}


def _are_plain(value: Any, state: State) -> bool:
    if type(value) is dict:
        return all(_are_plain(entry, state) for entry in value.values())
    if type(value) is np.ndarray and value.dtype == object:
        return all(entry is None or isinstance(entry, int | float) for entry in value.flat)
    plain = isinstance(value, str | int | float | np.number)
    return plain or (type(value) is np.ndarray and value.dtype.kind in "biuf")


# What a fit tells of itself and no prediction reads.
_TOLD = {
    "GaussianNB": ("class_count_", "epsilon_"),
    "LinearRegression": ("rank_", "singular_"),
    "LinearSVC": ("n_iter_",),
    "LogisticRegression": ("n_iter_",),
    "LogisticRegressionCV": (
        *("C_", "Cs_", "coefs_paths_", "l1_ratio_", "l1_ratios_", "n_iter_", "scores_"),
    ),
    "MaxAbsScaler": ("max_abs_", "n_samples_seen_"),
    "MinMaxScaler": ("data_max_", "data_min_", "data_range_", "n_samples_seen_"),
    "Nystroem": ("component_indices_",),
    "PCA": ("explained_variance_ratio_", "n_samples_", "noise_variance_", "singular_values_"),
    "Ridge": ("n_iter_", "solver_"),
    "RidgeCV": ("alpha_", "best_score_", "cv_results_"),
    "RidgeClassifier": ("n_iter_", "solver_"),
    "StandardScaler": ("n_samples_seen_", "var_"),
    "TruncatedSVD": ("explained_variance_", "explained_variance_ratio_", "singular_values_"),
}
_PLAIN = Attribute(optional=True, none=True, rule=("plain numbers or words", _are_plain))
for _owner, _names in _TOLD.items():
    STATES[_owner] = {**STATES[_owner], **dict.fromkeys(_names, _PLAIN)}

# Attributes that later versions of scikit-learn read, and their names in earlier ones.
RENAMED: dict[str, dict[str, str]] = {"SimpleImputer": {"_fill_dtype": "_fit_dtype"}}

_DTYPE = Attribute(rule=("a type of numbers", _is_dtype))
_KERNELS = ("linear", "rbf", "poly", "polynomial", "sigmoid", "cosine", "laplacian", "chi2")

# What a file may give for parameters that the constraints of scikit-learn leave too open.
PARAMETERS: dict[str, FittedState] = {
    "FeatureUnion": {
        "transformer_list": Attribute(rule=("named transformers of the same columns", union_fits)),
    },
    "MinMaxScaler": {"feature_range": Attribute(rule=("two numbers", _is_feature_range))},
    "Nystroem": {
        "kernel": Word(*_KERNELS),
        "kernel_params": Attribute(none=True, rule=("numbers", _are_kernel_parameters)),
    },
    "OneHotEncoder": {
        "dtype": _DTYPE,
        "feature_name_combiner": Word("concat"),
    },
    "OrdinalEncoder": {"dtype": _DTYPE},
    "Pipeline": {
        "steps": Attribute(rule=("named steps, each taking what the last one gives", chain_fits)),
        "memory": Attribute(rule=("None: no cache is restored", _is_none)),
        "transform_input": Attribute(rule=("None", _is_none)),
    },
}
