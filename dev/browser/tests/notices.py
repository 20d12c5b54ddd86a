"""Pages with a mistake each, to show that the fixtures notice it."""

import pytest

HEAD = "<!doctype html><html lang=en><meta charset=utf-8><title>t</title><main><h1>t</h1>"


def test_a_console_error_a_thrown_error_and_a_dialog(page, problems):
    script = "console.error('a'); alert('b'); throw new Error('c')"
    page.set_content(f"{HEAD}<script>{script}</script>")
    page.wait_for_function("document.readyState === 'complete'")
    assert problems == ["console: a", "dialog: b", "script: c"]
    problems.clear()


def test_what_axe_finds_in_each_theme(page, axe, theme):
    grey = {"light": "#999", "dark": "#555"}[theme]
    style = "<style>:root { color-scheme: light dark; background: Canvas }</style>"
    page.set_content(f"{HEAD}{style}<p>enough contrast")
    axe()
    page.set_content(f"{HEAD}{style}<p style='color: {grey}'>too little contrast")
    with pytest.raises(AssertionError, match="^color-contrast: "):
        axe()


def test_what_is_wider_than_the_window(page, fits, width):
    page.set_content(f"{HEAD}<p style='width: 200px'>narrow")
    fits()
    page.set_content(f"{HEAD}<p style='width: {width + 1}px'>wide")
    with pytest.raises(AssertionError, match="wide</p>"):
        fits()


def test_what_a_page_requests(page, requests, problems, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(f"{HEAD}<img alt='' src=gone.png><img alt='' src='data:image/gif;base64,'>")
    page.goto(file.as_uri())
    assert requests == [file.as_uri(), file.with_name("gone.png").as_uri()]
    assert [problem.split(":")[0] for problem in problems] == ["console"]
    problems.clear()
