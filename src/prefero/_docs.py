"""Parts of docstrings that several functions share, each written once."""

import re
from collections.abc import Callable
from textwrap import dedent, indent
from types import FunctionType
from typing import Any, TypeVar

# Where the site is published, as pyproject.toml says too.
SITE = "https://prefero.github.io/prefero"

T = TypeVar("T", bound=Callable[..., Any])

_PLACE = re.compile(r"^( *)%\((\w+)\)s$", re.MULTILINE)

# Named as the parameters are; what several packages say in the same words.
_SHARED = {
    "X": """
        X : array-like of shape (n_samples, n_features)
            Instances.
        """,
    "X_to_learn": """
        X : array-like of shape (n_samples, n_features)
            Instances. Tags tell whether a sparse matrix or NaN is legal.
        """,
    "ranks_to_learn": """
        y : array-like of shape (n_samples, n_labels)
            Ranks, 1 is best; NaN where a label is not ranked, equal where labels are tied. Some
            rankers take ``PreferenceGraphs`` too.
        """,
    "of_X": """
        Parameters
        ----------
        %(X)s
        """,
    "top": """
        top : int, optional
            How many labels to return; all by default.

        Returns
        -------
        ndarray of shape (n_samples, top)
            Label names.
        """,
    "of_preset": """
        Parameters
        ----------
        **parameters
            Parameters to change.
        """,
    "y": """
        y : array-like of shape (n_samples, n_labels)
            Their ranks.
        """,
    "weights_of_rows": """
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        """,
    "mean": """
        average : bool, default=True
            Whether to return the mean over rows.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows on average.
        """,
    "Y": """
        Y : array-like of shape (n_rankings, n_labels)
            Ranks, possibly incomplete or tied.
        """,
    "weights_of_rankings": """
        sample_weight : array-like of shape (n_rankings,), optional
            Weights of the rankings.
        """,
    "sets": """
        indices : array-like of shape (n_sets, n_members), or (n_indices,) with indptr
            The rows of Y in each set.
        weights : array-like of the shape of indices, optional
            Their weights; zero leaves a row out.
        """,
    "indptr": """
        indptr : array-like of shape (n_sets + 1,), optional
            For sets of different sizes: set q holds ``indices[indptr[q]:indptr[q + 1]]``.
        """,
    "pairwise": """
        Returns
        -------
        ndarray of shape (n_labels, n_labels)
            ``[i, j]`` is P(label i before label j); 0.5 on the diagonal.
        """,
    "log_prob": """
        Parameters
        ----------
        Y : array-like of shape (n_rankings, n_labels)
            Ranks.

        Returns
        -------
        ndarray of shape (n_rankings,)
            Log-probabilities.
        """,
    "sample": """
        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState or None, default=None
            The source of chance.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), dtype int64
            Strict complete ranks.
        """,
}


def documented(**parts: str) -> Callable[[T], T]:
    """Fill the lines ``%(name)s`` of a docstring with parts of this name.

    Parameters
    ----------
    **parts : str
        Further parts, beside those that the whole package shares.

    Returns
    -------
    callable
        A decorator of functions, and of classes together with their methods.

    Examples
    --------
    >>> @documented(size="size : int, default=3")
    ... def grow(size=3):
    ...     '''Grow.
    ...
    ...     Parameters
    ...     ----------
    ...     %(size)s
    ...         How far.
    ...     '''
    >>> print(grow.__doc__)
    Grow.
    ...
        size : int, default=3
            How far.
    """
    texts = {name: dedent(part).strip() for name, part in (_SHARED | parts).items()}

    def filled(text: str) -> str:
        return _PLACE.sub(lambda at: indent(filled(texts[at[2]]), at[1]), text)

    def fill(thing: T) -> T:
        members = list(vars(thing).values()) if isinstance(thing, type) else []
        # What wraps a function (a class method, a descriptor) keeps its docstring a second time.
        wrapping = [member for member in members if hasattr(member, "__wrapped__")]
        functions = [member for member in members if isinstance(member, FunctionType)]
        for one in (thing, *functions, *wrapping, *(member.__wrapped__ for member in wrapping)):
            # Python run with -OO has no docstrings.
            if one.__doc__:
                one.__doc__ = filled(one.__doc__)
        return thing

    return fill
