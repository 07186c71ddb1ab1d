"""What an orderer says whose optimizer ran out of steps."""

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from prefero._warnings import warn_user


def warn_unconverged(orderer: Any) -> None:
    """Warn if an orderer took as many steps as ``max_iter`` allows."""
    if orderer.n_iter_ >= orderer.max_iter:
        warn_user(
            f"{type(orderer).__name__} did not converge in max_iter={orderer.max_iter} steps: "
            "standardize the features or raise max_iter.",
            ConvergenceWarning,
        )
