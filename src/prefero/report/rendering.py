"""From the content of a page to its text: templates, style, figures, numbers."""

import base64
import hashlib
import io
import itertools
import platform
import re
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
import scipy
import sklearn

import prefero
from prefero._optional import require
from prefero.evaluation.results import number_text


def render(template: str, page: Any) -> str:
    """Return a page; what users named is escaped; only our own figures are not.

    Parameters
    ----------
    template : str
        The template, a file of this package.
    page : object
        What the template shows.

    Returns
    -------
    str
        The text of the page.
    """
    jinja2 = require("jinja2", extra="study", purpose="The page")
    folder = files(__package__)
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
    )
    environment.filters["cell"] = cell
    environment.filters["breakable"] = _breakable
    style, *scripts = (
        folder.joinpath(name).read_text("utf-8") for name in ("page.css", "elements.js", "page.js")
    )
    script = "\n".join(scripts)
    # The browser runs only the script with this digest, so nothing may surround it in its tags.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shown = environment.get_template(template).render(
        page=page, style=style, script=script, digest=digest
    )
    return str(shown).lstrip()


def _breakable(text: Any) -> Any:
    """Return a name that may be broken between its words, not in the middle of one."""
    markupsafe = require("markupsafe", extra="study", purpose="The page")
    parts = re.split(r"(?<=[_./:-])(?=[^\W\d_])", str(text))
    return markupsafe.Markup("<wbr/>").join(parts)


def made(random_state: int) -> dict[str, str]:
    """Return versions and seed, to reproduce the page."""
    return {
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "Prefero": prefero.__version__,
        "scikit-learn": sklearn.__version__,
        "SciPy": scipy.__version__,
        "NumPy": np.__version__,
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "seed of the detailed part": str(random_state),
    }


def cell(value: Any) -> str:
    """Return a value of a table as text; real numbers with three digits that matter."""
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return "–"
    return number_text(number)


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
        self, display: Callable[[Any], Any], about: str, size: tuple[float, float] | None = None
    ) -> str:
        """Return a display as SVG.

        Parameters
        ----------
        display : callable
            Makes and draws the display, on the axes that it is given.
        about : str
            What the figure shows, as alternative text.
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
