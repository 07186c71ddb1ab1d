"""The rankers and orderers that commands offer by short names, and how they are built."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typer import BadParameter

from prefero._model_inputs import categorical_columns, takes_categories, text_columns
from prefero._names import did_you_mean
from prefero.cli.console import count, say

if TYPE_CHECKING:
    import pandas as pd

_MOST_NAMES = 5
_REDUCE = "reduce__"


@dataclass(frozen=True)
class RankerChoice:
    """A ranker or orderer as the command line knows it."""

    name: str
    estimator: str
    title: str = ""
    module: str = "prefero"

    def make(self) -> Any:
        """Return an untrained estimator with its default parameters."""
        from importlib import import_module

        return getattr(import_module(self.module), self.estimator)()


BASELINE = RankerChoice("consensus", "ConsensusLabelRanker", "consensus baseline")
RANKERS = (
    BASELINE,
    RankerChoice("neighbors", "NeighborsLabelRanker", "nearest neighbours"),
    RankerChoice("tree", "TreeLabelRanker", "tree"),
    RankerChoice("forest", "ForestLabelRanker", "forest"),
    RankerChoice("boosting", "BoostingLabelRanker", "boosted trees"),
    RankerChoice("pairwise", "PairwiseLabelRanker", "pairwise comparison"),
    RankerChoice("loglinear", "LogLinearLabelRanker", "log-linear"),
    RankerChoice("ridge", "RidgeLabelRanker", "ridge regression"),
    RankerChoice("constraint", "ConstraintLabelRanker", "constraint classification"),
)
# These also predict which labels are relevant.
MULTILABEL_RANKERS = (
    RankerChoice(BASELINE.name, "ConsensusMultilabelRanker", BASELINE.title),
    RankerChoice("neighbors", "NeighborsMultilabelRanker", "nearest neighbours"),
    RankerChoice("pairwise", "PairwiseMultilabelRanker", "calibrated pairwise comparison"),
    RankerChoice("binary-relevance", "BinaryRelevanceRanker", "one classifier per label"),
    RankerChoice("calibrated", "CalibratedMultilabelRanker", "label ranker with a virtual label"),
)
# These order objects, and labels that have features.
ORDERERS = {
    choice.name: choice
    for choice in (
        RankerChoice("svm", "RankSVMOrderer"),
        RankerChoice("order-svm", "OrderSVMOrderer"),
        RankerChoice("regression", "ExpectedRankOrderer"),
        RankerChoice("rankboost", "RankBoostOrderer"),
        RankerChoice("cohen", "CohenOrderer"),
        RankerChoice("trees", "BoostingOrderer"),
    )
}
CONSTANT = RankerChoice("constant", "ConstantOrderer", module="prefero.evaluation")
LIGHTGBM = RankerChoice("lightgbm", "LightGBMOrderer", module="prefero.evaluation")

AUTO = "auto"
RANKER_NAMES = tuple(dict.fromkeys(choice.name for choice in (*RANKERS, *MULTILABEL_RANKERS)))
UNREDUCED = (AUTO, CONSTANT.name, LIGHTGBM.name)
# Orderers that take missing numbers, for users who have some.
ORDERERS_WITH_MISSING = "--model rankboost or trees"


def rankers_for(multilabel: bool) -> tuple[RankerChoice, ...]:
    """Return the rankers of a task."""
    return MULTILABEL_RANKERS if multilabel else RANKERS


def ranker_choice(name: str, multilabel: bool = False) -> RankerChoice:
    """Return the ranker of a task by its name, or say which there are."""
    automatic = "AutoMultilabelRanker" if multilabel else "AutoLabelRanker"
    offered = {
        choice.name: choice
        for choice in (*rankers_for(multilabel), RankerChoice(AUTO, automatic, "automatic ranker"))
    }
    task = "which predict relevant labels" if multilabel else "which rank labels"
    return offered[known_name(name, offered, f"the models {task}: ")]


def orderer_choice(name: str) -> RankerChoice:
    """Return an orderer by its name, or say which there are."""
    others = (RankerChoice(AUTO, "AutoOrderer"), LIGHTGBM, CONSTANT)
    offered = ORDERERS | {choice.name: choice for choice in others}
    return offered[known_name(name, offered, "the orderers: ")]


def known_name(name: str, known: Any, what: str = "") -> str:
    """Return a name, or refuse it with the names that there are."""
    if name not in known:
        near = did_you_mean(name, known)
        raise BadParameter(f"{name!r} is none of {what}{', '.join(known)}{near}.")
    return name


def build(
    choice: RankerChoice,
    features: "pd.DataFrame",
    parameters: Mapping[str, Any] | None = None,
    *,
    reduce: int | None = None,
) -> Any:
    """Return an untrained model for some features, with some parameters.

    ``reduce`` is the number of components that an orderer learns from.
    """
    given = dict(parameters or {})
    of_reducer = {
        key.removeprefix(_REDUCE): given.pop(key) for key in [*given] if key.startswith(_REDUCE)
    }
    estimator = choice.make()
    refuse_unknown(given, estimator)
    model = behind_columns(estimator.set_params(**given), features)
    if reduce is None and not of_reducer:
        return model
    from prefero import RankCorrelationReducer
    from prefero.pipeline import RankingPipeline

    reducer = RankCorrelationReducer(reduce)
    refuse_unknown(of_reducer, reducer)
    if model is estimator:
        model = RankingPipeline([("ranker", estimator)])
    model.steps.insert(len(model.steps) - 1, ("reduce", reducer.set_params(**of_reducer)))
    return model


def behind_columns(estimator: Any, features: "pd.DataFrame") -> Any:
    """Return an untrained model for some features.

    An estimator that takes categories gets the table as it is, unless there is text; one that
    takes any table always does. Any other gets standardized numbers, empty cells filled with the
    mean of their column, one column per category, and the dimensions of texts.
    """
    from sklearn.utils import get_tags

    texts, tags = text_columns(features), get_tags(estimator).input_tags
    gaps = not tags.allow_nan and bool(features.select_dtypes("number").isna().any(axis=None))
    plain = takes_categories(estimator) and not gaps
    if not texts if plain else tags.string:
        return estimator
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from prefero import TextEncoder
    from prefero.pipeline import RankingPipeline

    named = categorical_columns(features)
    numbers = [str(name) for name in features.columns if name not in {*named, *texts}]
    categories = [sorted(features[name].dropna().unique()) for name in named]
    encoder = OneHotEncoder(categories=categories, handle_unknown="ignore", sparse_output=False)
    scaler: Any = StandardScaler()
    if gaps:
        fill = SimpleImputer(keep_empty_features=True)
        scaler = Pipeline([("fill", fill), ("scale", scaler)])
    steps = [("numbers", scaler, numbers), ("text", encoder, named)]
    steps += [("prose", TextEncoder(), texts)]
    columns = ColumnTransformer(
        [step for step in steps if step[2]], verbose_feature_names_out=False
    )
    return RankingPipeline([("columns", columns), ("ranker", estimator)])


def refuse_unknown(parameters: Mapping[str, Any], estimator: Any) -> None:
    """Refuse parameters that an estimator does not have."""
    known = sorted(estimator.get_params(deep=False))
    for name in parameters:
        if name not in known:
            near = did_you_mean(name, known)
            raise BadParameter(f"--param {name}{near}: the parameters are {', '.join(known)}.")


def seeded(choice: RankerChoice, seed: int, jobs: int | None = None) -> dict[str, Any]:
    """Return the seed and the number of jobs for a ranker that has such parameters."""
    known = choice.make().get_params(deep=False)
    given = {"random_state": seed, "n_jobs": jobs}
    return {name: value for name, value in given.items() if name in known}


def parse_parameters(words: list[str]) -> dict[str, Any]:
    """Return parameters from words such as 'n_estimators=500' or 'criterion=mallows'."""
    parsed = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise BadParameter(f"--param takes NAME=VALUE, such as n_neighbors=20, not {word!r}.")
        try:
            parsed[name.strip()] = json.loads(value)
        except ValueError:
            parsed[name.strip()] = {"None": None, "True": True, "False": False}.get(value, value)
    return parsed


def say_unseen(unseen: Mapping[str, Counter[str]]) -> None:
    """Say which categories a model was not trained on, and how often they occur."""
    for column, names in unseen.items():
        shown = ", ".join(repr(name) for name, _ in names.most_common(_MOST_NAMES))
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        say(
            f"{count(names.total(), 'row')} of column {column!r} hold categories that were not in "
            f"the training data, taken as unknown: {shown}{more}."
        )
