"""Uses the pages of `forklore serve` by keyboard only.

`long` is a session of more than one page, `plan-1` one with the branch `plan-2`. The variables are
those of conftest.py.
"""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [
    pytest.mark.parametrize("width", [1280]),
    pytest.mark.parametrize("theme", ["light"]),
]


def press(tab, *keys):
    for key in keys:
        tab.keyboard.press(key)


def seq(tab):
    """The number of the current entry of the reader."""
    return int(tab.locator("article.is-current").get_attribute("data-seq"))


def test_the_reader_moves_by_keys(tab, url):
    tab.goto(url + "/s/long")
    press(tab, "j")
    first = seq(tab)
    press(tab, "j", "j")
    assert seq(tab) == first + 2
    expect(tab.locator("article.is-current a.seq")).to_be_focused()
    expect(tab.locator("article.is-current")).to_be_in_viewport()
    press(tab, "k")
    assert seq(tab) == first + 1


def test_the_reader_turns_pages_by_keys(tab, url):
    tab.goto(url + "/s/long")
    press(tab, "n")
    tab.wait_for_url(re.compile(r"\?from=\d+$"))
    press(tab, "N")
    tab.wait_for_url(re.compile(r"\?before=\d+$"))
    press(tab, "G")
    tab.wait_for_url(re.compile(r"\?at=end$"))
    expect(tab.get_by_text("message 199", exact=True)).to_be_visible()
    press(tab, "g")
    tab.wait_for_url(url + "/s/long")
    press(tab, "t")
    tab.wait_for_url(url + "/f/long")
    press(tab, "u")
    tab.wait_for_url(url + "/")


def test_the_help_opens_and_closes(tab, url):
    tab.goto(url + "/s/long")
    press(tab, "?")
    expect(tab.get_by_role("dialog", name="Keys")).to_be_visible()
    # Keys of the page do nothing while a dialog is open.
    press(tab, "u", "Escape")
    expect(tab.get_by_role("dialog")).to_have_count(0)
    assert tab.url == url + "/s/long"


def test_a_search_by_keys_opens_what_it_finds(tab, url):
    tab.goto(url + "/")
    press(tab, "/")
    expect(tab.get_by_label("Search all sessions")).to_be_focused()
    tab.keyboard.type("message 150")
    press(tab, "Enter")
    tab.wait_for_url(re.compile(r"\?q=message"))
    expect(tab.get_by_text("message 150").first).to_be_visible()
    press(tab, "j", "Enter")
    tab.wait_for_url(re.compile(r"/s/long\?"))
    expect(tab.locator("article.at, article:target").first).to_be_in_viewport()


def test_the_list_opens_a_session_by_keys(tab, url):
    tab.goto(url + "/")
    press(tab, "j", "o")
    tab.wait_for_url(re.compile(r"/s/[a-z]"))


def test_a_fork_is_made_by_keys(tab, url):
    tab.goto(url + "/s/long")
    press(tab, "j", "j", "f")
    dialog = tab.get_by_role("dialog", name="Fork")
    expect(dialog).to_be_visible()
    press(tab, "Escape")
    expect(dialog).to_have_count(0)
    # The focus is back where it was.
    expect(tab.locator("article.is-current")).to_contain_text("message 1")
    press(tab, "f")
    expect(dialog.get_by_role("radio").first).to_be_focused()
    press(tab, "ArrowDown", "Tab")
    expect(dialog.get_by_label("Label")).to_be_focused()
    tab.keyboard.type("by-keys")
    press(tab, "Enter")
    made = tab.get_by_role("status").filter(has_text="by-keys")
    expect(made).to_be_visible()
    expect(tab.locator("#command")).to_contain_text("resume")
    # Before the second message.
    expect(tab.locator("#fragment")).to_contain_text("message 0")
    expect(tab.locator("#fragment")).not_to_contain_text("message 1")


def test_two_branches_are_compared_by_keys(tab, url):
    tab.goto(url + "/f/plan-1")
    press(tab, "j", "x")
    expect(tab.get_by_role("checkbox", checked=True)).to_have_count(1)
    press(tab, "j", "x")
    tab.wait_for_url(url + "/compare/plan-1/plan-2")
    expect(tab.get_by_text("In the other branch.")).to_be_visible()


def test_two_branches_are_chosen_with_tab_and_space(tab, url):
    tab.goto(url + "/f/plan-1")
    boxes = tab.get_by_role("checkbox")
    reach(tab, boxes.nth(0))
    press(tab, "Space")
    # A box takes no text, so the keys of the page work on it.
    press(tab, "j")
    reach(tab, boxes.nth(1))
    press(tab, "Space")
    reach(tab, tab.get_by_role("button", name="Compare the chosen"))
    press(tab, "Enter")
    tab.wait_for_url(url + "/compare/plan-1/plan-2")


def reach(tab, target):
    """Presses Tab until an element has the focus."""
    for _ in range(60):
        if target.evaluate("one => one === document.activeElement"):
            return
        press(tab, "Tab")
    raise AssertionError(f"Tab does not reach {target}")
