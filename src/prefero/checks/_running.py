"""How axioms are run, and the assertions they are made of."""

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from prefero._state import StateError, check_state, fitted_state, made_on_use
from prefero._typing import Values

Axiom = Callable[[Any], None]


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

    def with_only(self, **targets: Any) -> Self:
        """The same instances with no targets but these."""
        return self._replace(targets=targets)


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


AxiomOnProblem = Callable[[Any, Problem], None]


class Axioms(list[Axiom]):
    """The axioms of a task, each on its problem; the first are those of this module."""

    def __init__(self, problem: Callable[[], Problem]) -> None:
        super().__init__()
        self._problem = problem
        for axiom in _AXIOMS:
            self.add(axiom)

    def add(self, axiom: AxiomOnProblem) -> Axiom:
        """Append an axiom, and return it as a function of an estimator alone."""

        @wraps(axiom)
        def check(estimator: Any) -> None:
            axiom(estimator, self._problem())

        self.append(check)
        return check


def check_label_renaming(estimator: Any, problem: Problem) -> None:
    """Reordering the labels reorders the predictions and nothing else."""
    plain = fitted(estimator, problem).decision_function(problem.X_new)
    permutation = np.random.default_rng(1).permutation(plain.shape[1])
    renamed = fitted(estimator, problem.with_targets(lambda target: target[:, permutation]))
    assert_close(
        renamed.decision_function(problem.X_new),
        plain[:, permutation],
        "the order of the label columns changes the scores",
    )


def check_sample_order(estimator: Any, problem: Problem) -> None:
    """The order of the training rows does not matter."""
    shuffled = np.random.default_rng(1).permutation(len(problem.X))
    assert_same_scores(
        fitted(estimator, problem),
        fitted(estimator, problem.rows(shuffled)),
        problem.X_new,
        "the order of the training rows changes the scores",
    )


def check_weight_two_is_twice(estimator: Any, problem: Problem) -> None:
    """A row of weight two counts as the row given twice."""
    weight = np.where(np.arange(len(problem.X)) % 3 == 0, 2.0, 1.0)
    repeated = np.repeat(np.arange(len(problem.X)), weight.astype(int))
    assert_same_scores(
        fitted(estimator, problem, sample_weight=weight),
        fitted(estimator, problem.rows(repeated)),
        problem.X_new,
        "weight 2 is not the row twice",
    )


def check_weight_zero_is_absent(estimator: Any, problem: Problem) -> None:
    """A row of weight zero is as good as absent; bad weights are refused."""
    weight = (np.arange(len(problem.X)) % 3 > 0).astype(float)
    assert_same_scores(
        fitted(estimator, problem, sample_weight=weight),
        fitted(estimator, problem.rows(weight > 0)),
        problem.X_new,
        "weight 0 is not the same as no row",
    )
    for bad in (-1.0, np.nan):
        assert_refused(estimator, problem, "", sample_weight=np.where(weight > 0, 1.0, bad))


def check_empty_rows_are_ignored(estimator: Any, problem: Problem) -> None:
    """Rows without any label change nothing, warn once, and are refused if there is no other."""
    empty = np.arange(len(problem.X)) % 7 == 0
    holes = problem.with_targets(lambda target: np.where(empty[:, None], np.nan, target))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = prepared(estimator).fit(holes.X, **holes.targets)
    told = [str(warning.message) for warning in caught]
    assert sum("no label and are ignored" in message for message in told) == 1, told
    assert_same_scores(
        ranker,
        fitted(estimator, problem.rows(~empty)),
        problem.X_new,
        "an empty row changes the scores",
    )
    nothing = problem.with_targets(lambda target: np.full_like(target, np.nan))
    assert_refused(estimator, nothing, "nothing to learn")


def check_unseen_labels_come_last(estimator: Any, problem: Problem) -> None:
    """A label that no training row knows is predicted last."""

    def without_second(target: Any) -> Any:
        return np.where(np.arange(target.shape[1]) == 1, np.nan, target)

    ranker = fitted(estimator, problem.with_targets(without_second))
    assert (ranker.predict_order(problem.X_new)[:, -1] == 1).all(), "an unseen label is not last"


def check_names(estimator: Any, problem: Problem) -> None:
    """Column names of a pandas or polars table become label names of the predicted order."""
    names = ["b", "a", "<script>", "NA", "ä ö"]
    for library in _table_libraries():
        to_table = partial(_table, library, names)
        ranker = fitted(estimator, problem.with_targets(to_table))
        assert_array_equal(ranker.labels_, np.array(names, dtype=object))
        order = ranker.predict_order(problem.X_new, top=2)
        assert order.shape == (len(problem.X_new), 2)
        best = np.argmax(ranker.decision_function(problem.X_new), axis=1)
        assert_array_equal(order[:, 0], np.array(names, dtype=object)[best])
        turned = problem.with_targets(partial(_table, library, names[::-1]))
        score = partial(ranker.score, turned.X, **turned.targets)
        assert_raises(score, "same columns in the same order")


def _table(library: Any, names: list[str], target: Any) -> Any:
    return library.DataFrame(dict(zip(names, target.T, strict=True)))


def _table_libraries() -> list[Any]:
    """Those of pandas and polars that are installed."""
    found = []
    for module in ("pandas", "polars"):
        try:
            found.append(__import__(module))
        except ImportError:
            continue
    return found


def check_fitted_state(estimator: Any, problem: Problem) -> None:
    """The fitted attributes are as the class declares them, and pickles hold no others."""
    ranker = fitted(estimator, problem)
    ranker.predict(problem.X_new)
    try:
        check_state(type(ranker).__name__, fitted_state(type(ranker)), vars(ranker))
    except StateError as error:
        raise AssertionError(f"the fitted state is not as declared: {error}") from error
    kept = ranker.__getstate__().keys() & made_on_use(type(ranker))
    assert not kept, f"{min(kept, default='')} is made at first use, but pickled"


def check_copies(estimator: Any, problem: Problem) -> None:
    """Pickled and refitted clones predict the same."""
    ranker = fitted(estimator, problem)
    expected = ranker.decision_function(problem.X_new)
    again = pickle.loads(pickle.dumps(ranker))
    assert_array_equal(again.decision_function(problem.X_new), expected)
    assert_array_equal(fitted(ranker, problem).decision_function(problem.X_new), expected)


def check_parallelism(estimator: Any, problem: Problem) -> None:
    """Scores are bit-identical for any n_jobs and from many threads at once."""
    ranker = fitted(estimator, problem)
    expected = ranker.decision_function(problem.X_new)
    if "n_jobs" in estimator.get_params():
        two = fitted(clone(estimator).set_params(n_jobs=2), problem)
        assert_array_equal(two.decision_function(problem.X_new), expected)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(ranker.decision_function, [problem.X_new] * 8):
            assert_array_equal(scores, expected)


_AXIOMS: list[AxiomOnProblem] = [
    check_label_renaming,
    check_sample_order,
    check_weight_two_is_twice,
    check_weight_zero_is_absent,
    check_empty_rows_are_ignored,
    check_unseen_labels_come_last,
    check_names,
    check_fitted_state,
    check_copies,
    check_parallelism,
]
