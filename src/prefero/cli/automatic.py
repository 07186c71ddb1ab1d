"""The automatic ranker as train uses it: fitted to a table, and what it has to say."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prefero._inference import text_columns
from prefero.cli.console import say
from prefero.cli.options import OF_SCORES, Measure
from prefero.cli.rankers import AUTO, BASELINE, rankers_for
from prefero.cli.trials import Plan, Sample, refuse_measure, run_trials
from prefero.exceptions import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# With fewer rows cross-validation says nothing.
FEWEST_ROWS = 6


class Effort(StrEnum):
    """How much the automatic ranker tries."""

    QUICK = "quick"
    BALANCED = "balanced"
    BEST = "best"


EffortOption = Annotated[
    Effort,
    typer.Option("--effort", help="How much auto tries: about 3, 20 or more forests' work."),
]
TimeLimitOption = Annotated[
    float | None,
    typer.Option("--time-limit", min=1, metavar="SECONDS", help="How long auto may take."),
]


def _measure_of_automatic(measure: Measure) -> Measure:
    """Return what the automatic ranker chooses by; what it does not know has a near relative."""
    if measure in OF_SCORES:
        return Measure.REGRET
    return Measure.TAU if measure is Measure.RHO else measure


@dataclass(frozen=True)
class Found:
    """A fitted ranker and its name, what was measured on rows not seen, by what, in a sentence."""

    ranker: Any
    name: str
    held_out: dict[str, float]
    verdict: str | None
    measure: str


def fit_automatic(
    sample: Sample,
    weights: "NDArray[np.float64] | None",
    plan: Plan,
    parameters: dict[str, Any],
) -> Found:
    """Fit the automatic ranker to the rows of a table, with a bar on a terminal."""
    from prefero import AutoLabelRanker

    plan = replace(plan, measure=_measure_of_automatic(plan.measure))
    refuse_measure(sample, plan)
    sample.wonder()
    measure = plan.measure
    ranker = AutoLabelRanker(measure.value, verbose=True, random_state=plan.seed, **parameters)
    features = sample.features.astype(dict.fromkeys(text_columns(sample.features), "category"))
    scores = sample.scores if measure is Measure.REGRET else None
    ranker.fit(features, sample.ranks, weights, groups=sample.groups, scores=scores)
    for line in ranker.left_out_:
        say(f"{line['ranker']} is left out: {line['why']}.")
    if ranker.gain_ != ranker.gain_:
        _say_too_few(sample)
        return Found(ranker, AUTO, {}, None, measure)
    sign = -1 if measure is Measure.REGRET else 1
    held_out = {line["ranker"]: sign * line["held_out"] for line in ranker.leaderboard_}
    return Found(ranker, AUTO, held_out, _verdict(ranker, measure, held_out), measure)


def choose(sample: Sample, plan: Plan, jobs: int | None) -> Found:
    """Find the best multilabel ranker as prefero compare does; the constant one if none is."""
    refuse_measure(sample, plan)
    constant = Found(None, BASELINE.name, {}, None, plan.measure)
    if sample.witnesses < FEWEST_ROWS:
        _say_too_few(sample)
        return constant
    sample.wonder()
    plan = replace(plan, folds=min(plan.folds, sample.witnesses))
    trials = run_trials(rankers_for(sample.multilabel), [sample], plan, jobs=jobs)
    for (name, _), reason in trials.failed.items():
        say(f"{name} is left out: {reason}")
    try:
        judged = trials.judged(plan.measure.column)
    except DataError:
        say(f"No ranker could be measured: {BASELINE.title}.")
        return constant
    held_out = dict(zip(judged.rankers, judged.scores[0].tolist(), strict=True))
    return Found(None, judged.best, held_out, judged.verdict(), plan.measure)


def _say_too_few(sample: Sample) -> None:
    say(f"Too few rankings to choose a ranker by ({sample.witnesses}): {BASELINE.title}.")


def _verdict(ranker: Any, measure: Measure, held_out: dict[str, float]) -> str:
    """What the model is, how good on rows not seen, and how the constant order does there."""
    constant = ranker.leaderboard_[0]["ranker"]
    if ranker.is_constant_:
        return (
            f"Nothing is clearly better than the same order for everyone (mean {measure} "
            f"{held_out[constant]:.3f}): the model predicts that."
        )
    parts = sorted(zip(ranker.weights_ / ranker.weights_.sum(), ranker.member_names_, strict=True))
    made = ", ".join(f"{name} {share:.0%}" for share, name in reversed(parts))
    return (
        f"On rows not seen its mean {measure} is {held_out['stack']:.3f}, that of the same order "
        f"for everyone {held_out[constant]:.3f}. It is made of {made}."
    )
