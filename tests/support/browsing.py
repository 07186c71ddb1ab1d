"""A real browser without a window, and what the eye would find wrong in it."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
AXE = Path(__file__).parents[2] / "tools" / "node_modules" / "axe-core" / "axe.min.js"
_LOOKS = Path(__file__).with_name("browsing.js").read_text("utf-8")
# Where nothing may be skipped.
_REQUIRED = os.environ.get("PREFERO_BROWSER") == "required"


def missing(reason):
    """Skip what needs a browser where there is none; fail where it is required."""
    if _REQUIRED:
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def browser():
    """Yield a browser."""
    if PROGRAM is None:
        missing("chromium is not installed (bash tools/install-browser.sh)")
    with sync_playwright() as running:
        # A container's root may not have a sandbox.
        started = running.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def opened(browser, address, width=1280, scheme="light", **options):
    """Yield a page in a window of some width, light or dark, with what it says and fetches."""
    viewport = {"width": width, "height": 900}
    with browser.new_context(viewport=viewport, color_scheme=scheme, **options) as context:
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(address)
        yield page


def faults(page):
    """What a reader would see: words cut or broken, text too pale, a page wider than its window."""
    return page.evaluate(f"({_LOOKS})()")


def serious_faults(page):
    """What axe-core calls serious or critical; the page's policy must have been bypassed."""
    if not AXE.exists():
        missing("axe-core is not installed (bash tools/install-browser.sh)")
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def open_all(page):
    """Open whatever is folded."""
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")


def walk(page, presses):
    """Press Tab so often; return what was reached, and what was reached without being marked."""
    page.evaluate("document.body.focus(); window.reached = new Set(); window.unmarked = []")
    for _ in range(presses):
        page.keyboard.press("Tab")
        page.evaluate(
            """() => {
              const here = document.activeElement;
              reached.add(here);
              const look = getComputedStyle(here);
              const seen = look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2;
              if (here !== document.body && !seen) unmarked.push(here.outerHTML.slice(0, 120));
            }"""
        )
    return page.evaluate(
        """() => [
          [...document.querySelectorAll(
            "a, button:not(:disabled), input, select, textarea, summary, [tabindex='0']")]
            .filter((one) => one.checkVisibility() && !reached.has(one))
            .map((one) => one.outerHTML.slice(0, 120)),
          unmarked]"""
    )


CROPS = (
    "winter_wheat durum_wheat spring-barley rye oats early_potatoes cherry-tomatoes_of_the_south "
    "sugar_beet sunflowers grain_maize silage_maize winter_rapeseed field_beans peas lupins "
    "buckwheat triticale sorghum millet linseed hemp spelt emmer"
).split()
