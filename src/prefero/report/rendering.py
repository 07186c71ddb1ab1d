"""From what stands on a page to its text: templates, style, and how numbers are written."""

import base64
import hashlib
import platform
import re
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import numpy as np
import scipy
import sklearn

import prefero
from prefero._optional import require
from prefero.evaluation.table import number_text


def render(template: str, page: Any) -> str:
    """Return a page; what users named is escaped, only our own figures are not.

    Parameters
    ----------
    template : str
        The file of this room that lays it out.
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
    # The script stands between its tags with nothing around it: the browser runs what has this sum.
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
    """Return what a person needs to know to make the page again."""
    return {
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "Prefero": prefero.__version__,
        "scikit-learn": sklearn.__version__,
        "SciPy": scipy.__version__,
        "NumPy": np.__version__,
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "seed of the close look": str(random_state),
    }


def listed_importance(
    meaning: str, names: list[str], values: Any, most: int = 20
) -> tuple[str, list[tuple[str, float, float]]]:
    """Return what importance means, and by feature its value and the width of its bar."""
    largest = float(np.max(values, initial=0.0))
    order = np.argsort(-values, kind="stable")[:most]
    widths = np.clip(values / largest, 0, 1) if largest > 0 else np.zeros_like(values)
    return meaning, [(names[j], float(values[j]), float(widths[j])) for j in order]


def cell(value: Any) -> str:
    """Return a value of a table as text; real numbers with three digits that matter."""
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return "–"
    return number_text(number) if abs(number) < 1000 else f"{number:.4g}"
