"""The automatic ranker as train uses it: fitted to a table, and what it has to say."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._prediction import text_columns
from prefero.cli.console import say
from prefero.cli.options import LOSSES, OF_SCORES, Metric
from prefero.cli.rankers import AUTO, BASELINE
from prefero.cli.trials import Plan, Sample, refuse_measure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from prefero.tables import Rankings

# With fewer rows cross-validation says nothing.
FEWEST_ROWS = 6


class Preset(StrEnum):
    """How much the automatic ranker tries."""

    QUICK = "quick"
    BALANCED = "balanced"
    BEST = "best"


PresetOption = Annotated[
    Preset,
    typer.Option("--preset", help="How much auto tries: about 3, 20 or more forests' work."),
]
TimeLimitOption = Annotated[
    float | None,
    typer.Option("--time-limit", min=1, metavar="SECONDS", help="How long auto may take."),
]


def _metric_of_automatic(metric: Metric) -> Metric:
    """Return what the automatic ranker chooses by; what it does not know has a near relative."""
    if metric in OF_SCORES:
        return Metric.REGRET
    return Metric.TAU if metric is Metric.RHO else metric


@dataclass(frozen=True)
class Found:
    """A fitted ranker and its name, what was measured on rows not seen, by what, in a sentence."""

    ranker: Any
    name: str
    held_out: dict[str, float]
    verdict: str | None
    metric: str


def fit_automatic(
    sample: Sample,
    rankings: "Rankings",
    weights: "NDArray[np.float64] | None",
    plan: Plan,
    parameters: dict[str, Any],
) -> Found:
    """Fit the automatic ranker of a task to the rows of a table, with a bar on a terminal."""
    import prefero

    if not sample.multilabel:
        plan = replace(plan, metric=_metric_of_automatic(plan.metric))
    refuse_measure(sample, plan)
    sample.wonder()
    metric = plan.metric
    features = sample.features.astype(dict.fromkeys(text_columns(sample.features), "category"))
    kind = prefero.AutoMultilabelRanker if sample.multilabel else prefero.AutoLabelRanker
    ranker = kind(metric.value, verbose=True, random_state=plan.seed, **parameters)
    if sample.multilabel:
        ranker.fit(features, rankings.relevance, rankings.y, weights, groups=sample.groups)
    else:
        scores = sample.scores if metric is Metric.REGRET else None
        ranker.fit(features, sample.ranks, weights, groups=sample.groups, scores=scores)
    for line in ranker.skipped_:
        say(f"{line['ranker']} is left out: {line['why']}.")
    if ranker.improvement_ != ranker.improvement_:
        _say_too_few(sample)
        return Found(ranker, AUTO, {}, None, metric)
    sign = -1 if metric in LOSSES else 1
    held_out = {line["ranker"]: sign * line["held_out"] for line in ranker.leaderboard_}
    told = _choice if sample.multilabel else _verdict
    return Found(ranker, AUTO, held_out, told(ranker, metric, held_out), metric)


def _say_too_few(sample: Sample) -> None:
    say(f"Too few rankings to choose a ranker by ({sample.witnesses}): {BASELINE.title}.")


def _verdict(ranker: Any, metric: Metric, held_out: dict[str, float]) -> str:
    """What the model is, how good on rows not seen, and how the constant order does there."""
    constant = ranker.leaderboard_[0]["ranker"]
    if ranker.is_baseline_:
        return (
            f"Nothing is clearly better than the same order for everyone (mean {metric} "
            f"{held_out[constant]:.3f}): the model predicts that."
        )
    parts = sorted(zip(ranker.weights_ / ranker.weights_.sum(), ranker.member_names_, strict=True))
    made = ", ".join(f"{name} {share:.0%}" for share, name in reversed(parts))
    return (
        f"On rows not seen its mean {metric} is {held_out['stack']:.3f}, that of the same order "
        f"for everyone {held_out[constant]:.3f}. It is made of {made}."
    )


def _choice(ranker: Any, metric: Metric, held_out: dict[str, float]) -> str:
    """Which ranker was chosen, and how the same answer for everyone does."""
    constant = ranker.leaderboard_[0]["ranker"]
    if ranker.chosen_name_ == constant:
        return (
            f"Nothing is clearly better than the {constant} (mean {metric} "
            f"{held_out[constant]:.3f}): the model gives that."
        )
    return (
        f"On rows not seen the mean {metric} of {ranker.chosen_name_} is "
        f"{held_out[ranker.chosen_name_]:.3f}, that of the {constant} {held_out[constant]:.3f}."
    )
