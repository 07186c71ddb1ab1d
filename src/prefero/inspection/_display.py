"""What all displays share: axes to draw on, and series that can be told apart without colors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from prefero._docs import documented
from prefero._names import without_common_start
from prefero._optional import require
from prefero._typing import Values

# The color-blind-safe palette of Okabe and Ito.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo")

_METRIC_NAMES = {
    "tau": "mean Kendall tau",
    "rho": "mean Spearman rho",
    "top1": "share of right first choices",
    "regret": "mean regret",
}

# Numbers are written into the cells of a matrix of at most so many rows.
MOST_WRITTEN_ROWS = 12


@documented()
class Display:
    """Base of displays: ``from_...`` computes and draws, ``plot`` draws again.

    A subclass defines ``_draw(ax)``, which gets its axes from ``self._axes``.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn last.
    figure_ : matplotlib figure
        The figure of these axes.
    """

    ax_: Any
    figure_: Any

    def __init_subclass__(cls) -> None:
        documented()(cls)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        %(ax)s

        %(display)s
        """
        self._draw(ax)
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def _axes(self, ax: Any, width: float, height: float) -> Any:
        """Return the given axes, or the axes of a new figure of that size in inches."""
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plot", purpose="Drawing")
            ax = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def draw_curves(ax: Any, places: Sequence[float] | Values, curves: Mapping[str, Values]) -> None:
    """Draw named lines over the same x values."""
    for i, (name, curve) in enumerate(curves.items()):
        ax.plot(
            places,
            curve,
            label=plain(name),
            color=COLORS[i % len(COLORS)],
            marker=MARKERS[i % len(MARKERS)],
            linestyle=LINES[i % len(LINES)],
            markersize=5,
        )


def bar_style(i: int) -> dict[str, Any]:
    """Return the look of the i-th series of bars."""
    return {
        "color": COLORS[i % len(COLORS)],
        "hatch": HATCHES[i % len(HATCHES)],
        "edgecolor": "white",
        "linewidth": 0.5,
    }


def open_frame(ax: Any) -> None:
    """Keep only the left and the lower border, and a faint horizontal grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)


def legend(ax: Any) -> None:
    """Put the legend below the axes if they are alone in the figure, else inside."""
    figure = ax.figure
    if len(figure.axes) > 1 or figure.get_layout_engine() is None:
        ax.legend(frameon=False)
        return
    handles, names = ax.get_legend_handles_labels()
    inches = 0.6 + 0.08 * max(map(len, names))
    columns = max(1, min(len(names), 4, int(figure.get_figwidth() / inches)))
    rows = -(-len(names) // columns)
    figure.set_figheight(figure.get_figheight() + 0.21 * (rows - 1))
    figure.legend(handles, names, frameon=False, loc="outside lower center", ncols=columns)


# Positions around a point: offset in points, and alignment of the text.
_SIDES = (
    *((6, 0, "left", "center"), (-6, 0, "right", "center")),
    *((0, 5, "center", "bottom"), (0, -5, "center", "top")),
    *((5, 4, "left", "bottom"), (-5, 4, "right", "bottom")),
    *((5, -4, "left", "top"), (-5, -4, "right", "top")),
)


def write_beside(ax: Any, places: Values, names: Sequence[str], among: Values) -> None:
    """Write names beside points where they cover neither points nor each other.

    Parameters
    ----------
    ax : matplotlib axes
        Where the points are drawn.
    places : ndarray of shape (n_names, 2)
        The points to name; names without room are omitted, the last ones first.
    names : sequence of str
        Their names.
    among : ndarray of shape (n_points, 2)
        All points that must stay visible.
    """
    figure = ax.figure
    figure.draw_without_rendering()
    # Names must not change the limits.
    ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim())
    centre, half = ax.transData.transform(among), figure.dpi / 72 * 3
    taken = [(x - half, y - half, x + half, y + half) for x, y in centre]
    for place, name in zip(places, names, strict=True):
        for right, up, across, upright in _SIDES:
            text = ax.annotate(
                name,
                place,
                xytext=(right, up),
                textcoords="offset points",
                ha=across,
                va=upright,
                fontsize="small",
            )
            box = text.get_window_extent()
            inside = ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1
            inside = inside and ax.bbox.y0 <= box.y0 and box.y1 <= ax.bbox.y1
            if inside and not any(_meet(box.extents, other) for other in taken):
                taken.append(tuple(box.extents))
                break
            text.remove()


def _meet(one: Any, other: Any) -> bool:
    return bool(one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3])


def plain(name: Any) -> str:
    """Return a name as text in which a dollar does not start a formula."""
    return str(name).replace("$", r"\$")


def short_names(names: Iterable[Any]) -> tuple[list[str], str]:
    """Return names without their common start, and a note of that start."""
    start, short = without_common_start(names)
    return [plain(name) for name in short], f"({plain(start)}...)" if start else ""


def room_for(names: Sequence[str]) -> float:
    """Return the inches that the longest name takes beside an axis."""
    return 0.085 * max(map(len, names), default=0)


def some_of(count: int, most: int = 15) -> list[int]:
    """Return the places of at most so many evenly spaced ticks."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, count) if count / step <= most)
    return list(range(0, count, step)) if step == 1 else [0, *range(step - 1, count, step)]


def metric_name(scoring: str) -> str:
    """Return the axis label of a column of results."""
    return _METRIC_NAMES.get(scoring, scoring.replace("_", " "))


def matrix_frame(axes: list[Any], image: Any, quantity: str) -> None:
    """Finish matrices of shares: gray where nothing is known, one color bar in percent."""
    for ax in axes:
        ax.set_facecolor("0.9")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    bar = axes[0].figure.colorbar(image, ax=axes, label=quantity)
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")


def write_percentages(ax: Any, image: Any) -> None:
    """Write the shares into the cells of a matrix, light on dark or dark on light."""
    shares = image.get_array().filled(np.nan)
    if len(shares) > MOST_WRITTEN_ROWS:
        return
    for (row, column), share in np.ndenumerate(shares):
        if np.isnan(share):
            continue
        red, green, blue, _ = image.cmap(image.norm(share))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        color = "white" if dark else "black"
        text = f"{100 * share:.0f}"
        ax.text(column, row, text, ha="center", va="center", color=color, fontsize="small")
