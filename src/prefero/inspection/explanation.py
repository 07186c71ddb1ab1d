"""Why a ranker puts one label before another, for one instance."""

from dataclasses import KW_ONLY, dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from prefero.evaluation.results import ResultTable
from prefero.inspection._attribution import (
    VIRTUAL_LABEL,
    ExplainedRow,
    FeatureEffect,
    evidence_for,
    margin_parts,
)
from prefero.inspection._display import COLORS, HATCHES, Display, legend, plain, room_for
from prefero.rankings import format_order


@dataclass(frozen=True, eq=False)
class Explanation:
    """The reasons why one label is put before another. Made by `explain`.

    Attributes
    ----------
    model : str
        The class of the ranker.
    row : int
        The instance.
    order : list
        The predicted order of the labels, best first.
    pair : tuple
        The two labels that are compared, (a, b).
    margin : float
        How far a is ahead of b; negative if b is ahead.
    unit : str
        The unit of margin and effects.
    probability : float or None
        P(a before b), where the ranker has one.
    effects : list of FeatureEffect
        The effects of the features on the margin, the largest first.
    base : float or None
        The margin without any feature, with which the effects sum up to the margin; None if the
        model cannot be decomposed.
    evidence : ResultTable or None
        Further evidence of the ranker: its neighbors, the path through the tree, the votes of the
        forest.
    how : str
        How the effects were measured.
    n_relevant : int or None
        How many labels of the order are relevant, for multilabel rankers. One of the pair may then
        be ``"the virtual label"``, which comes after all relevant labels.

    Examples
    --------
    >>> from prefero import TreeLabelRanker
    >>> tree = TreeLabelRanker().fit([[0.0], [0.0], [9.0], [9.0]], [[1, 2], [1, 2], [2, 1], [2, 1]])
    >>> why = explain(tree, [[0.0], [9.0]], row=1)
    >>> why.order, why.pair
    ([1, 0], (1, 0))
    >>> bool(why.margin > 0)
    True
    """

    model: str
    row: int
    order: list[Any]
    pair: tuple[Any, Any]
    margin: float
    unit: str
    probability: float | None
    effects: list[FeatureEffect]
    base: float | None
    how: str
    evidence: ResultTable | None = None
    title: str = field(default="", repr=False)
    n_relevant: int | None = None

    def summary(self) -> str:
        """Summarize the explanation in a sentence.

        Returns
        -------
        str
            Which of the two labels is ahead, by how much and how probably.
        """
        if self.n_relevant is not None and VIRTUAL_LABEL in self.pair:
            return self._relevance_verdict()
        a, b = self.pair if self.margin >= 0 else self.pair[::-1]
        text = f"{a} is ahead of {b} by {abs(self.margin):.3g} ({self.unit})"
        if self.margin == 0:
            text = f"{a} and {b} are tied"
        if self.probability is None:
            return f"{text}."
        probability = self.probability if self.margin >= 0 else 1 - self.probability
        return f"{text}; P({a} before {b}) = {probability:.2f}."

    def _relevance_verdict(self) -> str:
        """Say whether the label that is compared with the virtual label is relevant."""
        flipped = self.pair[0] == VIRTUAL_LABEL
        label, margin = self.pair[flipped], -self.margin if flipped else self.margin
        side, way = ("relevant", "above") if margin > 0 else ("not relevant", "below")
        text = f"{label} is {side}: {abs(margin):.3g} ({self.unit}) {way} the virtual label"
        if self.probability is None:
            return f"{text}."
        chance = 1 - self.probability if flipped else self.probability
        return f"{text}; P({label} is relevant) = {chance:.2f}."

    def effect_table(self, top: int | None = 10) -> ResultTable:
        """Return the effects of the features as a table.

        Parameters
        ----------
        top : int, optional
            How many; the others are summed in one row.

        Returns
        -------
        ResultTable
            The columns ``feature``, ``value``, ``effect`` and ``speaks for``.
        """
        shown = self.effects[:top]
        rest = self.effects[len(shown) :]
        rows = [self._line(e.feature, _text(e.value), e.amount) for e in shown]
        if rest and self.base is not None:
            rows.append(self._line(f"{len(rest)} more", "", sum(e.amount for e in rest)))
        if self.base:
            rows.append(self._line("without features", "", self.base))
        return ResultTable(rows, ("feature", "value", "effect", "speaks for"))

    def _line(self, feature: str, value: str, amount: float) -> dict[str, Any]:
        side = "" if amount == 0 else str(self.pair[0] if amount > 0 else self.pair[1])
        return {"feature": feature, "value": value, "effect": float(amount), "speaks for": side}

    def to_text(self, top: int | None = 10) -> str:
        """Return the whole explanation as text that is also Markdown.

        Parameters
        ----------
        top : int, optional
            How many features to list; all if None.

        Returns
        -------
        str
            The order, the summary, the effects of the features, and the evidence.
        """
        parts = [f"Row {self.row}: {self.order_text()}  ({self.model})", self.summary()]
        if self.effects:
            parts += [self.how, self.effect_table(top).to_text()]
        if self.evidence is not None:
            parts += [self.title, self.evidence.to_text()]
        return "\n\n".join(parts)

    def order_text(self) -> str:
        """Return the predicted order as text, relevant labels in separate brackets."""
        if self.n_relevant is None:
            return format_order(self.order)
        relevant, others = self.order[: self.n_relevant], self.order[self.n_relevant :]
        return f"[{format_order(relevant)}][{format_order(others)}]"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as values that JSON can write.

        Returns
        -------
        dict
            The attributes by their names.
        """
        return {
            "model": self.model,
            "row": self.row,
            "order": [_plain(label) for label in self.order],
            "n_relevant": self.n_relevant,
            "pair": [_plain(label) for label in self.pair],
            "margin": self.margin,
            "unit": self.unit,
            "probability": self.probability,
            "base": self.base,
            "effects": [{**e._asdict(), "value": _plain(e.value)} for e in self.effects],
            "evidence": None if self.evidence is None else list(self.evidence),
            "how": self.how,
        }

    def plot(self, ax: Any = None, *, top: int = 10) -> Any:
        """Draw the effects of the features.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        top : int, default=10
            How many features.

        Returns
        -------
        ExplanationDisplay
            The display.
        """
        from prefero.inspection.explanation import ExplanationDisplay

        return ExplanationDisplay.from_explanation(self, top=top, ax=ax)


def explain(
    model: Any, X: Any, row: int = 0, *, pair: tuple[Any, Any] | None = None
) -> Explanation:
    """Explain why a ranker puts one label before another for one instance.

    Trees and forests are decomposed exactly along their paths, linear rankers by their weights:
    the effects of the features sum up to the margin. For any other ranker, predictions are
    repeated with each feature replaced by its values in the other rows of X.

    Parameters
    ----------
    model : estimator
        A fitted label or multilabel ranker, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Instances.
    row : int, default=0
        Which of them to explain.
    pair : tuple of two labels, optional
        By default the two that are predicted first; for a multilabel ranker, the first and
        ``"the virtual label"``: why it is relevant, or not.

    Returns
    -------
    Explanation
        With ``to_text()``, ``to_dict()`` and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> from prefero import ForestLabelRanker
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> Y = np.where(X[:, [0]] > 0, [[1, 2]], [[2, 1]])
    >>> why = explain(ForestLabelRanker(random_state=0).fit(X, Y), [[2.0, 0.0]])
    >>> why.pair, why.effects[0].feature
    ((0, 1), 'x0')
    """
    n = len(X) if hasattr(X, "__len__") else X.shape[0]
    if not -n <= row < n:
        raise ValueError(f"row must be one of 0..{n - 1}, got {row}.")
    view = ExplainedRow(model, X if hasattr(X, "shape") else np.asarray(X), row % n)
    a, b = view.indices(pair)
    parts = margin_parts(view, a, b)
    evidence = evidence_for(view, a, b)
    probability = None
    if hasattr(view.ranker, "predict_pairwise"):
        probability = float(view.ranker.predict_pairwise(view.inner)[0, a, b])
    return Explanation(
        model=type(view.ranker).__name__,
        row=view.row,
        order=view.order(),
        pair=(view.labels[a], view.labels[b]),
        margin=parts.margin,
        unit=parts.unit,
        probability=probability,
        effects=view.grouped(parts),
        base=parts.base,
        how=parts.how,
        evidence=None if evidence is None else evidence[1],
        title="" if evidence is None else evidence[0],
        n_relevant=view.n_relevant(),
    )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "missing" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | int | float | bool | None) else str(value)


if TYPE_CHECKING:
    from prefero.inspection.explanation import Explanation


@dataclass(eq=False, repr=False)
class ExplanationDisplay(Display):
    """Bars of what each feature adds to the margin of one label over another.

    Parameters
    ----------
    features : list of str
        Feature names, with the values of the instance.
    amounts : list of float
        Their effects on the margin.
    pair : tuple
        The two labels.
    title : str
        A summary.
    unit : str
        The unit of the effects.

    %(drawn_on)s

    Examples
    --------
    >>> display = ExplanationDisplay(["age = 31", "town = Ulm"], [0.4, -0.1], pair=("tea", "milk"))
    >>> display.plot().figure_ is display.ax_.figure
    True
    """

    features: list[str]
    amounts: list[float]
    _: KW_ONLY
    pair: tuple[Any, Any]
    title: str = ""
    unit: str = "score"

    @classmethod
    def from_explanation(cls, why: "Explanation", *, top: int = 10, ax: Any = None) -> Self:
        """Draw an explanation.

        Parameters
        ----------
        why : Explanation
            What `prefero.inspection.explain` returned.
        top : int, default=10
            How many features.
        %(ax)s

        %(display)s
        """
        rows = why.effect_table(top)
        names = [f"{r['feature']} = {r['value']}" if r["value"] else r["feature"] for r in rows]
        amounts = [row["effect"] for row in rows]
        display = cls(names, amounts, pair=why.pair, title=why.summary(), unit=why.unit)
        return display.plot(ax)

    def _draw(self, ax: Any) -> None:
        ax = self._axes(ax, 4.5 + room_for(self.features), 0.4 * len(self.features) + 2.2)
        places = np.arange(len(self.features))
        for side, label in enumerate(self.pair):
            sign = 1 - 2 * side
            chosen = [i for i, amount in enumerate(self.amounts) if sign * amount > 0]
            ax.barh(
                places[chosen],
                [self.amounts[i] for i in chosen],
                color=COLORS[side],
                hatch=HATCHES[side],
                edgecolor="white",
                linewidth=0.5,
                label=f"speaks for {plain(label)}",
            )
        ax.axvline(0, color="0.5", linewidth=1)
        ax.set_yticks(places, [plain(name) for name in self.features])
        ax.invert_yaxis()
        ax.set_xlabel(f"effect on the margin ({self.unit})")
        ax.set_title(plain(fill(self.title, 56)), fontsize="medium", loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        legend(ax)
