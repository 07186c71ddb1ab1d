"""The one way to say that a solver ran out of iterations."""

from sklearn.exceptions import ConvergenceWarning

from prefero._warnings import warn_user


def warn_unconverged(solver: str, max_iter: int) -> None:
    """Warn that a solver did not converge, which the solver itself must know.

    Parameters
    ----------
    solver : str
        What did not converge, the beginning of the sentence.
    max_iter : int
        How many iterations it was allowed.
    """
    warn_user(
        f"{solver} did not converge in max_iter={max_iter} iterations: scale the features, or "
        "raise max_iter, tol or the penalty.",
        ConvergenceWarning,
    )
