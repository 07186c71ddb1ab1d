"""The page of a comparison in a real browser: quiet, alone, read by eye, keyboard and tools."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import browsing
from browsing import CROPS
from prefero import ConsensusLabelRanker, ForestLabelRanker, TreeLabelRanker
from prefero.evaluation import run_experiment
from prefero.rankings import ranks_from_scores
from prefero.report import write_report

RANKERS = {
    "the same order for everyone": ConsensusLabelRanker(),
    "forest_of_twenty_trees": ForestLabelRanker(n_estimators=5, random_state=0),
    "tree": TreeLabelRanker(),
}


def problem(n_labels, n=40, costs=False):
    """Labels with long names that begin alike, some not ranked, some tied."""
    rng = np.random.default_rng(n_labels)
    names = ["rain_in_spring_months", "mean_temperature", "soil_ph", "nitrogen_fertiliser_kg_ha"]
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=names)
    scores = X.to_numpy() @ rng.normal(size=(4, n_labels)) + rng.normal(size=(n, n_labels)) + 40
    ranks = ranks_from_scores(np.round(scores), higher_is_better=True)
    ranks[::7, 0] = np.nan
    Y = pd.DataFrame(ranks, columns=[f"mean_yield_of_{name}" for name in CROPS[:n_labels]])
    if not costs:
        return X, Y
    return X, Y, scores, {"score": scores, "cost": rng.lognormal(size=(n, n_labels))}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """A page of 3 labels and two data sets, and one of 23 labels with costs."""
    if browsing.PROGRAM is None:
        browsing.missing("chromium is not installed (bash tools/install-browser.sh)")
    folder = tmp_path_factory.mktemp("pages")
    small = {"fields_of_the_north": problem(3), "south": problem(3, n=30)}
    data = {"small": small, "large": {"fields": problem(23, costs=True)}}
    for name, sets in data.items():
        results = run_experiment(RANKERS, sets, n_splits=2)
        write_report(folder / f"{name}.html", results, sets, RANKERS, command="prefero compare")
    return {name: (folder / f"{name}.html").as_uri() for name in data}


@pytest.fixture(scope="module")
def browser():
    with browsing.browser() as started:
        yield started


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("<p style='width: 900px'>word</p>", "the page scrolls sideways"),
        ("<p style='color: #aaa'>word</p>", "pale (2.3): word"),
        ("<table style='width: 2em; table-layout: fixed'><tr><td style='overflow-wrap: anywhere'>"
         "word</table>", "broken: word in TD "),
        ("<table style='width: 1em; table-layout: fixed'><tr><td>word</table>",
         "wider than its place: word in TD "),
        ("<p style='width: 2em; overflow: hidden; white-space: nowrap'>two words</p>", "cut: <p"),
    ],
)  # fmt: skip
def test_what_the_eye_would_see_is_found(browser, body, told):
    with browsing.opened(browser, "about:blank", 390) as page:
        page.set_content(f"<body style='margin: 0'>{body}")
        assert any(fault.startswith(told) for fault in browsing.faults(page))


@pytest.mark.parametrize("name", ["small", "large"])
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (390, "light"), (1280, "light")])
def test_it_opens_quietly_and_reads_well(browser, addresses, name, width, scheme):
    with browsing.opened(browser, addresses[name], width, scheme) as page:
        assert page.said == []
        assert [url for url in page.asked if not url.startswith("data:")] == [addresses[name]]
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = np.mean([int(part) for part in re.findall(r"\d+", ground)[:3]])
        assert (brightness > 128) == (scheme == "light")
        browsing.open_all(page)
        assert browsing.faults(page) == []


@pytest.mark.parametrize(
    ("name", "width", "scheme"), [("small", 1280, "light"), ("large", 390, "dark")]
)
def test_axe_core_finds_nothing_serious(browser, addresses, name, width, scheme):
    with browsing.opened(browser, addresses[name], width, scheme, bypass_csp=True) as page:
        assert browsing.serious_faults(page) == []


def test_the_script_runs_under_the_policy_of_the_page_and_no_other_does(browser, addresses):
    with browsing.opened(browser, addresses["small"]) as page:
        assert page.locator("#picked h3").inner_text().startswith("Row ")
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'),"
            " { textContent: 'window.intruded = true' }))"
        )
        assert page.evaluate("window.intruded") is None


def test_everything_is_reached_by_the_tab_key_and_seen_to_be(browser, addresses):
    with browsing.opened(browser, addresses["small"], 390) as page:
        browsing.open_all(page)
        missed, unmarked = browsing.walk(page, 60)
        assert missed == []
        assert unmarked == []


def test_the_leaderboard_is_sorted_by_a_click_and_back(browser, addresses):
    with browsing.opened(browser, addresses["large"]) as page:
        names = lambda: page.locator("#board tbody th").all_inner_texts()  # noqa: E731
        first = names()
        head = page.locator("#board thead th", has_text="tau")
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        values = page.locator("#board tbody td[data-title='tau']").evaluate_all(
            "cells => cells.map(cell => Number(cell.dataset.value))"
        )
        assert values == sorted(values)
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        assert names() == first


def test_rows_are_picked_and_shown_as_the_data_are(browser, addresses):
    with browsing.opened(browser, addresses["large"]) as page:
        data = json.loads(page.locator("#rows-data").text_content())
        page.get_by_role("button", name="Worst").click()
        assert page.locator("#earlier").is_disabled()
        shown = page.locator("#picked")
        for place in (0, 1):
            row = data["rows"][place]
            assert shown.locator("h3").inner_text() == f"Row {row['name']}"
            lines = shown.locator(".places tbody tr")
            items = [re.sub(r"\u200b", "", text) for text in lines.locator("th").all_inner_texts()]
            order = np.argsort(row["predicted"], kind="stable")
            assert items == [data["items"][i] for i in order]
            known = [row["true"][i] is not None for i in order]
            marked = lines.evaluate_all("rows => rows.map(row => !!row.querySelector('.track'))")
            assert marked == known
            page.locator("#later").press("Enter")
        page.locator("#pick").select_option(str(len(data["rows"]) - 1))
        assert shown.locator("h3").inner_text() == f"Row {data['rows'][-1]['name']}"
        assert page.locator("#later").is_disabled()


def test_without_a_script_the_findings_are_still_there(browser, addresses):
    with browsing.opened(browser, addresses["small"], 390, java_script_enabled=False) as page:
        assert page.locator("#board tbody tr").count() == 3
        assert page.locator("noscript p").bounding_box() is not None
        assert not page.locator("#picker").is_visible()


def test_on_paper_it_is_black_on_white_without_controls(browser, addresses):
    with browsing.opened(browser, addresses["small"], 800, "dark") as page:
        page.emulate_media(media="print")
        ground = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        assert not page.locator("nav").is_visible()
        assert not page.locator(".controls").is_visible()
        assert page.locator("#picked h3").is_visible()
        assert browsing.faults(page) == []
