"""Parts of docstrings that several functions share, each written once."""

import re
from collections.abc import Callable
from inspect import cleandoc
from textwrap import dedent, indent
from types import FunctionType
from typing import Any, TypeVar

# Where the site is published, as pyproject.toml says too.
SITE = "https://prefero.github.io/prefero"

T = TypeVar("T", bound=Callable[..., Any])

_PLACE = re.compile(r"^( *)%\((\w+)\)s$", re.MULTILINE)
_NAME = re.compile(r"^<(\w+)>$", re.MULTILINE)


class SharedText:
    """The parts that the whole package shares, each below its name.

    <X>

    X : array-like of shape (n_samples, n_features)
        Instances.

    <X_to_learn>

    X : array-like of shape (n_samples, n_features)
        Instances. Tags tell whether a sparse matrix or NaN is legal.

    <ranks_to_learn>

    y : array-like of shape (n_samples, n_labels)
        Ranks, 1 is best; NaN where a label is not ranked, equal where labels are tied. Some
        rankers take ``PreferenceGraphs`` too.

    <of_X>

    Parameters
    ----------
    %(X)s

    <top>

    top : int, optional
        How many labels to return; all by default.

    Returns
    -------
    ndarray of shape (n_samples, top)
        Label names.

    <of_preset>

    Parameters
    ----------
    **parameters
        Parameters to change.

    <y>

    y : array-like of shape (n_samples, n_labels)
        Their ranks.

    <weights_of_rows>

    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    <threshold>

    threshold : {"auto", "hamming-loss", "subset-loss", "f1"} or None, default="auto"
        What the place of the virtual label is learnt for, from training rows that the ranker had
        not seen: one cut for all labels, so that their order stays. ``"auto"`` takes the largest
        micro-F1 among cuts whose Hamming loss is at most 1 % above the smallest. None
        leaves the virtual label where the algorithm puts it, and learns no probabilities; so
        do fewer than 30 different rows, but for a share that is the same for all.

    <mean>

    average : bool, default=True
        Whether to return the mean over rows.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows on average.

    <returns_mean_or_rows>

    Returns
    -------
    float or ndarray of shape (n_samples,)

    <of_objects>

    Parameters
    ----------
    X : array-like of shape (n_objects, n_features)
        Objects.

    <Y>

    Y : array-like of shape (n_rankings, n_labels)
        Ranks, possibly incomplete or tied.

    <weights_of_rankings>

    sample_weight : array-like of shape (n_rankings,), optional
        Weights of the rankings.

    <sets>

    indices : array-like of shape (n_sets, n_members), or (n_indices,) with indptr
        The rows of Y in each set.
    weights : array-like of the shape of indices, optional
        Their weights; zero leaves a row out.

    <indptr>

    indptr : array-like of shape (n_sets + 1,), optional
        For sets of different sizes: set q holds ``indices[indptr[q]:indptr[q + 1]]``.

    <pairwise>

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        ``[i, j]`` is P(label i before label j); 0.5 on the diagonal.

    <log_prob>

    Parameters
    ----------
    %(Y)s

    Returns
    -------
    ndarray of shape (n_rankings,)
        Log-probabilities.

    <sample>

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

    <two_ranks>

    Y_true, Y_pred : array-like of shape (n_samples, n_labels)
        Ranks.

    <of_two_ranks>

    Parameters
    ----------
    %(two_ranks)s
    %(mean)s

    <truth_and_probability>

    Y_true : array-like of shape (n_samples, n_labels)
        Ranks. A tie is half right and half wrong; pairs with an unknown label do not count.
    probability : array-like of shape (n_samples, n_labels, n_labels)
        ``[n, i, j]`` is P(label i before label j), as ``predict_pairwise`` gives.

    <of_choices>

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores of the labels (yield, accuracy, run time); NaN where unknown.
    Y_pred : array-like of shape (n_samples, n_labels)
        Ranks. The choice is the label ranked first among those with a known score.

    <higher_is_better>

    higher_is_better : bool, default=True
        The direction of the scores.

    <relevance>

    relevance : array-like of shape (n_samples, n_labels)
        1 for relevant, 0 for irrelevant, NaN for unknown.

    <of_label_sets>

    Parameters
    ----------
    %(relevance)s
    predicted : array-like of shape (n_samples, n_labels)
        The predicted label sets, 0 or 1.
    %(weights_of_rows)s

    Returns
    -------
    float
        In [0, 1], smaller is better.

    <of_label_scores>

    Parameters
    ----------
    %(relevance)s
    scores : array-like of shape (n_samples, n_labels)
        Scores, larger is better.
    %(weights_of_rows)s

    <scores_in_queries>

    scores : array-like of shape (n_objects,)
        What the objects are ordered by, larger is better; equal scores are a tie.
    qid : array-like of shape (n_objects,), optional
        Names the set each object belongs to; by default all are one set.

    <of_query_ranks>

    Parameters
    ----------
    ranks : array-like of shape (n_objects,)
        True ranks inside the queries: smaller is better, equal is tied, NaN is unknown.
    %(scores_in_queries)s
    sample_weight : array-like of shape (n_objects,), optional
        Weights; a query weighs what its objects weigh on average.

    Returns
    -------
    float
        In [-1, 1]. A query whose objects all have the same score counts 0, one whose true
        ranks are all equal is left out.

    <of_query_relevance>

    Parameters
    ----------
    relevance : array-like of shape (n_objects,)
        1 for relevant, 0 for irrelevant, NaN for unknown.
    %(scores_in_queries)s

    Returns
    -------
    float
        In [0, 1], larger is better. Queries without a relevant object are left out.

    <object_table>

    table : array-like or sparse matrix of shape (n_objects, n_features)
        Features of every object.

    <object_names>

    names : sequence, optional
        What the rows of the table are called; 0, 1, ... by default.

    <where_to_compute>

    client : distributed.Client or False, optional
        The client of a Dask cluster; by default the current one. If there is none, or with
        False, threads of this machine read one partition after the other.
    n_jobs : int, optional
        Number of threads without a cluster. None means 1; -1 uses all cores.
    folder : path, optional
        Without a cluster: where to write what is kept of partitions, to be mapped into memory.

    <of_collection>

    Parameters
    ----------
    X : Dask array or DataFrame, or array-like, of shape (n_rows, n_features)
        Instances or objects.

    <drawn_on>

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    <ax>

    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    <axes>

    axes : sequence of matplotlib axes, optional
        Where to draw, one per heat map; a new figure by default.

    <display>

    Returns
    -------
    self
        The display, drawn.

    <label_names>

    labels : sequence, optional
        Names of the labels; by default those of the table Y, or numbers.

    <ranks_drawn>

    Y : array-like of shape (n_samples, n_labels)
        Ranks.

    <results>

    results : ResultTable
        What `prefero.evaluation.run_experiment` returned.

    <column_drawn>

    scoring : str, default="tau"
        The column to draw.

    <of_check>

    Parameters
    ----------
    estimator : estimator
        An unfitted instance.
    expected_failed_checks : mapping of str to str, optional
        Checks the estimator cannot pass by its nature, with the reason. An axiom named here
        must fail.

    Raises
    ------
    AssertionError
        The first promise that is broken, or an expected failure that did not happen.
    """


# Without docstrings, as under python -OO, there is nothing to fill either.
_, *_NAMED = _NAME.split(cleandoc(SharedText.__doc__ or ""))
_SHARED = {name: part.strip() for name, part in zip(_NAMED[::2], _NAMED[1::2], strict=True)}


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
    texts = _SHARED | {name: dedent(part).strip() for name, part in parts.items()}

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
