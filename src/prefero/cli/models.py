"""Rankers as commands train them, and models as commands find them in files."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prefero._names import did_you_mean
from prefero._pipelines import final_step, fit_final
from prefero._prediction import as_input, prose_columns, takes_text, text_columns
from prefero.cli.console import count, say
from prefero.cli.rankers import RankerChoice

if TYPE_CHECKING:
    import pandas as pd

    from prefero.tables import Rankings


_MOST_NAMES = 5


def build(
    choice: RankerChoice, features: "pd.DataFrame", settings: Mapping[str, Any] | None = None
) -> Any:
    """Return an untrained model for some features, with some parameters."""
    ranker = choice.make()
    refuse_unknown(settings or {}, ranker)
    return behind_columns(ranker.set_params(**settings or {}), features)


def behind_columns(estimator: Any, features: "pd.DataFrame") -> Any:
    """Return an untrained model for some features.

    An estimator that knows nominal features gets the table as it is, unless there is prose; one
    that takes any table always does. Any other sits behind standardised numbers, one column a
    name, and the dimensions of prose.
    """
    from sklearn.utils import get_tags

    prose = prose_columns(features)
    knows_names = takes_text(estimator)
    if not prose if knows_names else get_tags(estimator).input_tags.string:
        return estimator
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from prefero import TextEncoder
    from prefero.pipeline import RankingPipeline

    text = text_columns(features)
    numbers = [str(name) for name in features.columns if name not in {*text, *prose}]
    words = [sorted(features[name].dropna().unique()) for name in text]
    encoder = OneHotEncoder(categories=words, handle_unknown="ignore", sparse_output=False)
    steps = [("numbers", StandardScaler(), numbers), ("text", encoder, text)]
    steps += [("prose", TextEncoder(), prose)]
    columns = ColumnTransformer(
        [step for step in steps if step[2]], verbose_feature_names_out=False
    )
    return RankingPipeline([("columns", columns), ("ranker", estimator)])


def refuse_unknown(settings: Mapping[str, Any], ranker: Any) -> None:
    """Refuse parameters that an estimator does not have."""
    from typer import BadParameter

    known = sorted(ranker.get_params(deep=False))
    for name in settings:
        if name not in known:
            near = did_you_mean(name, known)
            raise BadParameter(f"--param {name}{near}: the parameters are {', '.join(known)}.")


def fit(
    model: Any,
    features: "pd.DataFrame",
    rankings: "Rankings",
    weight: Any = None,
    by_worth: bool = False,
) -> Any:
    """Train a model on the rankings of a table and, if it has one, their zero point.

    By worth, rankers that can learn from the scores behind the ranks too.
    """
    X, relevance = as_input(model, features), rankings.relevance
    if relevance is None:
        from sklearn.utils.validation import has_fit_parameter

        taken = by_worth and has_fit_parameter(final_step(model), "scores")
        scores = rankings.scores if taken else None
        return fit_final(model, X, rankings.y, sample_weight=weight, scores=scores)
    return fit_final(model, X, relevance, ranks=rankings.y, sample_weight=weight)


def say_unseen(unseen: Mapping[str, Counter[str]]) -> None:
    """Say which names a model has not been trained on, and how often they occur."""
    for column, names in unseen.items():
        shown = ", ".join(repr(name) for name, _ in names.most_common(_MOST_NAMES))
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        say(
            f"{count(names.total(), 'row')} of column {column!r} hold what was not in the "
            f"training data, taken as unknown: {shown}{more}."
        )


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """Return parameters from words such as 'n_estimators=500' or 'criterion=mallows'."""
    from typer import BadParameter

    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise BadParameter(
                f"--param takes NAME=VALUE, such as n_neighbors=20, not {setting!r}."
            )
        try:
            parsed[name.strip()] = json.loads(value)
        except ValueError:
            parsed[name.strip()] = {"None": None, "True": True, "False": False}.get(value, value)
    return parsed
