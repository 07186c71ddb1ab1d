"""The one shape in which every loader, generator and reader returns its data."""

from collections.abc import Sequence
from typing import Any

from sklearn.utils import Bunch

from prefero._optional import require


def ranking_bunch(
    data: Any,
    target: Any,
    *,
    feature_names: Sequence[str],
    label_names: Sequence[str],
    description: str,
    as_frame: bool = False,
) -> Bunch:
    """Bundle instances and their ranks the way scikit-learn's loaders do.

    Parameters
    ----------
    data : array-like of shape (n_samples, n_features)
        Instances.
    target : array-like of shape (n_samples, n_labels)
        Their ranks.
    feature_names, label_names : sequence of str
        The names of the columns.
    description : str
        Where the data comes from.
    as_frame : bool, default=False
        Whether data and target become pandas tables with those names.

    Returns
    -------
    Bunch
        With ``data``, ``target``, ``feature_names``, ``label_names`` and ``DESCR``.
    """
    if as_frame:
        pandas = require("pandas", extra="cli", purpose="as_frame=True")
        data = pandas.DataFrame(data, columns=list(feature_names))
        target = pandas.DataFrame(target, columns=list(label_names))
    return Bunch(
        data=data,
        target=target,
        feature_names=list(feature_names),
        label_names=list(label_names),
        DESCR=description,
    )
