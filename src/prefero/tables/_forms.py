"""The forms in which rankings are written beside the other columns of a table."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from prefero._typing import Values
from prefero.rankings import (
    bucket_positions,
    format_order,
    orders_from_ranks,
    pairs_from_ranks,
    split_calibrated,
    text_from_calibrated,
    zero_offsets,
)
from prefero.tables._cells import need
from prefero.tables._rankings import Rankings

if TYPE_CHECKING:
    import pandas as pd


def in_form(rankings: Rankings, form: str) -> "pd.DataFrame":
    """Return the other columns beside the rankings in a form.

    Parameters
    ----------
    rankings : Rankings
        What `read_rankings` returns.
    form : {"ranks", "orders", "scores", "pairs", "relevance", "calibrated"}
        The form, as for `write_rankings`.

    Returns
    -------
    DataFrame
        One row a ranking; of pairs, one a pair.

    Examples
    --------
    >>> import pandas as pd
    >>> from prefero.tables import read_rankings
    >>> rankings = read_rankings(pd.DataFrame({"x": [7], "a": [1], "b": [2]}), "a,b")
    >>> in_form(rankings, "pairs")
       instance preferred other  x
    0         1         a     b  7
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}.")
    others = rankings.table.frame[rankings.others].iloc[rankings.rows].reset_index(drop=True)
    table = FORMS[form](rankings)
    if form == "pairs":
        joined = table.join(others, on="instance")
        return joined.assign(instance=joined["instance"] + 1)  # people count from 1
    clash = [name for name in others.columns if name in table.columns]
    if clash:
        raise rankings.table.error(f"{clash[0]!r} is both a label and another column: rename one.")
    return need("pandas").concat([others, table], axis=1)


def _ranks(rankings: Rankings) -> "pd.DataFrame":
    odd = (rankings.ranks % 1 > 0) | (abs(rankings.ranks) > 2**53)  # as an only label may have
    whole = not odd.any()
    return rankings.y.astype("Int64") if whole else rankings.y


def _scores(rankings: Rankings) -> "pd.DataFrame":
    """The scores of the table, or how many labels stand below; ties count half.

    Of calibrated rankings they count from the zero point, so that positive is relevant.
    """
    if rankings.scores is None and rankings.calibrated is not None:
        signed = -zero_offsets(rankings.calibrated)[0]
        return need("pandas").DataFrame(signed, columns=rankings.labels)
    known = np.count_nonzero(~np.isnan(rankings.ranks), axis=1)[:, None]
    counts = known - bucket_positions(rankings.ranks)
    scores = counts if rankings.scores is None else rankings.scores
    return need("pandas").DataFrame(scores, columns=rankings.labels)


def _orders(rankings: Rankings) -> "pd.DataFrame":
    orders = orders_from_ranks(rankings.ranks, rankings.labels)
    return need("pandas").DataFrame({"order": [format_order(order) for order in orders]})


def _pairs(rankings: Rankings) -> "pd.DataFrame":
    pairs = enumerate(pairs_from_ranks(rankings.ranks, rankings.labels))
    lines = [(row, *pair) for row, chosen in pairs for pair in chosen]
    return need("pandas").DataFrame(lines, columns=["instance", "preferred", "other"])


def _relevance(rankings: Rankings) -> "pd.DataFrame":
    relevance, _ = split_calibrated(_need_zero_point(rankings))
    return need("pandas").DataFrame(relevance, columns=rankings.labels).astype("Int64")


def _calibrated(rankings: Rankings) -> "pd.DataFrame":
    texts = text_from_calibrated(_need_zero_point(rankings), rankings.labels)
    return need("pandas").DataFrame({"calibrated": texts})


def _need_zero_point(rankings: Rankings) -> Values:
    if rankings.calibrated is None:
        raise rankings.table.error(
            "these rankings do not say which labels are relevant: that needs format='relevance' "
            "or format='calibrated'."
        )
    return rankings.calibrated


FORMS: dict[str, Callable[[Rankings], "pd.DataFrame"]] = {
    "ranks": _ranks,
    "orders": _orders,
    "scores": _scores,
    "pairs": _pairs,
    "relevance": _relevance,
    "calibrated": _calibrated,
}
