"""Look at the built site in a browser: pictures in build/look, and what is wrong with its pages.

::

    make docs look
    python tools/look_at_site.py index.html trees.html

Chromium and axe-core must be there (tools/install-browser.sh). Exit code 1: axe-core finds a
serious fault, a page is wider than its window, says something in the console, or asks for
anything from elsewhere.
"""

import sys
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browsing import browser, opened, serious_faults  # noqa: E402

SITE = ROOT / "build" / "docs" / "html"
LOOK = ROOT / "build" / "look"
PAGES = (
    "index.html",
    "start.html",
    "choosing.html",
    "data.html",
    "trees.html",
    "cli.html",
    "uncertainty.html",
    "promises.html",
    "coming-from.html",
    "gallery/index.html",
    "gallery/plot_1_routing.html",
    "results/index.html",
    "results/real-ten.html",
    "reference/index.html",
    "reference/label_ranking.html",
    "reference/names/prefero.label_ranking.ForestLabelRanker.html",
    "reference/commands.html",
)


def main() -> None:
    """Look at each page in four windows."""
    LOOK.mkdir(parents=True, exist_ok=True)
    pages = sys.argv[1:] or PAGES
    wrong = []
    with browser() as started:
        for name, width, scheme in product(pages, (390, 1280), ("light", "dark")):
            address = (SITE / name).as_uri()
            with opened(started, address, width, scheme, bypass_csp=True) as page:
                seen = f"{name} ({width} pixels, {scheme})"
                page.screenshot(path=LOOK / f"{name.replace('/', '-')[:-5]}-{width}-{scheme}.png")
                wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                wrong += [f"{seen}: {wide} pixels wider than its window"] * (wide > 0)
                wrong += [f"{seen}: asks for {url}" for url in page.asked if "file://" not in url]
                wrong += [
                    f"{seen}: {word}"
                    for word in page.said
                    if "theme" not in word and "[PST]" not in word
                ]
                wrong += [f"{seen}: {fault}" for fault in serious_faults(page)]
    print(*wrong or [f"{len(pages)} pages, nothing wrong; pictures in {LOOK}."], sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
