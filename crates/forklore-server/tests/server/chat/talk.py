"""The page on which one talks to the agent: by keyboard only, as everybody on the session sees it."""

import os
import uuid

import pytest
from playwright.sync_api import expect

URL = os.environ["FORKLORE_URL"]
TOKEN = os.environ["FORKLORE_TOKEN"]


def post(page, path, body):
    headers = {"authorization": f"Bearer {TOKEN}"}
    answer = page.request.post(f"{URL}/api/v1{path}", headers=headers, data=body)
    assert answer.ok, answer.text()


@pytest.fixture
def session(page):
    """A new session, and a browser that is logged in with the token."""
    id = f"s-{uuid.uuid4()}"
    post(page, "/sessions", {"id": id, "workspace": "/work/demo"})
    assert page.request.post(f"{URL}/login", data={"secret": TOKEN}).ok
    page.goto(f"{URL}/s/{id}/chat")
    ready(page)
    return id


def ready(page):
    expect(page.locator("body")).to_have_attribute("data-talking", "yes")
    expect(page.locator("#prompt")).to_be_focused()


def conversation(page):
    return page.locator("#fragment")


def test_a_message_is_answered(page, session, axe, fits):
    axe()
    page.keyboard.type("first line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    page.keyboard.press("Enter")
    expect(conversation(page)).to_contain_text("m1 read: first line")
    expect(conversation(page)).to_contain_text("second line")
    expect(page.locator("#prompt")).to_have_value("")
    expect(page.locator("#answering > *")).to_have_count(0)
    axe()
    fits()


def test_an_answer_is_interrupted_with_escape(page, session, axe, fits):
    page.keyboard.type("hang")
    page.keyboard.press("Enter")
    expect(page.locator("#answering .answer")).to_contain_text("m1 read:")
    expect(page.locator("#interrupt")).to_be_visible()
    axe()
    fits()
    page.keyboard.press("Escape")
    expect(page.locator("#broken")).to_be_visible()
    expect(page.locator("#interrupt")).to_be_hidden()
    expect(conversation(page)).to_contain_text("m1 read:")
    axe()


def test_a_call_is_allowed_denied_and_always_allowed(page, session, axe, fits):
    dialog = page.locator("#approval")
    page.keyboard.type("call it")
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("May it call delegate?")
    expect(dialog).to_contain_text("count <b>")
    axe()
    fits()
    # A key that was meant for a message answers nothing.
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("#asks")).to_be_visible()
    axe()
    page.locator("#ask").focus()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    choose(page, "Deny")
    expect(dialog).to_be_hidden()
    expect(page.locator("body")).to_have_attribute("data-running", "no")
    expect(conversation(page)).to_contain_text("call it")
    page.keyboard.type("call again")
    page.keyboard.press("Enter")
    choose(page, "Allow this tool here until the server ends")
    expect(page.locator("body")).to_have_attribute("data-running", "no")
    page.keyboard.type("call once more")
    page.keyboard.press("Enter")
    expect(conversation(page)).to_contain_text("m1 read: call once more")
    expect(dialog).to_be_hidden()


def test_a_sub_agent_is_shown_while_it_works(page, session, axe, fits):
    page.keyboard.type("call: hang")
    page.keyboard.press("Enter")
    choose(page, "Allow once")
    agent = page.locator("#answering .agent")
    expect(agent.get_by_role("heading")).to_contain_text("Sub-agent")
    expect(agent.locator(".text")).to_have_text("m1 read: ")
    axe()
    fits()
    # Who comes later sees it too, and the link leads to what it did.
    page.reload()
    expect(agent.locator(".text")).to_have_text("m1 read: ")
    address = agent.get_by_role("link").get_attribute("href")
    page.keyboard.press("Escape")
    expect(page.locator("#broken")).to_be_visible()
    page.goto(URL + address)
    expect(conversation(page)).to_contain_text("m1 read:")


def choose(page, name):
    """Goes to a button of the dialog with the tabulator, and presses it."""
    button = page.get_by_role("button", name=name, exact=True)
    expect(button).to_be_visible()
    for _ in range(8):
        page.keyboard.press("Tab")
        if button.evaluate("it => it === document.activeElement"):
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"the tabulator does not reach {name}")


def test_a_second_browser_answers(page, session, browser):
    page.keyboard.type("call it")
    page.keyboard.press("Enter")
    expect(page.locator("#approval")).to_be_visible()
    other = page.context.new_page()
    other.goto(f"{URL}/s/{session}/chat")
    expect(other.locator("#approval")).to_be_visible()
    choose(other, "Allow once")
    expect(page.locator("#approval")).to_be_hidden()
    expect(conversation(other)).to_contain_text("m1 read: call it")
    page.bring_to_front()
    expect(conversation(page)).to_contain_text("m1 read: call it")


def test_hostile_answers_stay_text(page, session, fits):
    page.keyboard.type("hostile")
    page.keyboard.press("Enter")
    expect(conversation(page)).to_contain_text("<img src=x onerror=alert(1)>")
    expect(conversation(page)).to_contain_text("\\u{202e}")
    assert page.locator("#fragment img, #answering img").count() == 0
    fits()


def test_a_failure_says_what_to_do(page, session, axe):
    page.keyboard.type("fail")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("it fails")
    expect(page.locator("#notice")).to_contain_text("go on with the turn")
    axe()


def test_a_new_chat_begins_with_the_keyboard(page, session, axe, fits):
    page.goto(f"{URL}/chat/new")
    axe()
    fits()
    page.get_by_label("Title").focus()
    page.keyboard.type("My plan")
    page.keyboard.press("Enter")
    page.wait_for_url("**/chat?model=one")
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("My plan")
    page.keyboard.type("hello")
    page.keyboard.press("Enter")
    expect(conversation(page)).to_contain_text("m1 read: hello")
