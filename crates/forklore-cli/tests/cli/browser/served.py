"""Opens the pages of `forklore serve`: every page and dialog is accessible in light and dark, and fits
into every window; hostile text stays text.

FORKLORE_HOSTILE names the texts in the session `plan-1`, a JSON string in each line. `plan-2` is a
branch of it. The other variables are those of conftest.py.
"""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

TEXTS = [json.loads(line) for line in Path(os.environ["FORKLORE_HOSTILE"]).read_text().splitlines()]
PAGES = [
    "/",
    "/?q=branch",
    "/s/plan-1",
    "/s/plan-2?at=end",
    "/s/plan-2?at=end&forked=claude",
    "/s/plan-2/e/1",
    "/s/plan-2/fork?at=1",
    "/f/plan-1",
    "/compare/plan-1/plan-2",
    "/stats",
    "/stats?wait=1",
]
WIDTHS = [320, 1280, 2560]

pytestmark = pytest.mark.parametrize("width", [1280])


@pytest.fixture
def fine(page, axe, fits):
    """A function that checks the page as it is now, in each width."""

    def check():
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            fits()
            axe()

    return check


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_accessible_and_fits(tab, url, fine, path):
    tab.goto(url + path)
    fine()


def test_a_page_that_does_not_exist_says_so(tab, url, fine, problems):
    tab.goto(url + "/s/nobody")
    expect(tab.get_by_role("heading", level=1)).to_be_visible()
    fine()
    # A browser reports the status.
    assert all("404" in problem for problem in problems), problems
    problems.clear()


def test_the_dialogs_are_accessible_and_fit(tab, url, fine):
    tab.goto(url + "/s/plan-2?at=end")
    tab.keyboard.press("?")
    expect(tab.get_by_role("dialog", name="Keys")).to_be_visible()
    fine()
    tab.keyboard.press("Escape")
    tab.get_by_role("link", name="Fork", exact=True).first.click()
    expect(tab.get_by_role("dialog", name="Fork")).to_be_visible()
    fine()


def test_a_login_is_accessible_and_lets_in(page, url, fine, problems):
    page.goto(url + "/")
    fine()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type("fkl_wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("is not valid")
    page.keyboard.press("Control+a")
    page.keyboard.type(os.environ["FORKLORE_TOKEN"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    # A browser reports the status of what it may not see.
    assert all("401" in problem for problem in problems), problems
    problems.clear()


def test_hostile_text_stays_text(tab, url, requests):
    for path in ["/s/plan-1", "/compare/plan-1/plan-2", "/f/plan-2", "/", "/?q=branch"]:
        tab.goto(url + path)
        tab.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        assert tab.evaluate("document.documentElement.dataset.ran") is None
    tab.goto(url + "/s/plan-1")
    for text in TEXTS:
        assert text in tab.locator("main").evaluate("main => main.textContent")
    assert all(request.startswith(url) for request in requests), requests
