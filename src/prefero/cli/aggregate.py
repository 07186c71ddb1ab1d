"""prefero aggregate: the consensus of many rankings."""

from enum import StrEnum
from typing import Annotated

import typer

from prefero.cli.console import count, print_json, say
from prefero.cli.options import DataFile, JsonOption, Reading
from prefero.cli.tables import rankings_of, read

EXAMPLES = (
    "prefero aggregate votes.csv --format orders --labels order --method kemeny",
    "prefero aggregate ranks.csv --weights voters --top 3 --json",
)


class Method(StrEnum):
    """A rule that aggregates rankings."""

    BORDA = "borda"
    KEMENY = "kemeny"


def aggregate(
    data: DataFile,
    *,
    method: Method = Method.BORDA,
    reading: Reading,
    weights: str | None = None,
    top: Annotated[int | None, typer.Option(min=1)] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the consensus of many rankings, best first.

    Parameters
    ----------
    method
        borda: by mean votes. kemeny: the fewest disagreeing pairs, proven optimal.
    weights : COLUMN
        The column that says how often each ranking counts.
    top
        Number of labels to print.
    """
    import numpy as np

    from prefero import consensus
    from prefero.metrics import kendall_tau
    from prefero.rankings import format_order, orders_from_ranks

    table = read(data)
    weight_column = None if weights is None else table.column(weights)
    rankings = rankings_of(table.without(weight_column), reading)
    weight = None if weight_column is None else table.weights(weight_column)[rankings.rows]
    rule = consensus.borda if method is Method.BORDA else consensus.kemeny
    calibrated = rankings.calibrated is not None
    given = rankings.ranks if rankings.calibrated is None else rankings.calibrated
    ranks = rule(given, sample_weight=weight)
    relevant = int(np.sum(ranks[:-1] < ranks[-1])) if calibrated else None
    places = ranks[:-1] - (ranks[:-1] > ranks[-1]) if calibrated else ranks
    order = orders_from_ranks(places[None, :], rankings.labels, top=top)[0]
    n = len(given)
    tau = float(kendall_tau(given, np.tile(ranks, (n, 1)), sample_weight=weight))
    if as_json:
        known = None if np.isnan(tau) else tau
        found = {"method": method, "rankings": n, "order": order, "kendall_tau": known}
        print_json(found | ({"relevant": order[:relevant]} if calibrated else {}))
        return
    text = format_order(order)
    if calibrated:
        text = f"[{format_order(order[:relevant])}][{format_order(order[relevant:])}]"
    print(text)
    say(
        f"{method} of {count(n, 'ranking')} of {count(len(places), 'label')}; mean Kendall tau to "
        f"it {tau:.3f}."
    )
