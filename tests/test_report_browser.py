"""The page in a real browser: quiet, alone, inside its window, and walked by keyboard."""

import numpy as np
import pytest

from browser import PROGRAM, Browser
from prefero import ConsensusLabelRanker, NeighborsLabelRanker
from prefero.datasets import load_dataset
from prefero.study import run_experiment, write_report

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    rankers = {"baseline": ConsensusLabelRanker(), "neighbours": NeighborsLabelRanker()}
    data = {name: load_dataset(name, as_frame=True) for name in ("iris", "wine")}
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_report(path, run_experiment(rankers, data, n_splits=2), data, rankers)
    return path.as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_quietly_and_fits_its_window(browser, address, width, scheme):
    browser.open(address, width=width, scheme=scheme)
    messages = "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"
    assert browser.named(*messages) == []
    asked = [event["request"]["url"] for event in browser.named("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:")] == [address]
    assert browser.value("document.documentElement.scrollWidth") <= width
    ground = browser.value("getComputedStyle(document.body).backgroundColor")
    brightness = np.mean([int(part) for part in ground[4:-1].split(",")])
    assert (brightness > 128) == (scheme == "light")


def test_every_link_and_everything_that_scrolls_is_reached_by_the_tab_key(browser, address):
    browser.open(address, width=390, scheme="light")
    browser.value("document.querySelectorAll('details').forEach(part => { part.open = true })")
    focusable = "a, summary, [tabindex='0']"
    count = browser.value(f'document.querySelectorAll("{focusable}").length')
    browser.value("window.reached = new Set()")
    for _ in range(count):
        browser.press("Tab")
        browser.value("reached.add(document.activeElement) && 0")
    missed = f'[...document.querySelectorAll("{focusable}")].filter(e => !reached.has(e)).length'
    assert browser.value(missed) == 0
