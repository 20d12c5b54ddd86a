"""What a new user does with an imported session of Claude, by keyboard only: finds the branch that was
abandoned, compares it with the one that was kept, forks it at a message, and goes on in Codex with the
command that the page shows.

FORKLORE_PROGRAM is the program, FORKLORE_HOME its home. The other variables are those of conftest.py.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

HOME = Path(os.environ["FORKLORE_HOME"])
# A message of the abandoned branch, and the one after it.
LAST = "retry socket beacon schema schema probe probe index token vector token socket cache tide"
LATER = "probe lease token index patch index branch ledger cursor cursor"

pytestmark = [
    pytest.mark.parametrize("width", [1280]),
    pytest.mark.parametrize("theme", ["light"]),
]


def reach(tab, target):
    """Presses Tab until an element has the focus."""
    for _ in range(80):
        if target.evaluate("one => one === document.activeElement"):
            return
        tab.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {target}")


def abandoned_from_the_list(tab, url):
    """Opens the abandoned branch: the list says how many a family has, and which they are."""
    tab.goto(url + "/")
    tab.keyboard.press("j")
    expect(tab.locator(".row").first).to_contain_text("kept")
    expect(tab.locator(".row summary").first).to_contain_text("2 abandoned")
    reach(tab, tab.locator(".row summary").first)
    tab.keyboard.press("Enter")
    branch = tab.locator(".family li").filter(has=tab.get_by_role("link", name="main"))
    expect(branch).to_contain_text("abandoned")
    reach(tab, branch.get_by_role("link"))
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile(r"/s/"))


def forked(tab):
    """Forks at the message, to go on in Codex. Returns the command that the page shows."""
    current = tab.locator("article.is-current")
    for _ in range(30):
        tab.keyboard.press("j")
        if LAST in current.inner_text():
            break
    tab.keyboard.press("f")
    dialog = tab.get_by_role("dialog", name="Fork")
    expect(dialog.get_by_role("radio", checked=True)).to_be_focused()
    tab.keyboard.press("Tab")
    tab.keyboard.type("once-more")
    tab.keyboard.press("Tab")
    expect(dialog.get_by_label("Go on in")).to_be_focused()
    tab.keyboard.type("codex")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    made = tab.get_by_role("status").filter(has_text="once-more")
    expect(made).to_contain_text("writes the fork as a session of codex")
    copy = made.get_by_role("button", name="Copy")
    reach(tab, copy)
    tab.keyboard.press("Enter")
    expect(made.get_by_role("button", name="Copied")).to_be_visible()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied == tab.locator("#command").inner_text()
    return copied


def run(command, folder):
    """Runs a command as in a terminal in which the program is found by its name."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "forklore").symlink_to(os.environ["FORKLORE_PROGRAM"])
    variables = {"HOME": str(HOME), "PATH": f"{programs}:/usr/bin:/bin", "TZ": "UTC"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done
    return done.stdout


def test_an_abandoned_branch_goes_on_in_another_agent(tab, url, axe, tmp_path):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    abandoned_from_the_list(tab, url)
    branch = tab.url
    expect(tab.locator(".fate")).to_contain_text("left this branch")
    axe()
    tab.keyboard.press("c")
    tab.wait_for_url(re.compile(r"/compare/"))
    badges = tab.locator("h2 .badge")
    expect(badges).to_have_text(["kept", "abandoned"])
    expect(tab.get_by_text(LATER)).to_be_visible()
    axe()
    reach(tab, tab.get_by_role("heading", level=2).get_by_role("link", name="main"))
    tab.keyboard.press("Enter")
    tab.wait_for_url(branch)

    command = forked(tab)
    assert not list(HOME.glob(".codex/sessions/**/*.jsonl"))
    printed = run(command, tmp_path)
    [file] = HOME.glob(".codex/sessions/**/rollout-*.jsonl")
    records = [json.loads(line) for line in file.read_text().splitlines()]
    start = records[0]["payload"]["id"]
    assert f"codex resume {start}" in printed
    text = file.read_text()
    assert LAST in text
    assert LATER not in text


def test_search_says_which_hits_are_in_an_abandoned_branch(tab, url):
    tab.goto(url + "/")
    tab.keyboard.press("/")
    tab.keyboard.type("beacon shard render tide index ledger")
    hit = tab.locator("#fragment .row").filter(has_text="beacon shard render tide")
    expect(hit.first).to_contain_text("abandoned")


def test_the_family_says_what_became_of_each_branch(tab, url, axe):
    tab.goto(url + "/")
    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    tab.wait_for_url(re.compile(r"/s/"))
    # Where the history divides, the other branch is named with what became of it.
    expect(tab.locator(".turning .badge").first).to_have_text("abandoned")
    tab.keyboard.press("t")
    tab.wait_for_url(re.compile(r"/f/"))
    words = tab.locator("[data-branch] .badge").all_inner_texts()
    assert sorted(words)[:3] == ["abandoned", "abandoned", "kept"]
    axe()
