"""Figures as SVG inside a page: on its background, in its ink, under names of their own."""

import io
import itertools
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import Any

from prefero._optional import require

# A colour that no display uses: it marks what takes the colour of the page's text.
_INK = "#010203"
_INKED = ("text.color", "axes.labelcolor", "axes.titlecolor", "axes.edgecolor")
_STYLE = {
    **dict.fromkeys((*_INKED, "xtick.color", "ytick.color"), _INK),
    "svg.fonttype": "none",
    "svg.hashsalt": "prefero",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.titlesize": "medium",
}
_UNWANTED = re.compile(r"<metadata>.*?</metadata>|<!--.*?-->|<defs>\s*</defs>", re.DOTALL)


class Figures:
    """Draws displays as SVG; no two of them share the name of an element."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def draw(
        self,
        display: Callable[[Any], Any],
        about: str,
        size: tuple[float, float] | None = None,
    ) -> str:
        """Return a display as SVG.

        Parameters
        ----------
        display : callable
            Makes and draws the display, on the axes that it is given.
        about : str
            What the figure shows, for those who do not see it.
        size : (float, float), optional
            Inches of the axes that the display is given; by default it is given None and takes
            a size of its own.

        Returns
        -------
        str
            The element, in which every text of the figure is escaped.
        """
        matplotlib = require("matplotlib", extra="plot", purpose="The page")
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="The page")
        file = io.StringIO()
        with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
            # A browser finds the letters that matplotlib's own font lacks.
            warnings.filterwarnings("ignore", message="Glyph")
            ax = None if size is None else pyplot.subplots(figsize=size, layout="constrained")[1]
            figure = display(ax).figure_
            try:
                figure.savefig(file, format="svg", metadata={"Date": None})
            finally:
                pyplot.close(figure)
        return _embedded(file.getvalue(), f"figure{next(self._numbers)}-", about)


def _embedded(svg: str, prefix: str, about: str) -> str:
    """Return the SVG element of a file, fit to stand in a page beside others."""
    svg = _UNWANTED.sub("", svg[svg.index("<svg") :])
    svg = re.sub(r' (xmlns(:xlink)?|version)="[^"]*"', "", svg)
    svg = svg.replace("xlink:href", "href").replace(_INK, "currentColor")
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg).replace("url(#", f"url(#{prefix}")
    svg = re.sub(r"font: ([^;\"']*?px) [^;\"]*", r"font: \1 system-ui, sans-serif", svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(about)}" ', 1)
