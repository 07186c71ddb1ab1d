"""The fitted state of estimators: declared once, checked wherever a model comes from outside.

An estimator lists its fitted attributes, a subclass only those that it adds::

    _fitted_state: ClassVar = {
        "coef_": Array("f8", "n_labels", "n_features"),
        "theta_": Number(0, when={"aggregation": "mallows"}),
    }

A length or bound is a number, a name, or a name and a number ("n_labels + 1"). A name means the
same number wherever it occurs; where it occurs first it is learned. Whatever else an estimator
needs to predict is a `functools.cached_property`: made from the fitted state at first use, and
never copied, pickled or written to a file.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from numbers import Integral, Real
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import issparse

Size = int | float | str
Rule = tuple[str, Callable[[Any, "State"], bool]]

_SUM = re.compile(r"(\w+)(?: *([+-]) *(\d+))?")
_NAME = str | int | float | None


class StateError(ValueError):
    """A fitted attribute is not what its estimator declares."""


class State:
    """The attributes of one estimator, and the sizes learned from them.

    Parameters
    ----------
    values : mapping of str to object
        Parameters and fitted attributes by name.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.sizes: dict[str, int] = {}

    def size(self, wanted: Size, found: int | None = None) -> Any:
        """Return what a length or bound means; a name not yet known is learned from ``found``."""
        if not isinstance(wanted, str):
            return wanted
        match = _SUM.fullmatch(wanted)
        if match is None:
            raise TypeError(f"{wanted!r} is no size: write a name, or a name + a number.")
        name, sign, number = match.groups()
        offset = int(f"{sign}{number}") if sign else 0
        if name not in self.sizes:
            if found is None:
                raise StateError(f"is bounded by {name}, which no other attribute tells")
            self.sizes[name] = found - offset
        return self.sizes[name] + offset


class Attribute:
    """A fitted attribute that only informs: any plain value.

    Parameters
    ----------
    optional : bool
        Whether it may be absent.
    none : bool
        Whether it may be None.
    when : mapping of str to object
        Parameters and the value, or tuple of values, at which the attribute counts; otherwise
        it is not looked at.
    unless : str, optional
        Another attribute that stands in its place.
    rule : (str, callable), optional
        What else must hold, in words, and a function of the value and the `State` that tells
        whether it does.
    """

    def __init__(
        self,
        *,
        optional: bool = False,
        none: bool = False,
        when: Mapping[str, Any] | None = None,
        unless: str | None = None,
        rule: Rule | None = None,
    ) -> None:
        self.optional, self.none, self.when, self.rule = optional, none, when or {}, rule
        self.unless = unless

    def counts(self, state: State) -> bool:
        """Tell whether the parameters make this attribute count."""
        for name, wanted in self.when.items():
            values = wanted if isinstance(wanted, tuple) else (wanted,)
            found = state.values.get(name)
            if not any(type(found) is type(value) and found == value for value in values):
                return False
        return True

    def check(self, value: Any, state: State) -> None:
        """Raise a StateError whose sentence starts after the attribute's name."""
        if value is None and self.none:
            return
        self._check(value, state)
        if self.rule is not None and not self.rule[1](value, state):
            raise StateError(f"must hold {self.rule[0]}")

    def _check(self, value: Any, state: State) -> None:
        pass


class Number(Attribute):
    """A finite real number in bounds; or NaN, where that is legal."""

    def __init__(
        self, low: Size = -np.inf, high: Size = np.inf, *, nan: bool = False, **common: Any
    ) -> None:
        super().__init__(**common)
        self.low, self.high, self.nan = low, high, nan

    def _check(self, value: Any, state: State) -> None:
        if not isinstance(value, Real) or isinstance(value, bool):
            raise StateError(f"is a {type(value).__name__}, expected a number")
        if self.nan and value != value:
            return
        low, high = state.size(self.low), state.size(self.high)
        if not low <= value <= high or abs(value) == np.inf:
            raise StateError(f"is {value}, expected a number in [{low}, {high}]")


class Count(Attribute):
    """A whole number in bounds; ``size`` is the name by which other attributes know it."""

    def __init__(
        self, low: int = 0, high: Size = 2**62, *, size: str | None = None, **common: Any
    ) -> None:
        super().__init__(**common)
        self.low, self.high, self.size = low, high, size

    def _check(self, value: Any, state: State) -> None:
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise StateError(f"is a {type(value).__name__}, expected a whole number")
        high = state.size(self.high)
        if not self.low <= int(value) <= high:
            raise StateError(f"is {value}, expected {self.low} to {high}")
        if self.size is not None and state.size(self.size, int(value)) != value:
            raise StateError(f"is {value}, expected {self.size} = {state.size(self.size)}")


class Flag(Attribute):
    """True or False."""

    def _check(self, value: Any, state: State) -> None:
        if not isinstance(value, bool | np.bool_):
            raise StateError(f"is a {type(value).__name__}, expected True or False")


class Word(Attribute):
    """A text; one of a few, if any are given."""

    def __init__(self, *words: str, **common: Any) -> None:
        super().__init__(**common)
        self.words = words

    def _check(self, value: Any, state: State) -> None:
        if not isinstance(value, str) or (self.words and value not in self.words):
            raise StateError(f"is {value!r:.60}, expected {' or '.join(self.words) or 'a text'}")


class _Shaped(Attribute):
    """What has a shape."""

    def __init__(self, shape: tuple[Size, ...], **common: Any) -> None:
        super().__init__(**common)
        self.shape = shape

    def _check(self, value: Any, state: State) -> None:
        found = value.shape
        if len(found) == len(self.shape):
            pairs = zip(self.shape, found, strict=True)
            if found == tuple(state.size(size, length) for size, length in pairs):
                return
        expected = ", ".join(map(str, self.shape))
        known = ", ".join(f"{name} = {size}" for name, size in state.sizes.items())
        raise StateError(f"has shape {found}, expected ({expected}) where {known}")


# Products and sums of fitted numbers must stay finite.
_LARGEST = 1e200


class Array(_Shaped):
    """A dense array of numbers.

    Parameters
    ----------
    dtype : str
        A NumPy dtype such as "f8", or kinds such as "iu" of any width.
    *shape : int or str
        The length along each axis.
    low, high : number or str
        Bounds of every element.
    nan, infinite : bool
        Whether these are legal.
    **common
        As in `Attribute`.
    """

    def __init__(
        self,
        dtype: str,
        *shape: Size,
        low: Size = -np.inf,
        high: Size = np.inf,
        nan: bool = False,
        infinite: bool = False,
        **common: Any,
    ) -> None:
        super().__init__(shape, **common)
        self.dtype, self.low, self.high, self.nan, self.infinite = dtype, low, high, nan, infinite

    def _check(self, value: Any, state: State) -> None:
        if type(value) is not np.ndarray:
            what = "sparse matrix" if issparse(value) else type(value).__name__
            raise StateError(f"is a {what}, expected a dense array")
        kinds = self.dtype.isalpha() and value.dtype.isnative
        if not (value.dtype.kind in self.dtype if kinds else value.dtype == np.dtype(self.dtype)):
            raise StateError(f"has dtype {value.dtype}, expected {self.dtype}")
        super()._check(value, state)
        if value.size and value.dtype.kind != "b":
            self._check_elements(value, state)

    def _check_elements(self, value: Any, state: State) -> None:
        least, most = value.min(), value.max()
        if least != least:
            if not self.nan:
                raise StateError("holds NaN")
            least, most = np.fmin.reduce(value, axis=None), np.fmax.reduce(value, axis=None)
        if not self.infinite and (abs(least) == np.inf or abs(most) == np.inf):
            raise StateError("holds an infinite number")
        low, high = state.size(self.low), state.size(self.high)
        if not self.infinite and value.dtype.itemsize > 4:
            low, high = max(low, -_LARGEST), min(high, _LARGEST)
        if least < low or most > high:
            raise StateError(f"holds a number outside [{low}, {high}]")


class Names(_Shaped):
    """An array of names: texts, numbers or None, each once unless told otherwise."""

    def __init__(self, *shape: Size, unique: bool = True, **common: Any) -> None:
        super().__init__(shape, **common)
        self.unique = unique

    def _check(self, value: Any, state: State) -> None:
        if type(value) is not np.ndarray or value.dtype.kind not in "OUiufb":
            raise StateError("is no array of names")
        super()._check(value, state)
        names = value.ravel().tolist()
        if not all(isinstance(name, _NAME | np.generic) and _readable(name) for name in names):
            raise StateError("holds something that is no name")
        if self.unique and len(set(names)) < len(names):
            raise StateError("holds a name twice")


def _readable(name: Any) -> bool:
    """Whether a name can be written in UTF-8; half a surrogate pair cannot."""
    return not isinstance(name, str) or not any("\ud800" <= letter <= "\udfff" for letter in name)


class Each(Attribute):
    """A list of so many values of one kind."""

    def __init__(self, of: Attribute, length: Size | None = None, **common: Any) -> None:
        super().__init__(**common)
        self.of, self.length = of, length

    def _check(self, value: Any, state: State) -> None:
        if not isinstance(value, list):
            raise StateError(f"is a {type(value).__name__}, expected a list")
        if self.length is not None and state.size(self.length, len(value)) != len(value):
            raise StateError(f"has {len(value)} entries, expected {state.size(self.length)}")
        for index, item in enumerate(value):
            _check_part(f"[{index}]", self.of, item, state)


class Record(Attribute):
    """A dict with these entries and no others."""

    def __init__(self, entries: Mapping[str, Attribute], **common: Any) -> None:
        super().__init__(**common)
        self.entries = entries

    def _check(self, value: Any, state: State) -> None:
        if type(value) is not dict:
            raise StateError(f"is a {type(value).__name__}, expected a dict")
        if value.keys() != self.entries.keys():
            odd = min(value.keys() ^ self.entries.keys(), key=str)
            raise StateError(f"{'has an unknown' if odd in value else 'lacks the'} entry {odd!r}")
        for name, entry in self.entries.items():
            _check_part(f"[{name!r}]", entry, value[name], state)


def _check_part(place: str, of: Attribute, value: Any, state: State) -> None:
    try:
        of.check(value, state)
    except StateError as error:
        raise StateError(f"{place}{'' if str(error).startswith('[') else ' '}{error}") from None


class Model(Attribute):
    """A fitted estimator with some methods, for the same features."""

    def __init__(
        self, *methods: str, n_features: Size | None = "n_features", **common: Any
    ) -> None:
        super().__init__(**common)
        self.methods, self.n_features = methods, n_features

    def _check(self, value: Any, state: State) -> None:
        for method in self.methods:
            if not hasattr(type(value), method):
                raise StateError(f"is a {type(value).__name__}, which cannot {method}")
        if self.n_features is None:
            return
        found, wanted = getattr(value, "n_features_in_", None), state.size(self.n_features)
        if found != wanted:
            raise StateError(f"takes {found} features, expected {wanted}")


# The fitted attributes of an estimator by name.
FittedState = Mapping[str, Attribute]


def fitted_state(owner: type) -> dict[str, Attribute]:
    """Return the fitted attributes that a class and its bases declare."""
    declared: dict[str, Attribute] = {}
    for base in reversed(owner.__mro__):
        declared.update(vars(base).get("_fitted_state", {}))
    return declared


def check_state(name: str, declared: FittedState, values: Mapping[str, Any]) -> None:
    """Check fitted attributes against their declaration.

    Parameters
    ----------
    name : str
        What the estimator is called.
    declared : mapping of str to Attribute
        Its fitted attributes, as `fitted_state` returns them.
    values : mapping of str to object
        Its parameters and fitted attributes.

    Raises
    ------
    StateError
        The first attribute that is missing or not as declared.

    Examples
    --------
    >>> declared = {"labels_": Names("n_labels"), "votes_": Array("f8", "n_labels")}
    >>> check_state("Ranker", declared, {"labels_": np.array(["a", "b"]), "votes_": np.zeros(3)})
    Traceback (most recent call last):
    prefero._state.StateError: votes_ of Ranker has shape (3,), expected (n_labels) where ...
    """
    state = State(values)
    for attribute, kind in declared.items():
        if not kind.counts(state):
            continue
        if kind.unless in values:
            if attribute in values:
                raise StateError(f"{name} has both {attribute} and {kind.unless}")
        elif attribute in values:
            _check_part(f"{attribute} of {name}", kind, values[attribute], state)
        elif not kind.optional:
            raise StateError(f"{name} lacks its {attribute}")


_made_on_use: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()


def made_on_use(owner: type) -> frozenset[str]:
    """Return the names of a class that are made from the fitted state at first use."""
    if owner not in _made_on_use:
        _made_on_use[owner] = frozenset(
            name
            for base in owner.__mro__
            for name, value in vars(base).items()
            if isinstance(value, cached_property)
        )
    return _made_on_use[owner]
