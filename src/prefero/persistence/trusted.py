"""The types a model file may name, each with the one way in which it may be built.

Everything here is built from plain values without calling code that the file chooses.
Estimators of scikit-learn are listed only if their predictions are computed by NumPy and SciPy,
which check shapes and indices: its trees, neighbour trees and kernel machines follow indices
from the file without looking, so that a crafted file could read outside the memory of the
process.
"""

from sklearn.base import BaseEstimator

import prefero

__all__ = ["TRUSTED", "is_trusted"]

_SCALARS = frozenset(
    f"numpy.{name}"
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "str_"),
    )
)
_SCIKIT_LEARN = frozenset(
    f"sklearn.{name}"
    for name in (
        "compose._column_transformer.ColumnTransformer",
        "compose._column_transformer._RemainderColsList",
        "decomposition._pca.PCA",
        "decomposition._truncated_svd.TruncatedSVD",
        "dummy.DummyClassifier",
        "feature_selection._variance_threshold.VarianceThreshold",
        "impute._base.MissingIndicator",
        "impute._base.SimpleImputer",
        "kernel_approximation.Nystroem",
        "linear_model._base.LinearRegression",
        "linear_model._logistic.LogisticRegression",
        "linear_model._logistic.LogisticRegressionCV",
        "linear_model._ridge.Ridge",
        "linear_model._ridge.RidgeCV",
        "linear_model._ridge.RidgeClassifier",
        "naive_bayes.GaussianNB",
        "pipeline.FeatureUnion",
        "pipeline.Pipeline",
        "preprocessing._data.MaxAbsScaler",
        "preprocessing._data.MinMaxScaler",
        "preprocessing._data.Normalizer",
        "preprocessing._data.PowerTransformer",
        "preprocessing._data.QuantileTransformer",
        "preprocessing._data.RobustScaler",
        "preprocessing._data.StandardScaler",
        "preprocessing._encoders.OneHotEncoder",
        "preprocessing._encoders.OrdinalEncoder",
        "preprocessing._label.LabelBinarizer",
        "preprocessing._label.LabelEncoder",
        "preprocessing._polynomial.PolynomialFeatures",
        "svm._classes.LinearSVC",
    )
)

# By the loader of skops that builds them.
TRUSTED: dict[str, frozenset[str]] = {
    "DictNode": frozenset({"builtins.dict"}),
    "DTypeNode": frozenset({"numpy.dtype"}),
    "JsonNode": frozenset({"builtins.str"}),
    "ListNode": frozenset({"builtins.list"}),
    "NdArrayNode": frozenset({"numpy.ndarray"}) | _SCALARS,
    "ObjectNode": _SCIKIT_LEARN,
    "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
    "SetNode": frozenset({"builtins.set"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "SparseMatrixNode": frozenset(
        f"scipy.sparse._{kind}.{kind}_{form}"
        for kind in ("csc", "csr")
        for form in ("array", "matrix")
    ),
    "TupleNode": frozenset({"builtins.tuple"}),
    "TypeNode": frozenset(f"builtins.{name}" for name in ("bool", "float", "int", "str"))
    | _SCALARS,
}


def is_trusted(loader: str, module: str, name: str) -> bool:
    """Tell whether a loader may build a type.

    Parameters
    ----------
    loader : str
        The name of a node of skops.
    module, name : str
        Where the type is defined, and its name there.

    Returns
    -------
    bool
        True for the types of `TRUSTED` and for the public estimators of Prefero.

    Examples
    --------
    >>> is_trusted("ObjectNode", "prefero.label_ranking.baseline", "ConsensusLabelRanker")
    True
    >>> is_trusted("ObjectNode", "os", "system")
    False
    """
    if f"{module}.{name}" in TRUSTED.get(loader, ()):
        return True
    # The name is looked up among ours, never imported from where the file says.
    if loader != "ObjectNode" or name not in prefero._PUBLIC:
        return False
    ours = getattr(prefero, name, None)
    return isinstance(ours, type) and issubclass(ours, BaseEstimator) and ours.__module__ == module
