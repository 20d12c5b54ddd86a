"""What the tests of the served pages share: a tab that is logged in, and the forklore program.

FORKLORE_URL is the server, FORKLORE_TOKEN a token that may write. If FORKLORE_PICTURES names a folder,
pictures are written there.
"""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

# A picture in a page of the documentation is scaled down to about this.
SIZE = {"width": 1080, "height": 680}
LARGEST = 100_000


@pytest.fixture
def url():
    """The address of the server."""
    return os.environ["FORKLORE_URL"]


@pytest.fixture
def log_in(url):
    """A function that logs a tab in."""

    def log(tab):
        answer = tab.request.post(url + "/login", data={"secret": os.environ["FORKLORE_TOKEN"]})
        assert answer.status == 204
        return tab

    return log


@pytest.fixture
def tab(page, log_in):
    """A tab that is logged in."""
    return log_in(page)


@pytest.fixture
def is_live():
    """A function that waits until a page follows the store."""
    return lambda tab: expect(tab.locator("body[data-following=yes]")).to_be_attached()


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
