"""How the site is built: make docs."""

import os
import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

project = "Prefero"
author = "The Prefero developers"
copyright = f"2026, {author}"
version = release = installed("prefero")

extensions = [
    "_math",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["sg_execution_times.rst", "gallery/**/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3

autosummary_generate = False  # docs/_reference.py writes the pages
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"  # the list of methods has no room for their class
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "Prefero"
html_static_path = ["_static"]
html_css_files = ["prefero.css"]
html_js_files = ["prefero.js"]
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {"start": []}  # it has no pages below it
html_math_renderer = "mathml"
html_theme_options: dict[str, Any] = {
    "show_nav_level": 1,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "icon_links": [
        {
            "name": "Source",
            "url": "https://github.com/prefero/prefero",
            "icon": "fa-brands fa-github",
        }
    ],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_.*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),  # what a line returns is not for readers; what is printed is
    "remove_config_comments": True,
    "min_reported_time": 1e9,
}
os.environ.setdefault("OMP_NUM_THREADS", "1")


def setup(app: Any) -> None:
    """Write the reference before anything is read."""
    from _reference import write_reference

    write_reference()
    app.connect("doctree-read", _end_code_where_it_ends)


def _end_code_where_it_ends(app: Any, doctree: Any) -> None:
    """Take the empty line off examples, without which doctest would read on past them."""
    from docutils.nodes import Text, literal_block

    for block in doctree.findall(literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip()
            block.children = [Text(block.rawsource)]
