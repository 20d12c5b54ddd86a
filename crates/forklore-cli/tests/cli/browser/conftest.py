"""What the tests of the served pages share: a tab that is logged in, and the forklore program.

FORKLORE_URL is the server, FORKLORE_TOKEN a token that may write.
"""

import os

import pytest
from playwright.sync_api import expect


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
