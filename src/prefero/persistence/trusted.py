"""The types a model file may name.

Each is built from plain values without calling anything that the file chooses. Estimators of
scikit-learn are listed only if their predictions are computed by NumPy and SciPy, which check
shapes and indices: its trees, neighbour trees and kernel machines follow indices from the file
without looking, so that a crafted file could read outside the memory of the process. What each
of them must hold stands in ``_scikit_learn.py``.
"""

from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

import prefero

__all__ = ["SCALARS", "SCIKIT_LEARN", "trusted_name", "trusted_type"]

# Types of numbers and texts that a parameter may be, as the dtype of an encoder is.
SCALARS = {
    "builtins": ("bool", "float", "int", "str"),
    "numpy": (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "str_"),
    ),
}

# Estimators by the module that makes them public.
SCIKIT_LEARN = {
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.dummy": ("DummyClassifier",),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.kernel_approximation": ("Nystroem",),
    "sklearn.linear_model": (
        *("LinearRegression", "LogisticRegression", "LogisticRegressionCV"),
        *("Ridge", "RidgeCV", "RidgeClassifier"),
    ),
    "sklearn.naive_bayes": ("GaussianNB",),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": (
        *("LabelBinarizer", "LabelEncoder", "MaxAbsScaler", "MinMaxScaler", "Normalizer"),
        *("OneHotEncoder", "OrdinalEncoder", "PolynomialFeatures", "PowerTransformer"),
        *("QuantileTransformer", "RobustScaler", "StandardScaler"),
    ),
    "sklearn.svm": ("LinearSVC",),
}


_LISTED = SCALARS | SCIKIT_LEARN


def trusted_type(module: str, name: str) -> type | None:
    """Return the type of a name, if it is on the list.

    Parameters
    ----------
    module : str
        Where the file says that the type is: a module of the list or one inside it, or any
        module of Prefero.
    name : str
        Its name there.

    Returns
    -------
    type or None
        A type of `SCALARS` or `SCIKIT_LEARN`, or a public estimator of Prefero.

    Examples
    --------
    >>> trusted_type("prefero.label_ranking.baseline", "ConsensusLabelRanker")
    <class 'prefero.label_ranking.baseline.ConsensusLabelRanker'>
    >>> trusted_type("os", "system") is None
    True
    """
    for place, names in _LISTED.items():
        # What is imported comes from the list, never from the file.
        if name in names and (module == place or module.startswith(f"{place}.")):
            return getattr(import_module(place), name)
    if module.partition(".")[0] != "prefero" or name not in prefero._PUBLIC:
        return None
    ours = getattr(prefero, name, None)
    return ours if isinstance(ours, type) and issubclass(ours, BaseEstimator) else None


def trusted_name(of: Any) -> tuple[str, str] | None:
    """Return the module and the name by which a file calls a type, or None.

    Parameters
    ----------
    of : type
        A type.

    Returns
    -------
    (str, str) or None
        What `trusted_type` takes.

    Examples
    --------
    >>> trusted_name(BaseEstimator) is None
    True
    """
    for place in (*_LISTED, "prefero"):
        name = of.__name__
        if trusted_type(place, name) is of:
            return place, name
    return None
