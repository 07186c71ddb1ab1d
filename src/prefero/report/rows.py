"""Rows to pick on the page: true and predicted ranks, and why, as values that JSON can write."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefero._typing import Values
from prefero.inspection.explanation import Explanation
from prefero.report.close_look import CloseLook, explain_row, telling_pair

# More do not fit into a list that is read, nor into a small file.
MOST_PICKED = 300
# Rows that are explained: where the effects are read off a model, and where it has to be asked
# again and again.
_READ_OFF, _ASKED = 40, 12
_LISTED_EFFECTS, _LISTED_EVIDENCE = 8, 12


def spread(values: Values, most: int) -> NDArray[np.intp]:
    """Return where at most so many values are, from the least to the greatest, evenly spread."""
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    if len(order) <= most:
        return order
    return order[np.unique(np.linspace(0, len(order) - 1, most).round().astype(np.intp))]


def picked_rows(look: CloseLook, names: list[str]) -> dict[str, Any]:
    """Return rows of a close look as the script of the page reads them.

    Parameters
    ----------
    look : CloseLook
        The predictions.
    names : list of str
        What to call the labels.

    Returns
    -------
    dict
        What rows and their metric are called, the labels, and the rows from the worst on.
    """
    chosen = spread(look.tau, MOST_PICKED)
    explained = _explained(look, chosen, names)
    rows = [
        {
            "name": str(look.rows[i]),
            "value": round(float(look.tau[i]), 3),
            "true": ranks_or_none(look.truth[i]),
            "predicted": look.predicted[i].tolist(),
            "facts": _facts(look, i),
            "why": explained.get(int(i)),
        }
        for i in chosen.tolist()
    ]
    return {
        "noun": "Row",
        "metric": "tau",
        "items": names,
        "rows": rows,
        "unexplained": "This row is not explained on the page: prefero explain does so for any.",
    }


def ranks_or_none(ranks: Values) -> list[float | None]:
    """Return ranks with None for those that are not known."""
    return [None if np.isnan(rank) else float(rank) for rank in ranks]


def _facts(look: CloseLook, i: int) -> list[list[str]]:
    known = ~np.isnan(look.truth[i])
    first = int(np.argmin(np.where(known, look.predicted[i], np.inf)))
    right = look.truth[i, first] == np.nanmin(look.truth[i])
    facts = [["first choice", "right" if right else "wrong"]]
    if look.reliability is not None and np.ptp(look.reliability) > 0:
        share = np.mean(look.reliability < look.reliability[i])
        facts.append(["how sure", f"surer than of {share:.0%} of the rows"])
    return facts


def _explained(
    look: CloseLook, chosen: NDArray[np.intp], names: list[str]
) -> dict[int, dict[str, Any]]:
    """Explanations by row: of the typical and the worst row, the best, and others between."""
    if not len(chosen):
        return {}
    middle = chosen[len(chosen) // 2]
    found = {int(middle): explain_row(look, int(middle))}
    most = _READ_OFF if found[int(middle)].base is not None else _ASKED
    for at in spread(np.arange(len(chosen), dtype=float), most - 1).tolist():
        i = int(chosen[at])
        if i not in found:
            found[i] = explain_row(look, i)
    called = dict(zip(look.labels.tolist(), names, strict=True))
    return {i: explanation(why, _words(look, i, why, called), called) for i, why in found.items()}


def _words(look: CloseLook, i: int, why: Explanation, called: dict[Any, str]) -> str:
    first, second = telling_pair(look, i)
    a, b = (called[look.labels[place]] for place in (first, second))
    chance = "" if why.probability is None else f" (probability {why.probability:.2f})"
    true = "It is the reverse in truth." if look.truth[i, first] > look.truth[i, second] else ""
    return f"Why {a} is put before {b}{chance}. {true}".strip()


def explanation(why: Explanation, words: str, called: dict[Any, str]) -> dict[str, Any]:
    """Return an explanation under the names of the page.

    Parameters
    ----------
    why : Explanation
        The explanation.
    words : str
        What it explains.
    called : dict
        What the page calls a label.

    Returns
    -------
    dict
        Values that JSON can write.
    """
    a, b = (called.get(label, str(label)) for label in why.pair)
    table = why.effect_table(_LISTED_EFFECTS)
    told: dict[str, Any] = {
        "words": words,
        "pair": [a, b],
        "how": why.how.rstrip(":") + ".",
        "effects": [[row["feature"], row["value"], float(f"{row['effect']:.3g}")] for row in table],
    }
    if why.evidence is not None and len(why.evidence):
        told["evidence"] = {
            "title": why.title.rstrip(":") + ".",
            "columns": list(why.evidence.columns),
            "rows": [_cells(row.values()) for row in why.evidence[:_LISTED_EVIDENCE]],
        }
    return told


def _cells(values: Any) -> Sequence[str]:
    return [f"{value:.3g}" if isinstance(value, float) else str(value) for value in values]
