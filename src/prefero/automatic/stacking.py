"""Several label rankers stacked: a weighted sum of their pair margins."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition

from prefero._docs import documented
from prefero._sklearn import Interval, StrOptions
from prefero._state import Attribute, FittedState, State
from prefero._typing import Indices
from prefero.automatic._members import Member, TrainingRows, fitted_member
from prefero.automatic._stack import BaseStack, members_state
from prefero.automatic._stack_evaluation import StackEvaluation


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
    """Combine several label rankers by a weighted sum of their pair margins.

    Each ranker predicts training rows out of fold. One logistic slope per ranker puts their
    margins on one scale; nonnegative weights then minimize the pairwise logistic loss of the
    weighted sum. The consensus baseline is always a member, and is predicted alone where the
    others do not clearly beat it. The sum is decoded into the order of the greatest expected
    tau.

    Parameters
    ----------
    rankers : list of (str, label ranker)
        Names and rankers, which may be pipelines. A regressor or a classifier joins as the
        ``estimator`` of a `RegressionLabelRanker` or a `PairwiseLabelRanker`.
    families : dict of str to str, optional
        The family of each ranker, by name; by default the classes of its steps. Weights are
        shrunk towards the mean of the best ranker of each family.
    cv : int or "own", default=5
        The number of inner folds. With ``"own"`` each ranker is fitted once and its own held-out
        predictions are used (out-of-bag, leave-one-out, or of the folds by which it chose a
        penalty); rankers without such predictions, and all if there are groups, get five folds.
    baseline_guard : float, default=2
        The consensus baseline is predicted unless the gain over it, on held-out rows, exceeds so
        many standard errors; or there is some gain, and that in the pair loss exceeds them.
    n_jobs : int, optional
        The number of folds to run in parallel, as in joblib.

    Attributes
    ----------
    members_ : list of label rankers
        The rankers with a weight, fitted to all rows.
    member_names_ : ndarray of shape (n_members,)
        Their names.
    weights_, scales_ : ndarray of shape (n_members,)
        Their weights, and the factors that turn their margins into log-odds.
    baseline_weight_ : float
        The weight of the consensus baseline.
    baseline_margins_ : ndarray of shape (n_pairs,)
        Log-odds of pairs over all training rankings; pairs as in ``np.triu_indices``.
    baseline_votes_ : ndarray of shape (n_labels,)
        The votes of the consensus baseline, by Borda's or Kemeny's rule.
    is_baseline_ : bool
        Whether the consensus baseline is predicted.
    improvement_, improvement_error_ : float
        The gain in tau over the consensus baseline on held-out rows, and its standard error.
    decoding_ : str
        How margins become an order.
    leaderboard_ : list of dict
        The consensus baseline first, then all members and the stack by their tau on held-out rows:
        ``ranker``, ``family``, ``held_out``, ``standard_error``, ``weight`` (share), ``seconds``.

    Notes
    -----
    With fewer than ten different rows, or fewer than five groups, rankers cannot be compared: the
    consensus baseline is predicted, with a warning. Fewer than ten groups are left out one by
    one, and the guard is widened by Student's t distribution.

    Scores are the expected numbers of labels behind, assigned along the decoded order.

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
        "rankers": Attribute(rule=("named rankers", _are_rankers))
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

    def _fit_stack(self, rows: TrainingRows, groups: Indices | None) -> None:
        self._validate_names([name for name, _ in self.rankers])
        # Scores that are given are used, as by single rankers.
        scoring = "tau" if rows.scores is None else "regret"
        evaluation = StackEvaluation(rows, groups, 5 if self.cv == "own" else self.cv, scoring)
        if not evaluation.possible:
            return self._settle_for_baseline(evaluation, rows)
        own = self.cv == "own"
        members = [
            Member(
                name,
                self._family(name, ranker),
                ranker,
                evaluation.held_out(ranker, own=own, n_jobs=self.n_jobs),
            )
            for name, ranker in self.rankers
        ]

        def final(member: Member, left: int) -> Any:
            fitted = member.held_out.fitted
            return fitted_member(member.ranker, rows) if fitted is None else fitted

        self._settle(evaluation, members, rows, final)

    def _family(self, name: str, ranker: Any) -> str:
        if self.families is not None and name in self.families:
            return self.families[name]
        steps = [step for _, step in ranker.steps] if hasattr(ranker, "steps") else [ranker]
        return "/".join(type(step).__name__ for step in steps)
