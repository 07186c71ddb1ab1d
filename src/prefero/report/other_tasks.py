"""The detailed look at multilabel rankers and at orderers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefero._names import without_common_start
from prefero._typing import Values
from prefero._warnings import silenced
from prefero.evaluation.results import ResultTable
from prefero.inspection.explanation import VIRTUAL_LABEL, explain
from prefero.metrics import multilabel as sets
from prefero.metrics import ordering
from prefero.rankings import split_calibrated
from prefero.report.predictions import Focus, OutOfFold, predict_out_of_fold
from prefero.report.sections import (
    MOST_PICKED,
    Details,
    Section,
    explanation_values,
    listed_importance,
    picked_row,
    picked_rows,
    spread,
    spread_and_middle,
)

_EXPLAINED, _LISTED_OBJECTS = 12, 40


# Multilabel ranking


def multilabel_details(focus: Focus) -> Details:
    """Describe the predictions of a multilabel ranker: labels and rows."""
    found, data = predict_out_of_fold(focus), focus.data
    calibrated = found.in_order([ranks for _, ranks in found.predicted]).astype(np.float64)
    truth, (relevance, _) = found.truth, split_calibrated(found.truth)
    chosen = (calibrated[:, :-1] < calibrated[:, -1:]).astype(np.float64)
    start, names = without_common_start(data.labels)
    right = 100 * (1 - sets.hamming_loss(relevance, chosen))
    return Details(
        in_words=f"On unseen rows, it puts about {right:.0f} of 100 labels on the right side of "
        f"{VIRTUAL_LABEL}.",
        about=f"{len(found.rows)} unseen rows",
        labels=names,
        start=start,
        sections=[_label_table(names, relevance, chosen)],
        rows=_rows(found, truth, calibrated, names),
        importance=listed_importance(found, focus),
        n_features=len(found.features),
    )


def _label_table(names: list[str], relevance: Values, chosen: Values) -> Section:
    known = np.isfinite(relevance)
    table = ResultTable(
        {
            "label": name,
            "rows": int(known[:, j].sum()),
            "relevant": _share(relevance[:, j] == 1, known[:, j]),
            "predicted": _share(chosen[:, j] == 1, known[:, j]),
            "precision": _share(relevance[:, j] == 1, (chosen[:, j] == 1) & known[:, j]),
            "recall": _share(chosen[:, j] == 1, relevance[:, j] == 1),
        }
        for j, name in enumerate(names)
    )
    caption = "By label: the rows where its relevance is known, shares of them, and how well it "
    return Section("labels", "Labels", f"{caption}is predicted", table)


def _share(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> str:
    return f"{(part & whole).sum() / whole.sum():.0%}" if whole.any() else "–"


def _rows(found: OutOfFold, truth: Values, predicted: Values, names: list[str]) -> dict[str, Any]:
    rho = np.asarray(sets.calibrated_rho(truth, predicted, average=False))
    chosen = spread(rho, MOST_PICKED)
    explained = spread_and_middle(chosen, _EXPLAINED)
    rows = []
    for i in chosen.tolist():
        wrong = _misplaced(truth[i], predicted[i])
        facts = [
            ["labels on the wrong side", f"{len(wrong)} of {np.isfinite(truth[i, :-1]).sum()}"]
        ]
        why = _why_relevant(found, truth[i], predicted[i], names, i) if i in explained else None
        rows.append(picked_row(found.name(i), rho[i], truth[i], predicted[i], facts=facts, why=why))
    note = f"Labels before {VIRTUAL_LABEL} are relevant."
    return picked_rows(rows, [*names, VIRTUAL_LABEL], "rho", note)


def _misplaced(truth: Values, predicted: Values) -> NDArray[np.intp]:
    """The labels on the wrong side of the virtual label."""
    sides = np.where(np.isnan(truth[:-1]), 0, np.sign(truth[-1] - truth[:-1]))
    return np.flatnonzero(sides * np.sign(predicted[-1] - predicted[:-1]) < 0)


def _why_relevant(
    found: OutOfFold, truth: Values, predicted: Values, names: list[str], i: int
) -> dict[str, Any]:
    """Explain a label on the wrong side or, if there is none, the first one with known truth."""
    wrong = _misplaced(truth, predicted)
    known = np.where(np.isnan(truth[:-1]), np.inf, predicted[:-1])
    j = int(wrong[0]) if len(wrong) else int(np.argmin(known))
    labels = found.data.labels
    why = explain(found.models[found.fold[i]], found.X, i, pair=(labels[j], VIRTUAL_LABEL))
    side = "relevant" if predicted[j] < predicted[-1] else "not relevant"
    chance = "" if why.probability is None else f" (probability of being so {why.probability:.2f})"
    if side == "not relevant" and why.probability is not None:
        chance = f" (probability of being so {1 - why.probability:.2f})"
    reverse = " In truth it is the reverse." if len(wrong) else ""
    called = dict(zip(labels.tolist(), names, strict=True))
    return explanation_values(why, f"Why {names[j]} is {side}{chance}.{reverse}", called)


# Supervised ordering


def orderer_details(focus: Focus) -> Details:
    """Describe the predictions of an orderer: how groups differ, and groups to choose from."""
    found, data = predict_out_of_fold(focus), focus.data
    predicted = found.in_order(found.predicted).astype(np.float64)
    members = np.zeros(len(found.rows)) if data.groups is None else data.groups[found.rows]
    names, codes = np.unique(members, return_inverse=True)
    groups = [np.flatnonzero(codes == g) for g in range(len(names))]
    rho = np.array([_rho(found.truth[rows], predicted[rows]) for rows in groups])
    known = rho[~np.isnan(rho)]
    right = f"{(known > 0).mean():.0%}" if len(known) else "none"
    return Details(
        in_words=f"In unseen groups, {right} of the orders are nearer to the true order than to "
        "its reverse; guessing would give 50%.",
        about=f"{len(names)} unseen groups",
        sections=[_quantiles(known)] if len(known) > 1 else [],
        rows=_groups(found, names, groups, predicted, rho),
        importance=listed_importance(found, focus),
        n_features=len(found.features),
    )


def _quantiles(rho: Values) -> Section:
    shares = (0.1, 0.25, 0.5, 0.75, 0.9)
    table = ResultTable(
        {"share of groups below": f"{share:.0%}", "rho": float(value)}
        for share, value in zip(shares, np.quantile(rho, shares), strict=True)
    )
    return Section("groups", "How groups differ", "How rho differs between groups", table)


def _rho(truth: Values, predicted: Values) -> float:
    with silenced():
        return ordering.query_rho(truth, -predicted)


def _groups(
    found: OutOfFold,
    names: NDArray[Any],
    groups: list[NDArray[np.intp]],
    predicted: Values,
    rho: Values,
) -> dict[str, Any]:
    rows = []
    for g in spread(rho, MOST_PICKED).tolist():
        # Only as many of the first objects as can be read.
        shown = groups[g][np.argsort(predicted[groups[g]], kind="stable")][:_LISTED_OBJECTS]
        rows.append(
            picked_row(
                str(names[g]),
                rho[g],
                found.truth[shown],
                predicted[shown],
                item="row",
                items=[found.name(i) for i in shown.tolist()],
                facts=[["objects", str(len(groups[g]))]],
            )
        )
    note = f"At most {_LISTED_OBJECTS} objects per group, by their rows in the table."
    return picked_rows(rows, [], "rho", note, noun="Group")


OTHER_DETAILS = {"multilabel_ranker": multilabel_details, "orderer": orderer_details}
