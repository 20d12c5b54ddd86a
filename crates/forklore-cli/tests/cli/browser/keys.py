"""Uses the pages of `forklore serve` by keyboard only.

`long` is a session of more than one page, `plan-1` one with the branch `plan-2`. The variables are
those of conftest.py.
"""

import os
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
    found(tab, "q=message+150")
    press(tab, "Enter")
    # The page that Enter opens has not searched while somebody typed.
    expect(tab.locator("body:not([data-found])")).to_be_attached()
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


def found(tab, wanted):
    """Waits until the page shows what was searched for."""
    expect(tab.locator("body")).to_have_attribute("data-found", wanted)


def test_the_list_is_searched_and_filtered_as_one_types(tab, url):
    tab.goto(url + "/")
    press(tab, "/")
    tab.keyboard.type("message 150")
    found(tab, "q=message+150")
    expect(tab.locator("#fragment mark").first).to_have_text("message")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Search")
    assert tab.url.endswith("/?q=message+150")
    # The arrows lead to the first hit, and back.
    press(tab, "ArrowDown")
    expect(tab.locator("#fragment [data-open]").first).to_be_focused()
    press(tab, "ArrowUp")
    expect(tab.get_by_label("Search all sessions")).to_be_focused()
    press(tab, "Control+a", "Delete")
    found(tab, "")
    expect(tab.locator("#fragment [data-row]")).to_have_count(2)

    reach(tab, tab.get_by_label("Folder"))
    tab.keyboard.type("nowhere")
    found(tab, "workspace=nowhere")
    expect(tab.locator("#fragment [data-row]")).to_have_count(0)
    expect(tab.locator("#status")).to_have_text("Nothing was found")
    # What is filtered is found again by its address.
    tab.reload()
    expect(tab.get_by_label("Folder")).to_have_value("nowhere")
    reach(tab, tab.get_by_role("link", name="Show all"))
    press(tab, "Enter")
    tab.wait_for_url(url + "/")
    reach(tab, tab.get_by_label("Agent"))
    tab.keyboard.type("forklore")
    found(tab, "agent=forklore")
    expect(tab.locator("#fragment [data-row]")).to_have_count(2)
    expect(tab.locator("#status")).to_have_text("2 families")


def test_the_link_to_an_entry_is_copied(tab, url):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(url + "/s/long")
    press(tab, "j", "j", "y")
    expect(tab.locator("#status")).to_have_text("Copied")
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied == f"{url}/s/long?at={seq(tab)}#e-{seq(tab)}"
    words = tab.locator("article.is-current .text").inner_text()
    tab.goto(copied)
    expect(tab.locator("article.is-current .text")).to_have_text(words)


def test_a_part_of_an_id_leads_to_its_event(tab, url):
    headers = {"authorization": f"Bearer {os.environ['FORKLORE_TOKEN']}"}
    answer = tab.request.get(f"{url}/api/v1/sessions/long/events?seq=150", headers=headers)
    event = answer.json()["events"][0]
    assert event["data"]["content"] == "message 150"
    tab.goto(url + "/s/long")
    reach(tab, tab.get_by_role("textbox", name="Go to"))
    tab.keyboard.type(event["id"][-9:])
    press(tab, "Enter")
    tab.wait_for_url(re.compile(r"/s/long\?at=150#e-150$"))
    expect(tab.locator("article.is-current")).to_contain_text("message 150")
    expect(tab.locator("article.is-current")).to_be_in_viewport()


def test_several_branches_are_compared_as_runs(tab, url, axe, fits):
    tab.goto(url + "/s/plan-2?at=end")
    reach(tab, tab.get_by_role("link", name="Compare runs"))
    press(tab, "Enter")
    tab.wait_for_url(url + "/runs?of=plan-2")
    expect(tab.get_by_role("row", name="plan-b")).to_contain_text("In the other branch.")
    tab.goto(url + "/runs?s=plan-1&s=plan-2")
    expect(tab.get_by_role("row")).to_have_count(3)
    fits()
    axe()
    # The keys of the other pages lead from run to run.
    press(tab, "j", "j", "o")
    tab.wait_for_url(url + "/s/plan-2")


def reach(tab, target):
    """Presses Tab until an element has the focus."""
    for _ in range(60):
        if target.evaluate("one => one === document.activeElement"):
            return
        press(tab, "Tab")
    raise AssertionError(f"Tab does not reach {target}")
