"""All or nothing: a fit that fails leaves an estimator as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from prefero._docs import SITE
from prefero._sklearn import check_sample_weight, make_constraint
from prefero._state import Array, Count, FittedState, Names, State, made_on_use
from prefero._typing import ArrayOrNone, Mask, Values
from prefero.base import _features


def continues_fit(estimator: Any) -> bool:
    """Tell whether the next fit of an estimator builds on the last one.

    Examples
    --------
    >>> from prefero import ForestLabelRanker
    >>> forest = ForestLabelRanker(5, warm_start=True, random_state=0)
    >>> continues_fit(forest), continues_fit(forest.fit([[0.0], [1.0]], [[1, 2], [2, 1]]))
    (False, True)
    """
    return bool(getattr(estimator, "warm_start", False)) and hasattr(estimator, "n_features_in_")


@contextmanager
def fitting(estimator: Any, *, anew: bool = True) -> Iterator[Any]:
    """Lend a copy to fit; the estimator takes what it learned if no error leaves the block.

    Parameters
    ----------
    estimator : estimator
        The estimator to fit.
    anew : bool, default=True
        Whether the copy starts without the attributes of an earlier fit.

    Yields
    ------
    estimator
        The copied, with the same parameters.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> ranker = ConsensusLabelRanker()
    >>> with fitting(ranker) as copied:
    ...     copied.order_ = ["b", "a"]
    >>> ranker.order_
    ['b', 'a']
    """
    copied = copy_of(estimator, anew=anew)
    yield copied
    vars(estimator).clear()
    vars(estimator).update(vars(copied))


def copy_of(estimator: Any, *, anew: bool = True) -> Any:
    """Return an estimator of the same parameters, for a calculation that must leave no trace.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> copied = copy_of(ConsensusLabelRanker("kemeny").fit([[0.0]], [[1, 2]]))
    >>> copied.aggregation, hasattr(copied, "labels_")
    ('kemeny', False)
    """
    copied = object.__new__(type(estimator))
    made = made_on_use(type(estimator))
    vars(copied).update(
        (name, value)
        for name, value in vars(estimator).items()
        if name not in made and not (anew and name.endswith("_"))
    )
    return copied


def _is_range(values: Any, _: State) -> bool:
    return bool((values == np.arange(len(values))).all())


# Of every estimator with a fixed set of labels.
LABELS: FittedState = {
    "labels_": Names("n_labels"),
    "classes_": Array("i", "n_labels", rule=("0, 1, ...", _is_range)),
    "unseen_labels_": Array("b", "n_labels"),
    "feature_ranges_": Array("f8", "n_features", 2, nan=True, optional=True),
}


_constraints: WeakKeyDictionary[type, list[tuple[str, list[Any]]]] = WeakKeyDictionary()


def _constraints_of(owner: Any) -> list[tuple[str, list[Any]]]:
    """The parameters of a class and what each of them may be."""
    if owner not in _constraints:
        declared = owner._parameter_constraints
        _constraints[owner] = [
            (name, [make_constraint(constraint) for constraint in declared[name]])
            for name in owner._get_param_names()
            if declared.get(name, "no_validation") != "no_validation"
        ]
    return _constraints[owner]


class FittedMixin:
    """Mixin of all estimators: the declaration of their fitted state, and pickling.

    Examples
    --------
    >>> from prefero import ConsensusLabelRanker
    >>> ranker = ConsensusLabelRanker().fit([[0.0], [4.0]], [[1, 2], [1, 2]])
    >>> isinstance(ranker, FittedMixin), ranker.feature_ranges_
    (True, array([[0., 4.]]))
    """

    feature_ranges_: Values

    _fitted_state: ClassVar[FittedState] = {
        "n_features_in_": Count(1, size="n_features"),
        "feature_names_in_": Names("n_features", optional=True),
    }
    # Where scikit-learn's tags differ from its defaults: what X may be, whether y is needed.
    _input_tags: ClassVar[dict[str, bool]] = {}
    _needs_y: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        for name, value in self._input_tags.items():
            setattr(tags.input_tags, name, value)
        tags.target_tags.required = tags.target_tags.required or self._needs_y
        return tags

    def __getstate__(self) -> dict[str, Any]:
        made = made_on_use(type(self))
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in made}

    def _validate_params(self) -> None:
        """Validate parameters as scikit-learn does, which lists them anew for every fit."""
        for name, constraints in _constraints_of(type(self)):
            value = getattr(self, name)
            if not any(constraint.is_satisfied_by(value) for constraint in constraints):
                return super()._validate_params()  # type: ignore[misc]
        return None

    def _get_doc_link(self) -> str:
        """Return the page of the class on the site, to which scikit-learn's drawing links."""
        package, room = [*type(self).__module__.split("."), ""][:2]
        if package != "prefero":
            return ""
        if room.startswith("_"):  # a class that two packages share, shown in the upper one
            room = import_module(package)._PUBLIC[type(self).__name__]
        return f"{SITE}/reference/names/{package}.{room}.{type(self).__name__}.html"

    def _note_ranges(self, X: Any, reset: bool) -> None:
        """Take over the ranges of features, together with those of earlier rows unless reset."""
        earlier = None if reset else getattr(self, "feature_ranges_", None)
        self.feature_ranges_ = _features.feature_ranges(X, earlier)


class LabelsMixin(FittedMixin):
    """Mixin of all estimators with a fixed set of labels: attributes, tags, validation of X.

    An estimator names its task, and writes ``_fit`` and ``_decision``.

    Examples
    --------
    >>> from prefero import BinaryRelevanceRanker
    >>> isinstance(BinaryRelevanceRanker(), LabelsMixin)
    True
    """

    labels_: NDArray[Any]
    classes_: NDArray[np.intp]
    unseen_labels_: Mask

    _needs_y: ClassVar[bool] = True
    _estimator_type_tag: ClassVar[str]
    # What a row does to a label that it holds, and what was done to the label.
    _row_says: ClassVar[tuple[str, str]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _fitted_state: ClassVar[FittedState] = LABELS

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = self._estimator_type_tag
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.target_tags.two_d_labels = True
        return tags

    def _validate_X(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """Validate features as the tags of the estimator say."""
        return _features.check_features(self, X, reset=reset)

    def _validate_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayOrNone = None,
        beside: Any = None,
        *,
        reset: bool = True,
    ) -> tuple[NDArray[Any], Any, Values]:
        """Validate training data, set the label attributes, drop rows that say nothing.

        Returns features, the target as ``_fit`` takes it, and weights. Rows of weight zero and
        rows without any known label are left out; the latter with one warning for all. Without
        ``reset`` the data join those of an earlier call and must have the same features and
        labels.
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X = self._validate_X(X, reset=reset)
        target, known, names = self._read_target(y, beside, reset)
        check_consistent_length(X, known)
        weight = (
            np.ones(len(known))
            if sample_weight is None
            else check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        )
        if reset:
            self.classes_ = np.arange(known.shape[1])
            self.labels_ = self.classes_ if names is None else names
        used = _features.used_rows(known, weight, says=self._row_says[0])
        if not used.all():
            X, target, known, weight = X[used], target[used], known[used], weight[used]
        self.unseen_labels_ = (
            self._unseen(known)
            if reset
            else self.unseen_labels_ & _features.all_unknown(known, axis=0)
        )
        self._note_ranges(X, reset)
        return X, target, weight

    def _read_target(self, y: Any, beside: Any, reset: bool) -> tuple[Any, Values, Any]:
        """Validate the target and what goes with it (ranks, scores).

        Returns the target as ``_fit`` takes it; an array of the labels' shape, NaN where y says
        nothing of a label; and the names of the labels, None if there are none.
        """
        raise NotImplementedError

    def _unseen(self, known: Values) -> Mask:
        """Which labels are predicted last, for no row knows them."""
        return _features.unseen_labels(known, self.labels_, says=self._row_says[1])
