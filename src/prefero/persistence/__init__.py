"""Model files that are safe to open: loading one runs no code from it.

A file is a short preamble, a header that says what is inside, and the model itself: arrays,
numbers and names of types, no code. Before anything is built a checksum over the whole file is
compared; every type named in it is looked up in a fixed list (`prefero.persistence.trusted`); and
the state of every estimator is checked against what its class declares. A file that fails is
refused with a `ModelFileError`.
"""

import os
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from prefero._docs import documented
from prefero.exceptions import ModelFileError
from prefero.persistence import _payload
from prefero.persistence._container import describe, describes, read_container, write_container
from prefero.persistence._models import check_fitted

__all__ = ["ModelFileError", "load", "read_header", "save"]

Path = str | os.PathLike[str]

_documented = documented(
    signed_file="""
        path : path
            The file.
        key : bytes, optional
            The secret that the file must be signed with.
        """
)


def save(model: BaseEstimator, path: Path, *, key: bytes | None = None) -> None:
    """Write a fitted model to a file that is safe to share.

    The file is written beside ``path`` and renamed, so that an interrupted write leaves an
    old file as it was.

    Parameters
    ----------
    model : estimator
        A fitted estimator of Prefero, or a pipeline of scikit-learn's transformers that ends
        in one. Its ``n_jobs`` and the state of its random generators are not kept.
    path : path
        The file.
    key : bytes, optional
        A secret of at least 16 bytes to sign the file with, so that who has it can tell by
        ``load(path, key=key)`` that nobody else wrote or changed the file.

    Raises
    ------
    TypeError
        If the model holds anything that could not be loaded safely.

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
    try:
        payload = _payload.Writer().payload(model)
        check_fitted(model)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{type(model).__name__} cannot be saved safely: {error}") from None
    write_container(path, describe(model), payload, key=key)


@_documented
def load(path: Path, *, key: bytes | None = None) -> Any:
    """Load a model that `save` wrote. Nothing in the file is run.

    Parameters
    ----------
    %(signed_file)s

    Returns
    -------
    estimator
        The model; its predictions are those of the model that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, is no model file, was written by a newer format, is not signed
        with the key, or holds anything but a fitted model.

    Examples
    --------
    >>> import tempfile
    >>> from prefero import ConsensusLabelRanker
    >>> ranker = ConsensusLabelRanker().fit([[0.0], [1.0]], [[2, 1], [2, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ranker, folder + "/model.prefero", key=b"sixteen bytes...")
    ...     load(folder + "/model.prefero", key=b"sixteen bytes...").predict([[3.0]])
    array([[2, 1]])
    """
    return _opened(path, key)[1]


def _opened(path: Path, key: bytes | None) -> tuple[dict[str, Any], Any]:
    """The header of a file, and its model, which it is about."""
    header, payload = read_container(path, key=key)
    try:
        model = _payload.read(payload)
        check_fitted(model)
        matches = describes(header, model)
    except Exception as error:
        # Whatever a hostile file makes the reader stumble over, the answer is the same.
        problem = " ".join(str(error).split()) or type(error).__name__
        raise ModelFileError(f"{path}: this model is refused: {problem:.300}") from error
    if not matches:
        raise ModelFileError(f"{path}: the header describes another model than the file holds.")
    return header, model


@_documented
def read_header(path: Path, *, key: bytes | None = None) -> dict[str, Any]:
    """Return what a model file holds: its header, compared with the model.

    Parameters
    ----------
    %(signed_file)s

    Returns
    -------
    dict
        ``format``, ``sha256``, ``signed``, ``prefero`` and ``scikit-learn`` (versions),
        ``model`` (the name of its class), ``parameters``, ``labels``, ``features`` (names, or
        None) and ``n_features``.

    Raises
    ------
    ModelFileError
        If `load` refuses the file.

    Examples
    --------
    >>> import tempfile
    >>> from prefero import ConsensusLabelRanker
    >>> ranker = ConsensusLabelRanker().fit([[0.0], [1.0]], [[2, 1], [2, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ranker, folder + "/model.prefero")
    ...     read_header(folder + "/model.prefero")["model"]
    'ConsensusLabelRanker'
    """
    header, model = _opened(path, key)
    versions = {name: header[name] for name in ("prefero", "scikit-learn")}
    return {**header, **describe(model), **versions}
