"""Opens the page that `forklore export --to html` wrote, from its file.

FORKLORE_PAGE is the path of the page, FORKLORE_HOSTILE that of the texts in it, a JSON string in
each line. The fixtures are those of dev/browser.
"""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

PAGE = Path(os.environ["FORKLORE_PAGE"])
TEXTS = [json.loads(line) for line in Path(os.environ["FORKLORE_HOSTILE"]).read_text().splitlines()]


@pytest.fixture
def unfolded(page):
    """The page, with every folded block open."""
    page.goto(PAGE.as_uri())
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    return page


def test_it_is_accessible(unfolded, axe):
    axe()


def test_it_fits_into_a_narrow_window(unfolded, fits):
    fits()


def test_hostile_text_is_shown_and_nothing_else_happens(unfolded, requests):
    expect(unfolded).to_have_title(TEXTS[0])
    expect(unfolded.get_by_role("heading", level=1)).to_have_text(TEXTS[0])
    for index, text in enumerate(TEXTS):
        expect(unfolded.locator(".user .text").nth(index)).to_have_text(text)
        expect(unfolded.locator(".user .text").nth(index)).to_be_visible()
    elements = "script, img, svg, iframe, object, embed, form, input, base, link"
    expect(unfolded.locator(elements)).to_have_count(0)
    assert unfolded.evaluate("document.documentElement.dataset.ran") is None
    assert requests == [PAGE.as_uri()]


def test_a_link_leads_to_its_message(page):
    page.goto(PAGE.as_uri())
    link = page.locator("h3 > a").last
    link.click()
    assert page.evaluate("location.hash") == link.get_attribute("href")
    expect(page.locator("article:target")).to_be_in_viewport()


def test_a_folded_block_opens(page):
    page.goto(PAGE.as_uri())
    call = page.locator("details.call").first
    expect(call.locator("pre").first).to_be_hidden()
    call.locator("summary").click()
    expect(call.locator("pre").first).to_be_visible()
