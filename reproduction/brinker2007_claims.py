"""What Brinker & Hüllermeier (2007) say of their Tables 1 and 2, checked on ours."""

from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from prefero.evaluation import ResultTable

Rows = list[dict[str, Any]]

# "k-NN* and CRPC-POLY achieve the highest level of accuracy, followed by k-NN with only a small
# margin. BR is outperformed by the other methods [...] the MLC versions of k-NN perform worse than
# their MLR counterparts [...] CRPC with polynomial kernels performs slightly better".
ABOVE = (
    ("k-NN*", "k-NN"),
    ("CRPC-POLY", "k-NN"),
    *((other, br) for br in ("BR-LIN", "BR-POLY") for other in ("k-NN*", "CRPC-POLY", "CRPC-LIN")),
    *((other, br) for br in ("BR-LIN", "BR-POLY") for other in ("k-NN", "k-NN-r", "k-NN*-r")),
    ("k-NN", "k-NN-r"),
    ("k-NN*", "k-NN*-r"),
    ("CRPC-POLY", "CRPC-LIN"),
)
# "[...] whereas for BR a substantial difference cannot be observed."
LEVEL = (("k-NN*", "CRPC-POLY"), ("BR-LIN", "BR-POLY"))
# "Table 1 impressively underpins the computational efficiency of our approach".
FASTER = tuple(("k-NN", other) for other in ("CRPC-LIN", "CRPC-POLY", "BR-LIN", "BR-POLY"))

# Two methods are level where neither is ahead on clearly more sets than chance allows.
_CHANCE = 0.05


def claims_table(means: Rows, seconds: tuple[Rows, Rows]) -> ResultTable:
    """On how many sets, and by how much on average, a claim holds; Wilcoxon's p over the sets.

    ``means`` are the correlations by set and method, ``seconds`` those to train and to predict.
    """
    rows = []
    for better, worse in ABOVE:
        lead = _lead(means, better, worse)
        met = "yes" if lead.mean() > 0 and _chance(lead) < _CHANCE else "no"
        rows.append(_row(f"{better} above {worse}", lead, met))
    for first, second in LEVEL:
        lead = _lead(means, first, second)
        met = "yes" if _chance(lead) >= _CHANCE else "no"
        rows.append(_row(f"{first} level with {second}", lead, met))
    for faster, slower in FASTER:
        spent = [_lead(part, slower, faster) for part in seconds]
        lead = np.sum(spent, axis=0)
        met = "yes" if lead.mean() > 0 and _chance(lead) < _CHANCE else "no"
        rows.append(_row(f"{faster} faster than {slower} (seconds)", lead, met))
    return ResultTable(rows)


def _lead(rows: Rows, first: str, second: str) -> Any:
    return np.array([row[first] - row[second] for row in rows])


def _chance(lead: Any) -> float:
    if not lead.any():
        return 1.0
    return float(wilcoxon(lead).pvalue) if len(lead) > 1 else float("nan")


def _row(claim: str, lead: Any, met: str) -> dict[str, Any]:
    ahead = f"{np.count_nonzero(lead > 0)} of {len(lead)} sets"
    return {
        "claim": claim,
        "first ahead on": ahead,
        "mean difference": float(lead.mean()),
        "p": _chance(lead),
        "met": met,
    }
