"""Columns of free text as numbers: weighted word counts, reduced to a few dimensions."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from prefero._names import is_known
from prefero._sklearn import Interval
from prefero._state import Array, Attribute, Count, FittedState, Names, State
from prefero._typing import Values
from prefero.base import FittedMixin


def _are_words(words: Any, _: State) -> bool:
    return all(isinstance(word, str) for word in words) and len(set(words)) == len(words)


class TextEncoder(FittedMixin, TransformerMixin, BaseEstimator):
    """Turn columns of free text into numbers that any ranker takes.

    Each text, the columns of a row joined, becomes its words' counts, weighted by how rare they
    are (TF-IDF), and these a few coordinates by truncated singular value decomposition (latent
    semantic analysis); the logarithm of its length is one more. Unlike scikit-learn's own
    steps it may be written into a model file: its fitted state is three arrays.

    Parameters
    ----------
    n_components : int, default=30
        How many dimensions to keep; fewer, if there are fewer texts or words.
    max_words : int, default=3000
        How many words to look at, the most frequent ones.
    min_rows : int, default=2
        In how many rows a word must occur.
    random_state : int, default=0
        The seed of the decomposition.

    Attributes
    ----------
    words_ : ndarray of shape (n_words,)
        The words, in the order of the columns.
    rarity_ : ndarray of shape (n_words,)
        The inverse document frequencies, as scikit-learn smooths them.
    components_ : ndarray of shape (n_components, n_words)
        What each word adds to each dimension.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had some.

    References
    ----------
    Deerwester et al. (1990), Indexing by latent semantic analysis.

    Examples
    --------
    >>> texts = [["a red apple"], ["a green apple"], ["a fast car"], ["a red car"]]
    >>> TextEncoder(n_components=2).fit_transform(texts).shape
    (4, 3)
    """

    _input_tags: ClassVar[dict[str, bool]] = {
        "string": True,
        "two_d_array": False,
        "allow_nan": True,
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_words": [Interval(Integral, 1, None, closed="left")],
        "min_rows": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "n_features_in_": Count(1, size="n_features"),
        "feature_names_in_": Names("n_features", optional=True),
        "words_": Names("n_words", rule=("different words", _are_words)),
        "rarity_": Array("f8", "n_words"),
        "components_": Array("f8", "n_components", "n_words"),
        "_sklearn_output_config": Attribute(optional=True),
    }

    def __init__(
        self,
        n_components: int = 30,
        *,
        max_words: int = 3000,
        min_rows: int = 2,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.max_words = max_words
        self.min_rows = min_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the words and the dimensions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Texts; None and NaN are empty ones.
        y : object, optional
            Ignored.

        Returns
        -------
        self
            The encoder.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Values:
        """Learn the words and the dimensions, and return the coordinates of the texts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Texts; None and NaN are empty ones.
        y : object, optional
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components + 1)
            Coordinates, and the logarithm of 1 + the number of characters.
        """
        self._validate_params()
        texts, n_columns, names = _joined(X)
        words, counts = self._count(texts)
        present = np.bincount(counts.indices, minlength=len(words))
        rarity = np.log((1 + len(texts)) / (1 + present)) + 1
        weighted = _weighted(counts, rarity)
        most = min(self.n_components, len(words), len(texts))
        # The decomposition refuses as many dimensions as there are words.
        components = (
            np.eye(len(words))[:most] if most == len(words) else self._decompose(weighted, most)
        )
        self.n_features_in_ = n_columns
        if names is not None:
            self.feature_names_in_ = names
        self.words_, self.rarity_, self.components_ = words, rarity, components
        return _coordinates(weighted, components, texts)

    def _count(self, texts: list[str]) -> tuple[NDArray[Any], csr_matrix]:
        if not texts:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        counter = CountVectorizer(
            min_df=min(self.min_rows, len(texts)), max_features=self.max_words
        )
        try:
            counts = counter.fit_transform(texts)
        except ValueError:
            # No word is left: the length of a text is all that is known of it.
            return np.empty(0, dtype=object), csr_matrix((len(texts), 0))
        return counter.get_feature_names_out().astype(object), counts.tocsr()

    def _decompose(self, weighted: csr_matrix, n_components: int) -> Values:
        reducer = TruncatedSVD(n_components, random_state=self.random_state)
        return np.asarray(reducer.fit(weighted).components_, dtype=np.float64)

    def transform(self, X: Any) -> Values:
        """Return the coordinates of texts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Texts; None and NaN are empty ones.

        Returns
        -------
        ndarray of shape (n_samples, n_components + 1)
            Coordinates, and the logarithm of 1 + the number of characters.
        """
        check_is_fitted(self)
        texts, n_columns, _ = _joined(X)
        if n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {n_columns} features, but TextEncoder is expecting "
                f"{self.n_features_in_} features as input."
            )
        if not len(self.words_):
            return _coordinates(csr_matrix((len(texts), 0)), self.components_, texts)
        counter = CountVectorizer(vocabulary=self.words_.tolist())
        counts = counter.transform(texts).tocsr()
        return _coordinates(_weighted(counts, self.rarity_), self.components_, texts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the coordinates: those of the columns, and a number or 'length'.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns.

        Returns
        -------
        ndarray of str
            Names.
        """
        check_is_fitted(self)
        names = (
            getattr(self, "feature_names_in_", None) if input_features is None else input_features
        )
        base = "text" if names is None else "+".join(map(str, names))
        numbers = [f"{base}_{i + 1}" for i in range(len(self.components_))]
        return np.array([*numbers, f"{base}_length"], dtype=object)


def _joined(X: Any) -> tuple[list[str], int, NDArray[Any] | None]:
    """The texts of each row as one, the number of columns, and their names."""
    names = getattr(X, "columns", None)
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2:
        raise ValueError(
            f"Expected 2D array of texts, got an array of {cells.ndim} dimensions. Reshape your "
            "data using array.reshape(-1, 1) if it has a single column."
        )
    texts = [" ".join(_text(cell) for cell in row) for row in cells]
    named = None if names is None else np.array([str(name) for name in names], dtype=object)
    return texts, cells.shape[1], named


def _text(cell: Any) -> str:
    return str(cell) if isinstance(cell, str) or is_known(cell) else ""


def _weighted(counts: csr_matrix, rarity: Values) -> csr_matrix:
    if not counts.shape[1]:
        return counts
    return normalize(counts.astype(np.float64) @ diags(rarity))


def _coordinates(weighted: csr_matrix, components: Values, texts: list[str]) -> Values:
    length = np.log1p([len(text) for text in texts])
    if not len(components):
        return length[:, None]
    return np.column_stack([np.asarray(weighted @ components.T), length])
