"""Takes pictures of the pages of `forklore serve`, in light and dark.

They are written where conftest.py says; the tests check that the pages show what the pictures are about.
The sessions are those of the folder `demo`, and branches of the first.
"""

import pytest
from playwright.sync_api import expect

MAIN = "01a1fff4-d592-70cf-b9b1-000000000001"

pytestmark = pytest.mark.parametrize("width", [1080])


def test_sessions(tab, url, picture):
    tab.goto(url + "/")
    expect(tab.locator(".row")).to_have_count(7)
    picture("sessions")


def test_reader(tab, url, picture):
    tab.goto(f"{url}/s/{MAIN}?from=7")
    expect(tab.get_by_text("The history divides here").first).to_be_visible()
    tab.locator("details.call").first.evaluate("call => call.open = true")
    picture("reader")


def test_family(tab, url, picture):
    tab.goto(f"{url}/f/{MAIN}")
    expect(tab.locator("[data-branch]")).to_have_count(6)
    picture("family")


def test_fork(tab, url, picture):
    tab.goto(f"{url}/s/{MAIN}?from=7")
    tab.locator("article.user").first.get_by_role("link", name="Fork").click()
    dialog = tab.get_by_role("dialog", name="Fork")
    dialog.get_by_label("Label").fill("plan-b")
    dialog.get_by_label("Label").blur()
    picture("fork")


def test_compare(tab, url, picture):
    tab.goto(f"{url}/f/{MAIN}")
    tab.keyboard.press("j")
    for label in ["main", "token-bucket"]:
        tab.get_by_role("checkbox", name=f"Choose {label} to compare").check()
    tab.get_by_role("button", name="Compare the chosen").click()
    expect(tab.get_by_role("heading", name="Compare")).to_be_visible()
    picture("compare")


def test_stats(tab, url, picture):
    tab.goto(url + "/stats?wait=1")
    expect(tab.locator(".totals")).to_be_visible()
    picture("stats")
