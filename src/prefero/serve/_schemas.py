"""Requests and answers, as the OpenAPI description shows them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from prefero.serve._answers import FIELDS, ResponseFields

FieldName = Literal[
    "order", "ranks", "buckets", "probabilities", "expected_tau", "top_set", "relevant"
]


class RankRequest(BaseModel):
    """Instances to rank the labels for."""

    model_config = ConfigDict(extra="forbid")

    model: Annotated[
        str | None, Field(description="The name of the model; may be left out if there is one.")
    ] = None
    instances: Annotated[
        list[dict[str, Any]],
        Field(
            min_length=1,
            description="The features of each instance by name: numbers, or one of the categories. "
            "A feature that is null or left out is missing.",
        ),
    ]
    include: Annotated[
        list[FieldName] | None, Field(description="What to answer; everything by default.")
    ] = None
    top: Annotated[int | None, Field(ge=1, description="How many labels an order names.")] = None
    error: Annotated[
        float,
        Field(
            gt=0,
            lt=1,
            description="The error level of the top set: the first label is in the set with "
            "probability at least 1 - 2 * error, and usually about 1 - error.",
        ),
    ] = 0.1
    explain: Annotated[
        bool | tuple[str, str],
        Field(description="true to explain the first two labels, or two labels to compare."),
    ] = False

    def fields(self) -> ResponseFields:
        """Return what the answers are to hold."""
        include = FIELDS if self.include is None else tuple(self.include)
        return ResponseFields(include, self.top, self.error, self.explain)


class EffectAnswer(BaseModel):
    """The effect of one feature on the margin between two labels."""

    feature: str
    value: Any
    amount: float


class ExplanationAnswer(BaseModel):
    """Why one label is put before another."""

    pair: list[Any]
    summary: str
    how: str
    effects: list[EffectAnswer]
    base: float | None
    margin: float
    unit: str


class RankAnswer(BaseModel):
    """The ranking of one instance; what was not asked for is left out."""

    order: Annotated[list[str], Field(description="The labels, best first.")] = []
    ranks: Annotated[dict[str, int], Field(description="1 is best.")] = {}
    buckets: Annotated[dict[str, int], Field(description="Ranks with ties.")] = {}
    probabilities: Annotated[
        list[list[float]],
        Field(description="Row i, column j: how likely label i comes before label j."),
    ] = []
    expected_tau: Annotated[
        float | None, Field(description="The expected Kendall tau of the order.")
    ] = None
    top_set: Annotated[list[str], Field(description="Labels that may be first.")] = []
    relevant: Annotated[
        list[str], Field(description="The relevant labels, if the model predicts them.")
    ] = []
    explanation: ExplanationAnswer | None = None


class RankResponse(BaseModel):
    """The rankings of all instances, in their order."""

    model: str
    labels: list[str]
    results: list[RankAnswer]
    notes: Annotated[
        list[str], Field(description="Values that were missing, or never seen in training.")
    ] = []


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    detail: Annotated[Any, Field(description="A sentence, or a list of places and sentences.")]


class FeatureAnswer(BaseModel):
    """One feature of a model."""

    name: str
    kind: Literal["number", "category", "text"]
    low: float | None = None
    high: float | None = None
    categories: list[str] | None = None


class ModelAnswer(BaseModel):
    """The labels and features of a model."""

    name: str
    kind: str
    labels: list[str]
    features: list[FeatureAnswer]
    example: dict[str, Any]
    loaded: float
    calibrated: bool
    top_set: bool
    relevant: bool


class HealthAnswer(BaseModel):
    """The state of the service."""

    status: Literal["ok", "degraded"]
    models: list[str]
    problems: dict[str, str]
