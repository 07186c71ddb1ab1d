"""All or nothing: a fit that fails leaves an estimator as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prefero._state import made_on_use


def goes_on(estimator: Any) -> bool:
    """Tell whether the next fit of an estimator builds on the last one.

    Examples
    --------
    >>> from prefero import ForestLabelRanker
    >>> forest = ForestLabelRanker(5, warm_start=True, random_state=0)
    >>> goes_on(forest), goes_on(forest.fit([[0.0], [1.0]], [[1, 2], [2, 1]]))
    (False, True)
    """
    return bool(getattr(estimator, "warm_start", False)) and hasattr(estimator, "n_features_in_")


@contextmanager
def fitting(estimator: Any, *, anew: bool = True) -> Iterator[Any]:
    """Lend a twin to fit; the estimator takes what it learned if no error leaves the block.

    Parameters
    ----------
    estimator : estimator
        The estimator to fit.
    anew : bool, default=True
        Whether the twin starts without the attributes of an earlier fit.

    Yields
    ------
    estimator
        The twin, with the same parameters.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> ranker = ConsensusLabelRanker()
    >>> with fitting(ranker) as twin:
    ...     twin.order_ = ["b", "a"]
    >>> ranker.order_
    ['b', 'a']
    """
    twin = twin_of(estimator, anew=anew)
    yield twin
    vars(estimator).clear()
    vars(estimator).update(vars(twin))


def twin_of(estimator: Any, *, anew: bool = True) -> Any:
    """Return an estimator of the same parameters, for a calculation that must leave no trace.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> twin = twin_of(ConsensusLabelRanker("kemeny").fit([[0.0]], [[1, 2]]))
    >>> twin.aggregation, hasattr(twin, "labels_")
    ('kemeny', False)
    """
    twin = object.__new__(type(estimator))
    made = made_on_use(type(estimator))
    vars(twin).update(
        (name, value)
        for name, value in vars(estimator).items()
        if name not in made and not (anew and name.endswith("_"))
    )
    return twin
