"""The page of the service in a real browser: sliders, two labels, a table, keyboard and eye."""

import socket
import threading
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import uvicorn
from playwright.sync_api import expect

import browsing
from browsing import CROPS
from prefero import ForestLabelRanker, PairwiseLabelRanker
from prefero.cli.models import behind_columns
from prefero.rankings import ranks_from_scores
from prefero.serve import create_app


def problem(n_labels, n=60):
    """Labels that one number orders, the other features do little."""
    rng = np.random.default_rng(0)
    names = ["rain_in_spring_months", "mean_temperature", "nitrogen_fertiliser_kg_ha"]
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=names)
    scores = np.outer(X["mean_temperature"], np.linspace(-3, 3, n_labels))
    scores += 0.5 * rng.normal(size=scores.shape)
    ranks = ranks_from_scores(scores, higher_is_better=True)
    return X, pd.DataFrame(ranks, columns=[f"yield_of_{name}" for name in CROPS[:n_labels]])


@pytest.fixture(scope="module")
def models():
    X, Y = problem(3)
    small = ForestLabelRanker(n_estimators=10, random_state=0).fit(X, Y)
    X, Y = problem(23)
    X["soil"] = pd.Series(
        np.resize(["sand", "clay & loam", "peat of the fens"], len(X)), dtype=object
    )
    return {"small": small, "large": behind_columns(PairwiseLabelRanker(), X).fit(X, Y)}


@contextmanager
def serving(app):
    """The address of an application that answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def address(models):
    if browsing.PROGRAM is None:
        browsing.missing("chromium is not installed (bash tools/install-browser.sh)")
    with serving(create_app(models)) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with browsing.browser() as started:
        yield started


@contextmanager
def shown(browser, address, model="small", **options):
    """The page after the first answer of a model."""
    with browsing.opened(browser, address, **options) as page:
        page.locator("#bars button").first.wait_for()
        if page.locator("#model").input_value() != model:
            with page.expect_response("**/rank"):
                page.locator("#model").select_option(model)
        labels = {"small": 3, "large": 23}[model]
        expect(page.locator("#bars button")).to_have_count(labels)
        yield page


def order(page):
    return page.locator("#bars button").evaluate_all("all => all.map(one => one.dataset.label)")


@pytest.mark.parametrize("model", ["small", "large"])
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_it_opens_quietly_and_reads_well(browser, address, model, width, scheme):
    with shown(browser, address, model, width=width, scheme=scheme) as page:
        bars = page.locator("#bars button")
        bars.nth(2).click()
        with page.expect_response("**/rank"):
            bars.nth(0).click()
        page.locator("#effects tbody tr").first.wait_for()
        browsing.open_all(page)
        assert page.said == []
        assert all(url.startswith((address, "data:")) for url in page.asked)
        assert browsing.faults(page) == []


@pytest.mark.parametrize(
    ("model", "width", "scheme"), [("small", 390, "dark"), ("large", 1280, "light")]
)
def test_axe_core_finds_nothing_serious(browser, address, model, width, scheme):
    with shown(browser, address, model, width=width, scheme=scheme, bypass_csp=True) as page:
        assert browsing.serious_faults(page) == []


def test_the_page_says_what_the_model_says(browser, address, models):
    with shown(browser, address) as page:
        example = page.evaluate("state.model.example")
        X = pd.DataFrame([example])
        assert order(page) == models["small"].predict_order(X)[0].tolist()
        written = page.locator("#bars .name span:first-child").all_inner_texts()
        expected = [name.removeprefix("yield_of_") for name in order(page)]
        assert [text.split(". ")[1] for text in written] == expected


def test_moving_a_slider_redraws_the_ranking(browser, address, models):
    with shown(browser, address) as page:
        slider = page.get_by_label("mean_temperature, slider")
        slider.focus()
        for key, end in (("Home", "low"), ("End", "high")):
            with page.expect_response("**/rank"):
                slider.press(key)
            feature = page.evaluate("state.model.features.find(f => f.name === 'mean_temperature')")
            value = float(page.get_by_label("mean_temperature", exact=True).input_value())
            assert value == pytest.approx(feature[end], rel=1e-3)
            X = pd.DataFrame([page.evaluate("instance()")])
            expected = models["small"].predict_order(X)[0].tolist()
            expect(page.locator("#bars button").first).to_have_attribute("data-label", expected[0])
            assert order(page) == expected
        with page.expect_response("**/rank"):
            page.get_by_role("button", name="Back to the example").click()


def test_two_labels_are_explained_by_keyboard_the_first_of_them_first(browser, address):
    with shown(browser, address, "large") as page:
        names = order(page)
        page.locator("#bars button").nth(4).press("Enter")
        assert "Choose a second label" in page.locator("#why-summary").inner_text()
        with page.expect_response("**/rank") as answer:
            page.locator("#bars button").nth(1).press(" ")
        page.locator("#effects tbody tr").first.wait_for()
        told = answer.value.json()["results"][0]
        first, second = (names[i].removeprefix("yield_of_") for i in (1, 4))
        summary = page.locator("#why-summary").inner_text()
        assert summary.startswith(f"Why {first} is put before {second} (probability ")
        assert float(summary.split()[-1].rstrip(").")) >= 0.5
        assert told["explanation"]["pair"] == [names[4], names[1]]
        # The focus stays on the label that was chosen.
        assert page.evaluate("document.activeElement.dataset.label") == names[1]
        strongest = page.locator("#effects tbody th").first.inner_text()
        assert strongest.startswith(told["explanation"]["effects"][0]["feature"] + " = ")


def test_a_dropped_table_is_ranked(browser, address, models):
    X, _ = problem(3, n=5)
    with shown(browser, address) as page:
        page.evaluate(
            """text => {
              const dropped = new DataTransfer();
              dropped.items.add(new File([text], "fields.csv", { type: "text/csv" }));
              document.getElementById("drop").dispatchEvent(
                new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
            }""",
            X.to_csv(index=False),
        )
        page.locator("#table tbody tr").first.wait_for()
        assert "5 rows are ranked" in page.locator("#table-status").inner_text()
        assert page.get_by_text("Save the answer").get_attribute("download") == "fields-ranked.csv"
        first = page.locator("#table tbody tr").first.inner_text()
        assert models["small"].predict_order(X)[0, 0] in first


def test_a_wrong_table_is_answered_by_a_sentence(browser, address):
    with shown(browser, address) as page:
        file = {"name": "x.csv", "mimeType": "text/csv", "buffer": b"soil\n1\n"}
        with page.expect_response("**/rank.csv*"):
            page.locator("#file").set_input_files(file)
        expect(page.locator("#table-status")).to_contain_text("rain_in_spring_months")


def test_everything_is_reached_by_the_tab_key_and_seen_to_be(browser, address):
    with shown(browser, address, width=390) as page:
        browsing.open_all(page)
        missed, unmarked = browsing.walk(page, 25)
        assert missed == []
        assert unmarked == []
