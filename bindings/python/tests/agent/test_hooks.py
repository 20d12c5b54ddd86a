"""Hooks and approvers: every verdict at every operation, and exceptions everywhere."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forklore import Store, agent
from forklore.errors import InvalidArgsError, NotFoundError, PermissionDeniedError

from .conftest import Events, Script


@agent.tool
def read_file(path: str) -> str:
    """Read a file."""
    return f"the content of {path}"


CALL = agent.ToolCall("read_file", {"path": "a.txt"}, "c1")


class Scripted(agent.Hook):
    """A hook that gives one verdict at one operation, and records what it got."""

    def __init__(self, operation: str, verdict: Any, *, blocks: bool = False) -> None:
        self.seen: list[Any] = []

        async def decide(input: Any, session: agent.Identity) -> Any:
            await asyncio.sleep(0)
            return decide_now(input, session)

        def decide_now(input: Any, session: agent.Identity) -> Any:
            self.seen.append((input, session))
            if isinstance(verdict, BaseException):
                raise verdict
            return verdict

        setattr(self, operation, decide_now if blocks else decide)


class Plain:
    """A hook that derives from nothing."""

    name = "plain"

    def prompt(self, input: agent.PromptInput, session: agent.Identity) -> agent.ChangeVerdict:
        return agent.modify(input["text"].upper())


async def turn(
    store: Store, *hooks: object, events: Events | None = None, **equipment: Any
) -> tuple[agent.Turn, Script, str]:
    model = Script([CALL], "done")
    equipment.setdefault("tools", [read_file])
    async with agent.Kernel(store, hooks=hooks, listener=events) as kernel:
        session = await kernel.create(model=model, config={"c": 1}, **equipment)
        return await session.execute("go"), model, session.id


def result(model: Script) -> tuple[Any, bool]:
    """Return the result of the only call."""
    results = [
        part
        for message in model.requests[-1]["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "tool_result"
    ]
    (part,) = results
    return part["content"], part.get("is_error", False)


def texts(model: Script) -> list[Any]:
    """Return the texts of the last request."""
    found: list[Any] = []
    for message in model.requests[-1]["messages"]:
        content = message["content"]
        found += [content] if isinstance(content, str) else [part.get("text") for part in content]
    return [text for text in found if text]


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("operation", ["session", "prompt", "request", "call", "result"])
async def test_a_hook_that_agrees_changes_nothing(store: Store, operation: str, blocks: bool) -> None:
    hook = Scripted(operation, None, blocks=blocks)
    done, model, session_id = await turn(store, hook)
    assert done.text == "done" and result(model) == ("the content of a.txt", False)
    ids = {"session_id": session_id, "parent_id": None, "root_id": session_id}
    inputs = [seen for seen, identity in hook.seen if identity == ids]
    assert len(inputs) == len(hook.seen)
    arguments = {"id": "c1", "name": "read_file", "arguments": {"path": "a.txt"}}
    expected = {
        "session": {"config": {"c": 1}},
        "prompt": {"text": "go", "parts": []},
        "call": arguments,
        "result": {"call": arguments, "content": "the content of a.txt", "is_error": False},
    }
    if operation == "request":
        assert inputs == model.requests
    else:
        assert inputs == [expected[operation]]


@pytest.mark.parametrize("operation", ["session", "prompt", "request"])
async def test_a_denied_operation_is_an_error(store: Store, operation: str) -> None:
    hook = Scripted(operation, agent.deny("not today"))
    with pytest.raises(PermissionDeniedError, match="denied by Scripted: not today") as caught:
        await turn(store, hook)
    assert caught.value.details["reason"] == "not today"


async def test_a_denied_session_is_not_created(store: Store) -> None:
    async with agent.Kernel(store, hooks=[Scripted("session", agent.deny("no"))]) as kernel:
        with pytest.raises(PermissionDeniedError):
            await kernel.create(model=Script(), id="mine")
    with pytest.raises(NotFoundError):
        store.show("mine")


@pytest.mark.parametrize("operation", ["call", "result"])
async def test_a_denied_call_is_a_failed_result(store: Store, operation: str) -> None:
    _, model, _ = await turn(store, Scripted(operation, agent.deny("not today")))
    content, is_error = result(model)
    assert is_error and "not today" in content


async def test_a_hook_modifies_what_happens(store: Store) -> None:
    _, model, _ = await turn(store, Scripted("prompt", agent.modify("stop")))
    assert texts(model)[0] == "stop"
    _, model, _ = await turn(store, Scripted("call", agent.modify({"path": "b.txt"})))
    assert result(model) == ("the content of b.txt", False)
    _, model, _ = await turn(store, Scripted("result", agent.modify("[removed]")))
    assert result(model) == ("[removed]", False)


@pytest.mark.parametrize("operation", ["prompt", "request", "call", "result", "event"])
async def test_a_hook_sends_the_model_a_message(store: Store, operation: str) -> None:
    class Once(agent.Hook):
        sent = False

    hook = Once()

    async def decide(input: Any, session: agent.Identity) -> Any:
        if hook.sent:
            return None
        hook.sent = True
        return agent.inject("by the way")

    setattr(hook, operation, decide)
    _, model, session_id = await turn(store, hook)
    assert "by the way" in texts(model)
    stored = [row["data"] for row in store.log(session_id)]
    assert [data["content"] for data in stored if data.get("injected")] == ["by the way"]


@pytest.mark.parametrize("granted", [True, False])
@pytest.mark.parametrize("operation", ["session", "prompt", "request", "call", "result"])
async def test_a_hook_asks_a_person(
    store: Store, events: Events, operation: str, granted: bool
) -> None:
    questions: list[agent.Question] = []

    async def approve(question: agent.Question) -> agent.Approval:
        questions.append(question)
        return agent.grant("for once") if granted else agent.deny("never")

    hook = Scripted(operation, agent.ask("may it?"))
    if granted or operation in ("call", "result"):
        _, model, _ = await turn(store, hook, events=events, approve=approve)
        if not granted:
            content, is_error = result(model)
            assert is_error and "never" in content
    else:
        with pytest.raises(PermissionDeniedError, match="never"):
            await turn(store, hook, events=events, approve=approve)
    assert {question["prompt"] for question in questions} == {"may it?"}
    assert (questions[0]["call"] is not None) == (operation == "call")
    name = "approval:granted" if granted else "approval:denied"
    assert len(events.data(name)) == len(questions)


@pytest.mark.parametrize(
    "failure", [ValueError("boom"), asyncio.CancelledError(), object(), agent.grant()]
)
@pytest.mark.parametrize("operation", ["session", "prompt", "request", "call", "result", "event"])
async def test_a_hook_that_fails_is_reported_and_skipped(
    store: Store, events: Events, operation: str, failure: Any
) -> None:
    done, model, _ = await turn(store, Scripted(operation, failure), events=events)
    assert done.status == "success" and result(model) == ("the content of a.txt", False)
    failed = events.data("hook:error")
    assert failed and {report["hook"] for report in failed} == {"Scripted"}
    if isinstance(failure, ValueError):
        assert all(report["error"].endswith("ValueError: boom") for report in failed)


@pytest.mark.parametrize(
    ("operation", "verdict"),
    [
        ("session", agent.modify(1)),
        ("session", agent.inject("x")),
        ("request", agent.modify({})),
        ("prompt", agent.modify({"text": 1})),
        ("call", agent.modify(object())),
        ("event", agent.deny("too late")),
    ],
)
async def test_a_verdict_without_effect_is_reported(
    store: Store, events: Events, operation: str, verdict: Any
) -> None:
    done, _, _ = await turn(store, Scripted(operation, verdict), events=events)
    assert done.text == "done" and events.data("hook:error")


async def test_a_hook_that_is_too_slow_is_cancelled(store: Store, events: Events) -> None:
    began, cancelled = asyncio.Event(), asyncio.Event()

    class Slow(agent.Hook):
        async def call(self, input: agent.CallInput, session: agent.Identity) -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

    done, _, _ = await turn(store, Slow(), events=events, settings={"hook_patience": 0.5})
    assert done.text == "done" and "did not answer" in events.data("hook:error")[0]["error"]
    # On a machine that is too slow to begin it in time, there is nothing to cancel.
    if began.is_set():
        await cancelled.wait()


async def test_hooks_run_by_priority(store: Store) -> None:
    class Last(agent.Hook):
        priority = 5

        async def prompt(self, input: agent.PromptInput, session: agent.Identity) -> agent.Modify:
            return agent.modify(input["text"] + "!")

    _, model, _ = await turn(store, Last(), Plain())
    assert texts(model)[0] == "GO!"


async def test_a_hook_hears_of_every_event_in_order(store: Store, events: Events) -> None:
    hook = Scripted("event", None)
    await turn(store, hook, events=events)
    assert [event for event, _ in hook.seen] == list(events)


def test_what_is_no_hook_is_refused(store: Store) -> None:
    for hook in (object(), agent.Hook()):
        with pytest.raises(InvalidArgsError, match="no method of a hook"):
            agent.Kernel(store, hooks=[hook])

    async def listener(event: dict[str, Any]) -> None: ...

    with pytest.raises(InvalidArgsError, match="coroutine function"):
        agent.Kernel(store, listener=listener)


@pytest.mark.parametrize(
    ("answer", "granted", "words"),
    [
        (True, True, ""),
        (agent.grant(), True, ""),
        (False, False, "the person said no"),
        (agent.deny("never"), False, "never"),
        (ValueError("boom"), False, "ValueError: boom"),
        ("yes", False, "no answer to a question"),
        (asyncio.CancelledError(), False, "cancelled"),
    ],
)
@pytest.mark.parametrize("blocks", [True, False])
async def test_an_approver_that_does_not_grant_denies(
    store: Store, answer: Any, granted: bool, words: str, blocks: bool
) -> None:
    def approve_now(question: agent.Question) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def approve(question: agent.Question) -> Any:
        return approve_now(question)

    _, model, _ = await turn(
        store, ask=["read_*"], approve=approve_now if blocks else approve
    )
    content, is_error = result(model)
    assert is_error is not granted
    assert granted or words in content.lower() or words in content


@pytest.mark.parametrize(
    ("patterns", "called"),
    [
        ({}, True),
        ({"allow": ["*"]}, True),
        ({"allow": ["read_file"]}, True),
        ({"allow": ["r*d*e"]}, True),
        ({"allow": ["write_*"]}, False),
        ({"allow": []}, False),
        ({"ask": ["*file"]}, False),
        ({"deny": ["read*"]}, False),
        ({"allow": ["*"], "deny": ["write*"]}, True),
    ],
)
async def test_patterns_decide_which_tools_may_be_called(
    store: Store, patterns: Any, called: bool
) -> None:
    _, model, _ = await turn(store, **patterns)
    assert result(model)[1] is not called


async def test_a_listener_that_fails_is_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def listener(event: dict[str, Any]) -> None:
        raise ValueError("boom")

    async with agent.Kernel(store, listener=listener) as kernel:
        session = await kernel.create(model=Script("done"))
        assert (await session.execute("go")).text == "done"
    assert "the listener failed" in caplog.text and "boom" in caplog.text
