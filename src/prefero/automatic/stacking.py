"""Several label rankers as one: their pair margins, weighed by rows they have not seen."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition

from prefero._docs import documented
from prefero._sklearn import Interval, StrOptions
from prefero._state import Attribute, FittedState, State
from prefero._typing import Indices
from prefero.automatic._evidence import Evidence
from prefero.automatic._members import Judged, Rows
from prefero.automatic._stack import BaseStack, members_state


def _are_rankers(rankers: Any, _: State) -> bool:
    return all(
        type(pair) is tuple
        and len(pair) == 2
        and type(pair[0]) is str
        and hasattr(type(pair[1]), "decision_function")
        for pair in rankers
    )


@documented()
class StackingLabelRanker(BaseStack, _BaseComposition):
    """Weigh what several label rankers say of each pair of labels.

    Each ranker is asked about training rows that it has not seen. A logistic slope a ranker puts
    their margins on one scale; weights, none negative, then minimise the pairwise logistic loss
    of the weighted sum. The constant order is always a member, and is predicted alone where the
    others do not clearly beat it. The sum is decoded into the order of the greatest expected
    tau.

    Parameters
    ----------
    rankers : list of (str, label ranker)
        Names and rankers, which may be pipelines. A regressor or a classifier joins as the
        ``estimator`` of a `RegressionLabelRanker` or a `PairwiseLabelRanker`.
    families : dict of str to str, optional
        What kind each ranker is of, by name; by default the classes of its steps. Weights are
        drawn towards the mean of the best ranker of each kind.
    cv : int or "own", default=5
        The number of inner folds. With ``"own"`` each ranker is fitted once and asked what it
        knows of the rows without having seen them (out-of-bag, leave-one-out, the folds by
        which it chose a penalty); those that know nothing, and all if there are groups, get
        five folds.
    baseline_guard : float, default=2
        The constant order is predicted unless the gain over it, in rows not seen, exceeds so
        many standard errors; or there is some gain, and that in the pair loss exceeds them.
    n_jobs : int, optional
        How many folds to run at the same time, as in joblib.

    Attributes
    ----------
    members_ : list of label rankers
        The rankers that count, fitted to all rows.
    member_names_ : ndarray of shape (n_members,)
        Their names.
    weights_, scales_ : ndarray of shape (n_members,)
        What each counts, and what its margins are multiplied by to be log-odds.
    constant_weight_ : float
        What the log-odds of all training rankings count.
    constant_margins_ : ndarray of shape (n_pairs,)
        Those log-odds; pairs as in ``np.triu_indices``.
    constant_votes_ : ndarray of shape (n_labels,)
        The votes of the constant order, by Borda's or Kemeny's rule.
    is_baseline_ : bool
        Whether the constant order is predicted.
    improvement_, improvement_error_ : float
        The gain in tau over the constant order on rows not seen, and its standard error.
    decoding_ : str
        How margins become an order.
    leaderboard_ : list of dict
        The constant order first, then all members and the stack by their tau on rows not seen:
        ``ranker``, ``family``, ``held_out``, ``standard_error``, ``weight`` (share), ``seconds``.

    Notes
    -----
    Fewer than ten different rows, or groups, say nothing: then the constant order is predicted.

    Scores are the expected numbers of labels behind, dealt out along the decoded order.

    References
    ----------
    Wolpert (1992), Stacked generalization, Neural Networks 5. Breiman (1996), Stacked
    regressions, Machine Learning 24.

    Examples
    --------
    >>> import numpy as np
    >>> from prefero import ForestLabelRanker, LogLinearLabelRanker
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> Y = np.where(X[:, [0]] > 0, [[1, 2, 3]], [[3, 1, 2]])
    >>> forest, linear = ForestLabelRanker(random_state=0), LogLinearLabelRanker()
    >>> stack = StackingLabelRanker([("forest", forest), ("linear", linear)]).fit(X, Y)
    >>> stack.predict([[1.0, 0.0], [-1.0, 0.0]])
    array([[1, 2, 3],
           [3, 1, 2]])
    >>> stack.predict_top_set([[1.0, 0.0]])
    array([[ True, False, False]])
    """

    _fitted_state: ClassVar[FittedState] = {"members_": members_state("n_features")}

    _saved_parameters: ClassVar[FittedState] = {
        "rankers": Attribute(rule=("named rankers", _are_rankers)),
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rankers": [list],
        "families": [dict, None],
        "cv": [Interval(Integral, 2, None, closed="left"), StrOptions({"own"})],
        "baseline_guard": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        rankers: list[tuple[str, Any]],
        *,
        families: dict[str, str] | None = None,
        cv: int | Literal["own"] = 5,
        baseline_guard: float = 2.0,
        n_jobs: int | None = None,
    ) -> None:
        self.rankers = rankers
        self.families = families
        self.cv = cv
        self.baseline_guard = baseline_guard
        self.n_jobs = n_jobs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of the rankers if ``deep``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the rankers and their parameters under their names.

        Returns
        -------
        dict
            Values by name.
        """
        return self._get_params("rankers", deep=deep)

    def set_params(self, **params: Any) -> "StackingLabelRanker":
        """Set parameters; ``name__parameter`` is one of a ranker, ``name`` the ranker itself.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self
            The stack.
        """
        self._set_params("rankers", **params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(ranker).input_tags for _, ranker in self.rankers]
        tags.input_tags.sparse = bool(inner) and all(part.sparse for part in inner)
        tags.input_tags.allow_nan = bool(inner) and all(part.allow_nan for part in inner)
        return tags

    def _fit_stack(self, rows: Rows, groups: Indices | None) -> None:
        self._refuse_names()
        # Scores that are given are used, as by single rankers.
        scoring = "tau" if rows.scores is None else "regret"
        evidence = Evidence(rows, groups, 5 if self.cv == "own" else self.cv, scoring)
        if not evidence.possible:
            return self._settle_constant(evidence, rows)
        own = self.cv == "own"
        judged = [
            Judged(
                name,
                self._family(name, ranker),
                ranker,
                evidence.held_out(ranker, own=own, n_jobs=self.n_jobs),
            )
            for name, ranker in self.rankers
        ]
        self._settle(evidence, judged, rows)

    def _refuse_names(self) -> None:
        names = [name for name, _ in self.rankers]
        self._validate_names(names)

    def _family(self, name: str, ranker: Any) -> str:
        if self.families is not None and name in self.families:
            return self.families[name]
        steps = [step for _, step in ranker.steps] if hasattr(ranker, "steps") else [ranker]
        return "/".join(type(step).__name__ for step in steps)
