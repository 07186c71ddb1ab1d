"""The best ranking to be had in the time there is."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from prefero._progress import reporting
from prefero._sklearn import Interval, StrOptions
from prefero._state import Attribute, FittedState, Model, State
from prefero._typing import Indices, Mask, Values
from prefero._warnings import warn_user
from prefero.automatic._candidates import Shape, candidates
from prefero.automatic._evidence import MEASURES
from prefero.automatic._members import Rows, fitted_member
from prefero.automatic._screening import Clock, LeftOut, Plan, Screening, thinned
from prefero.automatic._stack import BaseStack, Judged, members_state
from prefero.automatic.table import TableTransformer, as_columns

# Rows of the first round where there are more than twice as many, and of the second.
_FIRST_ROUND = 4000
_PROBE = 500
_SECOND_ROUND = {"quick": 10_000, "balanced": 20_000, "best": 50_000}
_FOLDS = 5
# Of the time that is left, what the last fits may take: they are estimated, not known.
_SAFE = 0.75


def _is_preparation(preparation: Any, state: State) -> bool:
    if not isinstance(preparation, TableTransformer):
        return False
    n_columns = len(preparation.nominal_)
    return bool(state.size("n_columns", n_columns) == n_columns)


class AutoLabelRanker(BaseStack):
    """Choose, tune and combine label rankers by rows that they have not seen.

    Columns are prepared as they need it. Then linear, kernel, neighbour and tree rankers are
    tried on inner folds, on few rows first if there are many; the good ones are stacked, as
    in `StackingLabelRanker`, and fitted to all rows. The constant order is predicted where
    nothing clearly beats it.

    Parameters
    ----------
    measure : {"tau", "tau-x", "top1", "regret"}, default="tau"
        What the stack is compared with the constant order by: Kendall's tau, tau-x, how often
        the first label is right, or what it is worth less than the best (then ``fit`` needs
        ``scores``). For the last two it also settles how pair margins become an order.
    effort : {"quick", "balanced", "best"}, default="balanced"
        How much is tried. ``"quick"`` fits each of a few rankers once, about three times the
        work of a plain random forest; ``"balanced"`` uses five inner folds and more rankers,
        ``"best"`` more settings of each.
    time_limit : float, optional
        Seconds. What there is no time for is left out, and said.
    guard : float, default=2
        The constant order is predicted unless the gain over it, in rows not seen, exceeds so
        many standard errors.
    verbose : bool, default=False
        Whether to show on a terminal what is done and the time left.
    n_jobs : int, optional
        How many folds to run at the same time, as in joblib.
    random_state : int, RandomState or None, default=None
        Where forests and kernels draw from.

    Attributes
    ----------
    leaderboard_ : list of dict
        The constant order first, then all rankers tried in the last round and the stack, by
        their measure on rows not seen: ``ranker``, ``family``, ``held_out``,
        ``standard_error``, ``weight`` (share), ``seconds``.
    left_out_ : list of dict
        ``ranker`` (or column) and ``why`` of what was not used, or not on all rows.
    preparation_ : TableTransformer
        How columns become numbers.
    members_, member_names_, weights_, scales_
        The rankers that count, as in `StackingLabelRanker`.
    is_constant_ : bool
        Whether the constant order is predicted.
    gain_, gain_error_ : float
        The gain over the constant order on rows not seen, and its standard error.

    See Also
    --------
    StackingLabelRanker : Combine rankers of your own.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> Y = np.where(X[:, [0]] > 0, [[1, 2, 3]], [[3, 1, 2]])
    >>> ranker = AutoLabelRanker(effort="quick", random_state=0).fit(X, Y)
    >>> ranker.predict([[1.0, 0.0], [-1.0, 0.0]])
    array([[1, 2, 3],
           [3, 1, 2]])
    >>> ranker.leaderboard_[0]["ranker"]
    'constant order'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "measure": [StrOptions(set(MEASURES))],
        "effort": [StrOptions({"quick", "balanced", "best"})],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "guard": [Interval(Real, 0, None, closed="left")],
        "verbose": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    _fitted_state: ClassVar[FittedState] = {
        "preparation_": Model("transform", rule=("a table's columns", _is_preparation)),
        "members_": members_state("n_columns"),
        "left_out_": Attribute(),
    }

    preparation_: TableTransformer
    left_out_: list[dict[str, str]]

    def __init__(
        self,
        measure: Literal["tau", "tau-x", "top1", "regret"] = "tau",
        *,
        effort: Literal["quick", "balanced", "best"] = "balanced",
        time_limit: float | None = None,
        guard: float = 2.0,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.measure = measure
        self.effort = effort
        self.time_limit = time_limit
        self.guard = guard
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _validate_X(self, X: Any, *, reset: bool) -> NDArray[Any]:
        X = as_columns(X)
        if reset:
            self._clock = Clock(self.time_limit)
            self.preparation_ = TableTransformer().fit(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return self.preparation_.transform(X)

    def _note_ranges(self, X: Any, reset: bool) -> None:
        super()._note_ranges(X, reset)
        self.feature_ranges_ = self.preparation_._of_numbers(self.feature_ranges_)

    @property
    def nominal_features_(self) -> Mask:
        """Which features are words: categories or texts."""
        return np.isin(self.preparation_.kinds_, ("nominal", "text"))

    @property
    def categories_(self) -> dict[int, list[Any]]:
        """The categories of each nominal feature, by the number of the feature."""
        numbers = np.flatnonzero(self.preparation_.kinds_ == "nominal").tolist()
        return dict(zip(numbers, map(list, self.preparation_.categories_), strict=True))

    def _fit_stack(self, rows: Rows, groups: Indices | None, scores: Values | None) -> None:
        if self.measure == "regret" and scores is None:
            raise ValueError('measure="regret" needs to know what labels are worth: give scores.')
        clock = self.__dict__.pop("_clock")
        n = len(rows.ranks)
        shape = Shape(
            n, rows.X.shape[1], rows.ranks.shape[1], self.preparation_.nominal_, issparse(rows.X)
        )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        tried = candidates(self.effort, shape, seed)
        plan = self._plan(n)
        steps = len(tried) * len(plan.sizes) + 1
        with reporting("auto" if self.verbose else None, steps, what="Starting") as advance:
            screening = Screening(
                rows, groups, self.measure, plan, clock, self.n_jobs, advance, scores
            )
            evidence = screening.evidence
            notes = [LeftOut(*note) for note in self.preparation_.left_out_]
            if not evidence.possible:
                self.left_out_ = [note._asdict() for note in notes]
                return self._settle_constant(evidence, rows)
            judged = screening.run(tried)
            self._screening, self._notes = screening, [*notes, *screening.left_out]
            self._most_rows = {one.name: one.most_rows for one in tried}
            self._settle(screening.evidence, judged, rows)
        self._say_what_is_left_out()

    def _plan(self, n: int) -> Plan:
        last = min(n, _SECOND_ROUND[self.effort])
        sizes = (n,) if n <= 2 * _FIRST_ROUND else (_FIRST_ROUND, last)
        if self.time_limit is not None and n > 2 * _PROBE:
            # What a fit takes is first seen on so few rows that any is quick.
            sizes = (_PROBE, *sizes)
        return Plan(sizes, _FOLDS, self.effort == "quick")

    def _keep(self, judged: Any, found: Any, rows: Rows) -> None:
        """Keep members that count, the lightest fitted first, each in its part of the time left."""
        self._waiting = 0 if self.is_constant_ else int(np.count_nonzero(found.weights[1:]))
        super()._keep(judged, found, rows)

    def _final(self, member: Judged, rows: Rows) -> Any:
        screening = self._screening
        whole = len(screening.evidence.rows.ranks) == len(rows.ranks)
        if whole and member.held_out.fitted is not None:
            return member.held_out.fitted
        share = _SAFE * screening.clock.left() / self._waiting
        self._waiting -= 1
        most = self._most_rows[member.name]
        size = screening.rows_for(member, share, most)
        if size < len(rows.ranks):
            why = "for want of time" if most is None or size < most else "because it stores them"
            note = f"fitted to {size} of {len(rows.ranks)} rows, {why}"
            self._notes.append(LeftOut(member.name, note))
        screening.tell(f"{member.name}, {size} rows")
        return fitted_member(member.ranker, thinned(rows, size))

    def _say_what_is_left_out(self) -> None:
        notes = self._notes
        for name in ("_screening", "_most_rows", "_waiting", "_notes"):
            self.__dict__.pop(name, None)
        self.left_out_ = [note._asdict() for note in notes]
        late = [note for note in notes if "time" in note.why]
        if late:
            reasons: dict[str, list[str]] = {}
            for note in late:
                reasons.setdefault(note.why, []).append(note.ranker)
            told = "; ".join(f"{', '.join(who)}: {why}" for why, who in reasons.items())
            warn_user(f"time_limit={self.time_limit:g} left these out or short: {told}.")
