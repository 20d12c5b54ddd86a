"""Takes the files of a session back on the pages of `forklore serve --chat`.

`work` is a session of two turns in the folder FORKLORE_FOLDER. The first turn changed `retry.py` and
added `notes.md`, the second one changed `retry.py` again. The other variables are those of conftest.py.
"""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

WIDTHS = [320, 1280, 2560]
FILE = Path(os.environ["FORKLORE_FOLDER"]) / "retry.py"

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


@pytest.fixture
def neutral(tab):
    """A function that hides where the test runs."""
    script = """folder => {
      const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (all.nextNode()) all.currentNode.data = all.currentNode.data.replaceAll(folder, "/work/site");
    }"""
    return lambda: tab.evaluate(script, os.environ["FORKLORE_FOLDER"])


def to_first_turn(tab):
    """Opens the dialog at the second prompt, and goes to its preview."""
    second = tab.locator("article.user").nth(1)
    second.get_by_role("link", name=re.compile("^Rewind")).click()
    dialog = tab.get_by_role("dialog", name="Rewind")
    expect(dialog.get_by_role("radio", name="before this message")).to_be_checked()
    expect(dialog.get_by_role("radio", name="Conversation and files")).to_be_checked()
    return dialog


def test_the_files_of_a_turn(tab, url, fine, neutral, picture):
    tab.goto(url + "/s/work")
    badges = tab.locator("a.badge")
    expect(badges).to_have_text(["2 files changed", "1 file changed"])
    badges.first.click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Files")
    expect(tab.locator("ins").first).to_be_visible()
    neutral()
    picture("files")
    fine()
    tab.get_by_role("button", name="Compare with the folder now").click()
    expect(tab.get_by_role("heading", level=2)).to_contain_text("since then")
    fine()


def test_a_rewind_is_shown_done_and_undone(tab, url, fine, neutral, picture):
    before = FILE.read_text()
    tab.goto(url + "/s/work")
    dialog = to_first_turn(tab)
    fine()
    dialog.get_by_role("button", name="Show what would change").click()
    expect(dialog).to_contain_text("1 file would be written")
    expect(dialog.get_by_role("heading", level=1)).to_be_focused()
    dialog.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    fine()
    assert FILE.read_text() == before
    tab.set_viewport_size({"width": 1080, "height": 680})
    neutral()
    picture("rewind")
    dialog.get_by_role("button", name="Rewind").click()
    expect(tab.locator(".made")).to_contain_text("Rewound.")
    assert FILE.read_text() != before
    expect(tab.locator("article.user")).to_have_count(1)
    fine()
    tab.get_by_role("button", name="Undo").click()
    expect(tab.locator(".made")).to_contain_text("Undone.")
    assert FILE.read_text() == before
    assert tab.url.startswith(url + "/s/work?")


def test_a_rewind_by_keys(tab, url):
    before = FILE.read_text()
    tab.goto(url + "/s/work")
    press = tab.keyboard.press
    for key in ["j", "j", "j", "r"]:
        press(key)
    dialog = tab.get_by_role("dialog", name="Rewind")
    expect(dialog.get_by_role("radio").first).to_be_focused()
    press("Escape")
    expect(dialog).to_have_count(0)
    press("r")
    expect(dialog.get_by_role("radio").first).to_be_focused()
    press("Tab")
    expect(dialog.get_by_role("radio", name="Conversation and files")).to_be_focused()
    press("ArrowDown")
    press("Enter")
    expect(dialog).to_contain_text("1 file would be written")
    expect(dialog).not_to_contain_text("in a fork")
    while not dialog.get_by_role("button", name="Rewind").evaluate("it => it === document.activeElement"):
        press("Tab")
    press("Enter")
    expect(tab.locator(".made")).to_contain_text("Rewound.")
    assert FILE.read_text() != before
    undo = tab.get_by_role("button", name="Undo")
    undo.focus()
    press("Enter")
    expect(tab.locator(".made")).to_contain_text("Undone.")
    assert FILE.read_text() == before


def test_a_fork_gets_a_folder_by_keys(tab, url, fine):
    before = FILE.read_text()
    tab.goto(url + "/s/work")
    press = tab.keyboard.press
    for key in ["j", "j", "j", "f"]:
        press(key)
    dialog = tab.get_by_role("dialog", name="Fork")
    expect(dialog.get_by_role("radio").first).to_be_focused()
    fine()
    # Before the second message, with the files that the first turn left.
    press("ArrowDown")
    for field in [
        dialog.get_by_role("textbox", name="Label"),
        dialog.get_by_role("combobox", name="Go on in"),
        dialog.get_by_role("textbox", name="Folder"),
        dialog.get_by_role("checkbox", name="Make the folder"),
    ]:
        press("Tab")
        expect(field).to_be_focused()
    press("Space")
    press("Tab")
    press("Enter")
    made = tab.locator(".made")
    expect(made).to_contain_text("Its folder is")
    folder = Path(made.locator("code").first.inner_text())
    assert folder.parent == FILE.parent.with_name("site.worktrees")
    assert (folder / "notes.md").read_text() == (FILE.parent / "notes.md").read_text()
    assert (folder / "retry.py").read_text() != before
    assert FILE.read_text() == before
    fine()


def test_a_rewind_without_scripts(tab, url):
    before = FILE.read_text()
    state = tab.context.storage_state()
    context = tab.context.browser.new_context(java_script_enabled=False, storage_state=state)
    plain = context.new_page()
    plain.goto(url + "/s/work")
    plain.locator("article.user").nth(1).get_by_role("link", name=re.compile("^Rewind")).click()
    plain.get_by_role("button", name="Show what would change").click()
    expect(plain.locator("main")).to_contain_text("1 file would be written")
    plain.get_by_role("button", name="Rewind").click()
    assert FILE.read_text() != before
    plain.get_by_role("button", name="Undo").click()
    assert FILE.read_text() == before
    context.close()
