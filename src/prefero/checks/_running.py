"""How axioms are run, and the assertions they are made of."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from prefero._docs import documented
from prefero._typing import Values

Axiom = Callable[[Any], None]

documented_check = documented(
    of_check="""
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
)


def run_all(
    estimator: Any, axioms: Sequence[Axiom], expected_failed_checks: Mapping[str, str] | None
) -> None:
    """Run scikit-learn's suite and some axioms; those expected to fail must fail."""
    expected = dict(expected_failed_checks or {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
        for axiom in axioms:
            run_axiom(axiom, estimator, expected_to_fail=axiom.__name__ in expected)


def run_axiom(axiom: Axiom, estimator: Any, *, expected_to_fail: bool = False) -> None:
    """Run one axiom, or make sure that it fails.

    Parameters
    ----------
    axiom : callable
        One of the axioms of a task.
    estimator : estimator
        An unfitted instance.
    expected_to_fail : bool, default=False
        Whether the estimator cannot keep this promise by its nature.

    Raises
    ------
    AssertionError
        If the promise is broken, or kept although it was expected not to be.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> from prefero.checks import LABEL_RANKER_AXIOMS
    >>> run_axiom(LABEL_RANKER_AXIOMS[0], ConsensusLabelRanker())
    """
    try:
        axiom(estimator)
    except AssertionError:
        if not expected_to_fail:
            raise
        return
    if expected_to_fail:
        raise AssertionError(f"{axiom.__name__} holds, but was expected to fail.")


def assert_valid_rankings(ranks: NDArray[Any], n_labels: int) -> None:
    """Assert that every row is a permutation of 1..n_labels in an integer array.

    Parameters
    ----------
    ranks : ndarray of shape (n_samples, n_labels)
        Predicted ranks.
    n_labels : int
        The number of labels.

    Examples
    --------
    >>> assert_valid_rankings(np.array([[2, 1, 3]]), 3)
    """
    assert ranks.dtype.kind == "i", f"predicted ranks have dtype {ranks.dtype}, not an integer one"
    assert_array_equal(np.sort(ranks, axis=1), np.tile(np.arange(1, n_labels + 1), (len(ranks), 1)))


def assert_complementary(probability: Values, size: int) -> None:
    """Assert that P(i before j) and P(j before i) sum to 1 for every two of ``size`` things."""
    assert probability.shape[1:] == (size, size)
    total = probability + probability.transpose(0, 2, 1)
    assert_allclose(total[:, ~np.eye(size, dtype=bool)], 1.0, atol=1e-9)
    assert (probability >= 0).all()


class Problem(NamedTuple):
    """Training data and new instances.

    ``targets`` are the arguments of fit that follow X, by name: each is (n_samples, n_labels).
    """

    X: Values
    targets: dict[str, Any]
    X_new: Values

    def rows(self, chosen: NDArray[Any]) -> Self:
        """The same problem with some of the rows, or the rows in another order."""
        targets = {name: target[chosen] for name, target in self.targets.items()}
        return self._replace(X=self.X[chosen], targets=targets)

    def with_targets(self, change: Callable[[Any], Any]) -> Self:
        """The same instances with other targets."""
        return self._replace(targets={name: change(of) for name, of in self.targets.items()})


def linear_problem(targets: Callable[[Values], dict[str, Any]]) -> Problem:
    """A noisy linear problem that no ranker could abuse; its targets are made of utilities."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    utilities = X @ rng.normal(size=(4, 5)) + 0.5 * rng.normal(size=(60, 5))
    return Problem(X, targets(utilities), rng.normal(size=(20, 4)))


def prepared(estimator: Any) -> Any:
    """A copy with a fixed seed, whose solver leaves no slack that an axiom could mistake."""
    copy = clone(estimator)
    wanted = {"random_state": 0, "tol": 1e-9}
    known = copy.get_params()
    return copy.set_params(**{name: value for name, value in wanted.items() if name in known})


def fitted(estimator: Any, problem: Problem, **fit_params: Any) -> Any:
    """A copy trained on a problem, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return prepared(estimator).fit(problem.X, **problem.targets, **fit_params)


def assert_same_scores(first: Any, second: Any, X: Values, message: str) -> None:
    """Assert that two fitted rankers score instances alike, up to what solvers leave open."""
    assert_close(first.decision_function(X), second.decision_function(X), message)


def assert_close(found: Values, expected: Values, message: str) -> None:
    """Assert that scores are equal up to what solvers leave open."""
    assert_allclose(found, expected, rtol=1e-4, atol=1e-6, err_msg=message)


def assert_refused(estimator: Any, problem: Problem, words: str, **fit_params: Any) -> None:
    """Assert that fitting raises a ValueError whose sentence holds the given words."""
    assert_raises(lambda: fitted(estimator, problem, **fit_params), words)


def assert_raises(call: Callable[[], Any], words: str) -> None:
    """Assert that a call raises a ValueError whose sentence holds the given words."""
    try:
        call()
    except ValueError as error:
        if words not in str(error):
            raise AssertionError(f"the error does not say {words!r}: {error}") from error
    else:
        raise AssertionError(f"accepted what should be refused ({words or 'bad sample_weight'})")
