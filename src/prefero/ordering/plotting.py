"""Pictures of what orderers and reducers found."""

from collections.abc import Sequence
from typing import Any, Self

from prefero._optional import require
from prefero.ordering.reduction import AttributeWeight, RankCorrelationReducer


class ComponentsDisplay:
    """Bars of the attribute weights of components: right of zero, larger is better.

    Parameters
    ----------
    weights : list of lists of AttributeWeight
        For each component its attributes, largest absolute weight first.
    concordance : sequence of float
        For each component how well the orders follow it.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : list of matplotlib Axes
        One axes per component.
    bars_ : list of matplotlib BarContainer
        The bars of each component, the largest on top.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X, y = [[3.0, 0.0], [1.0, 2.0], [2.0, 1.0]], [1, 3, 2]
    >>> reducer = RankCorrelationReducer(1).fit(X, y)
    >>> display = ComponentsDisplay.from_estimator(reducer)
    >>> display.axes_[0].get_title()
    'component 0, concordance 1.41'
    """

    def __init__(
        self, weights: Sequence[Sequence[AttributeWeight]], concordance: Sequence[float]
    ) -> None:
        self.weights = weights
        self.concordance = concordance

    @classmethod
    def from_estimator(
        cls,
        reducer: RankCorrelationReducer,
        *,
        components: Sequence[int] | None = None,
        top: int | None = 10,
        axes: Sequence[Any] | None = None,
    ) -> Self:
        """Draw the components of a fitted reducer.

        Parameters
        ----------
        reducer : RankCorrelationReducer
            A fitted reducer.
        components : sequence of int, optional
            Which components; all by default.
        top : int or None, default=10
            How many attributes of each; None for all.
        axes : sequence of matplotlib Axes, optional
            Where to draw, one axes per component; a new figure by default.

        Returns
        -------
        ComponentsDisplay
            The display.
        """
        shown = range(reducer.n_components_) if components is None else components
        display = cls(
            [reducer.describe(component, top) for component in shown],
            [float(reducer.concordance_[component]) for component in shown],
        )
        return display.plot(axes, numbers=list(shown))

    def plot(
        self, axes: Sequence[Any] | None = None, *, numbers: Sequence[int] | None = None
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            Where to draw, one axes per component; a new figure by default.
        numbers : sequence of int, optional
            What to call the components; 0, 1, ... by default.

        Returns
        -------
        self
            The display.
        """
        if axes is None:
            pyplot = require("matplotlib.pyplot", extra="plot", purpose="Drawing")
            count = len(self.weights)
            size = (4.5 * count, 1 + 0.3 * max(map(len, self.weights)))
            figure, grid = pyplot.subplots(
                1, count, figsize=size, squeeze=False, layout="constrained"
            )
            self.figure_, axes = figure, list(grid[0])
        else:
            self.figure_ = axes[0].figure
        self.axes_, self.bars_ = list(axes), []
        names = range(len(self.weights)) if numbers is None else numbers
        for ax, weights, concordance, name in zip(
            self.axes_, self.weights, self.concordance, names, strict=True
        ):
            upwards = weights[::-1]
            colors = ["C0" if weight > 0 else "C3" for _, weight, _ in upwards]
            self.bars_.append(
                ax.barh([a for a, _, _ in upwards], [w for _, w, _ in upwards], color=colors)
            )
            ax.axvline(0, color="black", linewidth=0.8)
            ax.set(title=f"component {name}, concordance {concordance:.2f}", xlabel="weight")
        return self
