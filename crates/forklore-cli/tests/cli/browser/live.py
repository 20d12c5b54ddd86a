"""Two browsers and a terminal work on one family, and see what the others do.

FORKLORE_PROGRAM is the program, FORKLORE_HOME its home. The other variables are those of conftest.py.
The delays are printed; they depend on the machine.
"""

import os
import subprocess
import time

import pytest
from playwright.sync_api import expect

pytestmark = [
    pytest.mark.parametrize("width", [1280]),
    pytest.mark.parametrize("theme", ["dark"]),
]

# Waits for a text, and returns the time at which it appeared.
SEEN = """text => {
    window.seen = new Promise(done => {
        const look = () => document.body.textContent.includes(text) && done(Date.now());
        new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
        look();
    });
}"""


@pytest.fixture
def terminal():
    """A function that runs the program as another process, and returns what it prints."""
    variables = {"HOME": os.environ["FORKLORE_HOME"], "TZ": "UTC"}

    def run(*words):
        command = [os.environ["FORKLORE_PROGRAM"], *words]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        return done.stdout

    return run


@pytest.fixture
def other(browser, log_in):
    """A tab of another browser."""
    context = browser.new_context()
    yield log_in(context.new_page())
    context.close()


@pytest.fixture
def append(url):
    """A function that appends a message over the API."""

    def send(tab, session, text):
        answer = tab.request.post(
            f"{url}/api/v1/sessions/{session}/events",
            headers={"authorization": f"Bearer {os.environ['FORKLORE_TOKEN']}"},
            data={"events": [{"type": "user_message", "data": {"content": text}}]},
        )
        assert answer.status == 201

    return send


def wait(tab, text):
    tab.evaluate(SEEN, text)


def report(what, tab, begun, done):
    """Prints how long a tab took to show something."""
    seen = tab.evaluate("window.seen")
    print(
        f"delay of {what}: {seen - begun:.0f} ms after its start,"
        f" {seen - done:.0f} ms after the writer had its answer"
    )


def now():
    return time.time() * 1000


def test_what_anybody_writes_appears_everywhere(tab, other, url, terminal, append, is_live):
    tab.goto(url + "/f/plan-1")
    other.goto(url + "/s/plan-2?at=end")
    is_live(tab)
    is_live(other)

    for number in range(5):
        text = f"written by a program, {number}"
        wait(other, text)
        begun = now()
        append(tab, "plan-2", text)
        report("an append over HTTP", other, begun, now())

    wait(tab, "from-terminal")
    begun = now()
    terminal("fork", "plan-1", "--id", "plan-3", "--label", "from-terminal")
    report("a fork in a terminal", tab, begun, now())

    wait(other, "written in a terminal")
    begun = now()
    terminal("append", "plan-2", "--text", "written in a terminal")
    report("an append in a terminal", other, begun, now())

    # What the second browser does appears in the first one and in the terminal.
    wait(tab, "from-browser")
    other.get_by_role("link", name="Fork", exact=True).first.click()
    dialog = other.get_by_role("dialog", name="Fork")
    dialog.get_by_label("Label").fill("from-browser")
    begun = now()
    dialog.get_by_role("button", name="Fork").click()
    expect(other.get_by_role("status").filter(has_text="from-browser")).to_be_visible()
    report("a fork in a browser", tab, begun, now())
    assert "from-browser" in terminal("tree", "plan-1")
    expect(tab.get_by_role("link", name="from-browser")).to_be_visible()


def test_a_page_shows_what_was_written_while_nobody_followed(tab, url, append, is_live, problems):
    tab.goto(url + "/s/plan-1?at=end")
    is_live(tab)
    tab.context.set_offline(True)
    append(tab, "plan-1", "written while the page was offline")
    tab.context.set_offline(False)
    append(tab, "plan-1", "written after that")
    expect(tab.get_by_text("written after that").first).to_be_visible()
    expect(tab.get_by_text("written while the page was offline").first).to_be_visible()
    # A browser reports what it cannot load.
    assert all("ERR_INTERNET_DISCONNECTED" in problem for problem in problems), problems
    problems.clear()
