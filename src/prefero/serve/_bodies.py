"""What requests and answers hold, as the OpenAPI description says it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from prefero.serve._answers import PARTS, Wish

Part = Literal["order", "ranks", "buckets", "probabilities", "expected_tau", "top_set", "relevant"]


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
        list[Part] | None, Field(description="What to answer; everything by default.")
    ] = None
    top: Annotated[int | None, Field(ge=1, description="How many labels an order names.")] = None
    error: Annotated[
        float,
        Field(gt=0, lt=1, description="How often the first label may be outside its set."),
    ] = 0.1
    explain: Annotated[
        bool | tuple[str, str],
        Field(description="true to explain the first two labels, or two labels to compare."),
    ] = False

    def wish(self) -> Wish:
        """What of an answer is wanted."""
        include = PARTS if self.include is None else tuple(self.include)
        return Wish(include, self.top, self.error, self.explain)


class Effect(BaseModel):
    """What one feature does to the margin between two labels."""

    feature: str
    value: Any
    amount: float


class WhyAnswer(BaseModel):
    """Why one label is put before another."""

    pair: list[Any]
    verdict: str
    how: str
    effects: list[Effect]
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
        float | None, Field(description="The Kendall tau to expect of the order.")
    ] = None
    top_set: Annotated[list[str], Field(description="Labels that may be first.")] = []
    relevant: Annotated[
        list[str], Field(description="The relevant labels, of a model that tells them.")
    ] = []
    explanation: WhyAnswer | None = None


class RankResponse(BaseModel):
    """The rankings of all instances, in their order."""

    model: str
    labels: list[str]
    results: list[RankAnswer]
    notes: Annotated[
        list[str], Field(description="What was missing, or never seen in training.")
    ] = []


class Problem(BaseModel):
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
    """What a client must know to ask a model."""

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
    """How the service is."""

    status: Literal["ok", "degraded"]
    models: list[str]
    problems: dict[str, str]
