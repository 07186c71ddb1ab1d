"""Model files that are safe to open: loading one runs no code from it.

A file is a short preamble, a header that says what is inside, and the model itself, written by
skops: arrays, numbers and names of types, no code. Before anything is built, a checksum over
the whole file is compared and every type named in it looked up in a fixed list
(`prefero.persistence.trusted`); a file that fails is refused with a `ModelFileError`.
"""

import os
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from prefero._optional import require
from prefero.exceptions import ModelFileError
from prefero.persistence._container import read_container, write_container
from prefero.persistence._header import describe, describes
from prefero.persistence._payload import check_arrays, check_payload

__all__ = ["ModelFileError", "load", "read_header", "save"]

Path = str | os.PathLike[str]


def save(model: BaseEstimator, path: Path) -> None:
    """Write a fitted model to a file that is safe to share.

    The file is written beside ``path`` and renamed, so that an interrupted write leaves an
    old file as it was.

    Parameters
    ----------
    model : estimator
        A fitted estimator of Prefero, or a pipeline of scikit-learn's transformers that ends
        in one.
    path : path
        The file.

    Raises
    ------
    TypeError
        If the model holds an object of a type that could not be loaded safely.

    Examples
    --------
    >>> import tempfile
    >>> from prefero import ConsensusLabelRanker, load, save
    >>> ranker = ConsensusLabelRanker().fit([[0.0], [1.0]], [[1, 2], [1, 2]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ranker, folder + "/model.prefero")
    ...     load(folder + "/model.prefero").predict([[3.0]])
    array([[1, 2]])
    """
    check_is_fitted(model)
    skops = require("skops.io", extra="files", purpose="Saving a model")
    payload = skops.dumps(model)
    try:
        check_payload(payload)
    except ModelFileError as error:
        raise TypeError(f"{type(model).__name__} cannot be saved safely: {error}") from None
    write_container(path, describe(model), payload)


def load(path: Path) -> Any:
    """Load a model that `save` wrote. Nothing in the file is run.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator
        The model; its predictions are those of the model that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, is no model file, was written by a newer format, or holds
        anything but the arrays and types of a model.
    """
    header, payload = read_container(path)
    skops = require("skops.io", extra="files", purpose="Loading a model")
    try:
        trusted = check_payload(payload)
        model = skops.loads(payload, trusted=trusted)
        check_arrays(model)
        matches = describes(header, model)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except Exception as error:
        # Whatever a hostile file makes the reader stumble over, the answer is the same.
        raise ModelFileError(f"{path}: the model in this file is malformed: {error}") from error
    if not matches:
        raise ModelFileError(f"{path}: the header describes another model than the file holds.")
    return model


def read_header(path: Path) -> dict[str, Any]:
    """Return what a model file says about itself, without building the model.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict
        ``format``, ``prefero`` and ``scikit-learn`` (versions), ``sha256``, ``model`` (the
        name of its class), ``parameters``, ``labels``, ``features`` (names, or None) and
        ``n_features``.

    Raises
    ------
    ModelFileError
        If the file is damaged, is no model file or was written by a newer format.
    """
    return read_container(path)[0]
