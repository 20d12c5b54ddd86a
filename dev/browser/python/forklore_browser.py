"""Fixtures for tests of pages in Chromium.

A test that uses `page` runs four times: in a light and in a dark theme, in a narrow and in a wide
window. `@pytest.mark.parametrize("theme", ["dark"])` chooses one. After the test, `page` fails it if
the console showed an error, a script threw one, or a dialog opened; a test that expects one of them
takes `problems`, compares it and clears it. Wait for what a page shows (`expect(...)`,
`page.wait_for_url(...)`), never for time.
"""

import os
import shutil
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import expect, sync_playwright

# How long a page may take to show what a test waits for. What takes longer hangs.
HANGS = 120_000

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

expect.set_options(timeout=HANGS)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Debian's Chromium, with a home of its own."""
    name = os.environ.get("FORKLORE_CHROMIUM", "chromium")
    program = shutil.which(name)
    assert program, f"{name} is no program; `cargo xtask test` installs Chromium"
    home = str(tmp_path_factory.mktemp("home"))
    variables = {"HOME": home, "PATH": os.environ.get("PATH", ""), "TZ": "UTC"}
    if libraries := os.environ.get("FORKLORE_CHROMIUM_LIBRARIES"):
        variables["LD_LIBRARY_PATH"] = libraries
    flags = ["--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, env=variables, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(params=["light", "dark"])
def theme(request):
    """The colours that the user prefers."""
    return request.param


@pytest.fixture(params=[320, 1280])
def width(request):
    """The width of the window in pixels: the narrowest that WCAG demands, and a common one."""
    return request.param


@pytest.fixture
def problems():
    """What `page` noticed so far, one line for each problem."""
    return []


@pytest.fixture
def requests():
    """The URLs that `page` requested so far, without those of data in the page itself."""
    return []


@pytest.fixture
def page(browser, theme, width, problems, requests):
    """An empty tab without cookies."""
    context = browser.new_context(
        color_scheme=theme,
        viewport={"width": width, "height": 800},
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    context.set_default_timeout(HANGS)
    tab = context.new_page()
    watch(tab, problems, requests)
    yield tab
    context.close()
    assert problems == []


def watch(tab, problems, requests):
    def said(message):
        if message.type == "error":
            problems.append(f"console: {message.text}")

    def opened(dialog):
        problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def requested(request):
        if not request.url.startswith("data:"):
            requests.append(request.url)

    tab.on("console", said)
    tab.on("pageerror", lambda error: problems.append(f"script: {error.message}"))
    tab.on("dialog", opened)
    tab.on("request", requested)


@pytest.fixture
def axe(page):
    """A function that checks the page as it is now with axe-core."""

    def check(**options):
        # Evaluated by the browser itself, so a content security policy does not forbid it.
        page.evaluate(AXE)
        found = page.evaluate("options => axe.run(document, options)", options)
        assert found["passes"], "axe checked nothing"
        assert found["violations"] == [], "\n".join(map(describe, found["violations"]))

    return check


def describe(violation):
    nodes = [f"  {node['html'][:200]}\n    {node['failureSummary']}" for node in violation["nodes"]]
    return "\n".join([f"{violation['id']}: {violation['help']}", *nodes])


@pytest.fixture
def fits(page):
    """A function that checks that the page as it is now has no horizontal scrollbar."""

    def check():
        root = "document.documentElement"
        assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth"), page.evaluate(WIDER)

    return check


# Names the elements that reach over the right edge of the window.
WIDER = """() => [...document.querySelectorAll('body *')]
    .filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map(one => one.outerHTML.slice(0, 120))"""
