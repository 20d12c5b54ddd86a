"""Takes pictures of the pages of `forklore serve`, in light and dark.

If FORKLORE_PICTURES names a folder, they are written there; otherwise the test checks only that the
pages show what the pictures are about. The sessions are those of the folder `demo`, and branches of the
first. The other variables are those of conftest.py.
"""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

MAIN = "01a1fff4-d592-70cf-b9b1-000000000001"
# A picture in a page of the documentation is scaled down to about this.
SIZE = {"width": 1080, "height": 680}
LARGEST = 100_000

pytestmark = pytest.mark.parametrize("width", [1080])


@pytest.fixture
def picture(tab, theme):
    """A function that takes a picture of the tab as it is now."""

    def take(name):
        # Nothing is marked because the pointer or the focus happens to be there.
        tab.mouse.move(0, 0)
        png = tab.screenshot(animations="disabled", caret="hide")
        assert len(png) < LARGEST, f"{name}: {len(png)} bytes"
        if folder := os.environ.get("FORKLORE_PICTURES"):
            Path(folder).mkdir(exist_ok=True)
            (Path(folder) / f"{name}-{theme}.png").write_bytes(png)

    tab.set_viewport_size(SIZE)
    return take


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
