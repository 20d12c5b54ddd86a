"""Interruptions: by the application, by a cancelled task, by Control-C, and by the end of the process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import forklore
from forklore import Store, agent

from .conftest import Events, Script


class Endless:
    """A model that writes something and then waits until it is cancelled."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self, request: agent.Request) -> AsyncIterator[str]:
        try:
            yield "so far"
            self.began.set()
            await asyncio.Event().wait()
        finally:
            self.ended.set()


async def test_an_interrupted_turn_stores_what_was_answered(
    store: Store, events: Events, contents: Any
) -> None:
    async with agent.Kernel(store, listener=events) as kernel:
        model = Endless()
        session = await kernel.create(model=model)
        turn = asyncio.create_task(session.execute("go"))
        await events.until("content_block:delta")
        session.interrupt()
        done = await turn
        assert (done.status, done.text) == ("cancelled", "so far")
        await model.ended.wait()
        session.equip(model=Script("and the rest", "more"))
        assert (await session.resume()).text == "and the rest"
        assert (await session.execute("on")).text == "more"
    assert ("assistant", "so far") in contents(session.id)
    names = events.names()
    assert names.index("cancel:requested") < names.index("cancel:completed")


async def test_a_cancelled_task_interrupts_the_turn_and_the_session_goes_on(
    store: Store, events: Events, contents: Any
) -> None:
    async with agent.Kernel(store, listener=events) as kernel:
        model = Endless()
        session = await kernel.create(model=model)
        turn = asyncio.create_task(session.execute("go"))
        await events.until("content_block:delta")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert not session.is_running
        assert contents(session.id) == [("user", "go"), ("assistant", "so far")]
        session.equip(model=Script("well"))
        assert (await session.execute("again")).text == "well"


async def test_a_turn_that_is_cancelled_before_it_begins_stores_no_prompt_or_ends(
    store: Store,
) -> None:
    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=Script(*["well"] * 20))
        for _ in range(10):
            turn = asyncio.create_task(session.execute("go"))
            await asyncio.sleep(0)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            assert not session.is_running
        assert (await session.execute("again")).text == "well"
    assert store.verify()["problems"] == []


async def test_calls_are_cancelled_and_answered(store: Store) -> None:
    began = asyncio.Event()
    seen: list[str] = []

    async def wait(context: agent.ToolContext) -> str:
        """Wait."""
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append(f"cancelled {context.cancelled}")
            raise
        return ""

    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=Script([agent.ToolCall("wait")], "well"), tools=[wait])
        turn = asyncio.create_task(session.execute("go"))
        await began.wait()
        session.interrupt()
        assert (await turn).status == "cancelled"
        assert seen == ["cancelled True"]
        assert (await session.execute("again")).text == "well"


async def test_a_tool_in_a_thread_is_left_behind(store: Store) -> None:
    began, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def wait() -> str:
        """Wait."""
        loop.call_soon_threadsafe(began.set)
        go_on.wait()
        return ""

    async with agent.Kernel(store) as kernel:
        session = await kernel.create(
            model=Script([agent.ToolCall("wait")]), tools=[wait], settings={"grace": 0.01}
        )
        turn = asyncio.create_task(session.execute("go"))
        await began.wait()
        session.interrupt()
        assert (await turn).status == "cancelled"
        go_on.set()


async def test_sub_agents_are_interrupted_with_their_turn(store: Store, events: Events) -> None:
    async with agent.Kernel(store, listener=events) as kernel:
        model = Endless()

        async def research(context: agent.ToolContext) -> str:
            """Let a sub-agent find out."""
            return (await context.delegate("find out", model=model)).text

        session = await kernel.create(
            model=Script([agent.ToolCall("research")]), tools=[research]
        )
        turn = asyncio.create_task(session.execute("go"))
        await model.began.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        await model.ended.wait()
    statuses = [data["status"] for data in events.data("session:end")]
    assert statuses == ["cancelled", "cancelled"]


async def test_leaving_the_kernel_ends_turns(store: Store) -> None:
    model = Endless()
    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=model)
        turn = asyncio.create_task(session.execute("go"))
        await model.began.wait()
    assert (await turn).status == "cancelled"


class Raising(agent.Hook):
    """A model, a tool, an approver and a hook, one of which ends the program."""

    def __init__(self, where: str, error: BaseException) -> None:
        self.where = where
        self.error = error

    def raises_in(self, where: str) -> None:
        if self.where == where:
            raise self.error

    async def model(self, request: agent.Request) -> agent.Piece:
        self.raises_in("model")
        return agent.ToolCall("here", id="c1") if len(request["messages"]) == 1 else "done"

    async def here(self) -> None:
        """Work on the event loop."""
        self.raises_in("tool")
        await asyncio.to_thread(self.raises_in, "thread")

    async def approve(self, question: agent.Question) -> bool:
        self.raises_in("approve")
        return True

    async def prompt(self, input: agent.PromptInput, session: agent.Identity) -> None:
        self.raises_in("prompt")

    async def call(self, input: agent.CallInput, session: agent.Identity) -> None:
        self.raises_in("call")

    def event(self, event: dict[str, Any], session: agent.Identity) -> None:
        if event["event"] == "tool:pre":
            self.raises_in("event")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(7)])
@pytest.mark.parametrize(
    "where", ["model", "tool", "thread", "approve", "prompt", "call", "event"]
)
def test_an_end_of_the_program_loses_nothing(
    store: Store, where: str, error: BaseException
) -> None:
    async def main() -> None:
        raising = Raising(where, error)
        async with agent.Kernel(store, hooks=[raising]) as kernel:
            session = await kernel.create(
                id="mine", model=raising.model, tools=[raising.here], ask=["*"],
                approve=raising.approve, settings={"grace": 0.05},
            )
            await session.execute("go")

    with pytest.raises(type(error)):
        asyncio.run(main())
    assert store.verify()["problems"] == []
    assert store.show("mine")["session"]["status"] == "idle"

    async def go_on() -> str:
        async with agent.Kernel(store) as kernel:
            session = await kernel.open("mine", model=Script("well"))
            return (await session.execute("again")).text

    assert asyncio.run(go_on()) == "well"


def program(text: str, path: Path) -> subprocess.Popen[str]:
    """Start a program that works on a store."""
    before = """
import asyncio, os, signal, sys, forklore
from forklore import agent

# A shell that runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

@agent.tool
def read_file(path: str) -> str:
    '''Read a file.'''
    return "the content"
"""
    return subprocess.Popen(
        [sys.executable, "-c", before + text, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONFAULTHANDLER": "1"},
    )


KILLED = """
requests = []

async def model(request):
    requests.append(request)
    if len(requests) == 1:
        return [agent.ToolCall("read_file", {"path": "a.txt"}, "c1")]
    print("called", flush=True)
    await asyncio.Event().wait()

async def main():
    async with agent.Kernel(forklore.open(sys.argv[1])) as kernel:
        session = await kernel.create(model=model, tools=[read_file], id="mine")
        await session.execute("go")

asyncio.run(main())
"""


def test_another_process_continues_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    process = program(KILLED, path)
    assert process.stdout is not None
    assert process.stdout.readline() == "called\n"
    process.kill()
    process.communicate()

    async def go_on(store: Store) -> tuple[agent.Turn, Script]:
        model = Script("the file has content")
        async with agent.Kernel(store) as kernel:
            session = await kernel.open("mine", model=model)
            return await session.resume(), model

    with forklore.open(path) as store:
        turn, model = asyncio.run(go_on(store))
        assert (turn.status, turn.text) == ("success", "the file has content")
        (request,) = model.requests
        parts = [part for message in request["messages"][1:] for part in message["content"]]
        assert [part["type"] for part in parts] == ["tool_call", "tool_result"]
        assert parts[1]["content"] == "the content"


STOPPED = """
async def model(request):
    yield "so far"
    await asyncio.Event().wait()

def listener(event):
    if event["event"] == "content_block:delta":
        print("called", flush=True)

async def main():
    async with agent.Kernel(forklore.open(sys.argv[1]), listener=listener) as kernel:
        session = await kernel.create(model=model, id="mine")
        await session.execute("go")

"""
CATCHES = """
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("caught")
"""


@pytest.mark.parametrize("catches", [True, False])
def test_control_c_interrupts_the_turn(tmp_path: Path, catches: bool) -> None:
    path = tmp_path / "store.db"
    process = program(STOPPED + (CATCHES if catches else "asyncio.run(main())"), path)
    assert process.stdout is not None
    assert process.stdout.readline() == "called\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    if catches:
        assert (out, err, process.returncode) == ("caught\n", "", 0)
    else:
        assert "KeyboardInterrupt" in err and "Fatal" not in err
    with forklore.open(path) as store:
        assert store.inspect("mine")["messages"][-1] == {"role": "assistant", "content": "so far"}
        assert store.show("mine")["session"]["status"] == "idle"


def test_a_program_may_end_while_a_turn_runs(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    process = program(
        """
async def model(request):
    yield "so far"
    loop.stop()
    await asyncio.Event().wait()

loop = asyncio.new_event_loop()
kernel = agent.Kernel(forklore.open(sys.argv[1]))
session = loop.run_until_complete(kernel.create(model=model, id="mine"))
task = loop.create_task(session.execute("go"))
loop.run_forever()
print("ends")
""",
        path,
    )
    out, err = process.communicate()
    assert out == "ends\n" and process.returncode == 0, err
    with forklore.open(path) as store:
        assert store.show("mine")["session"]["status"] == "idle"
        assert store.verify()["problems"] == []


FORKED = """
path = sys.argv[1]
kernel = agent.Kernel(forklore.open(path))
session = asyncio.run(kernel.create(model=lambda request: "parent", id="mine"))
print(asyncio.run(session.execute("go")).text, flush=True)
child = os.fork()
if child == 0:
    try:
        asyncio.run(session.execute("go"))
    except forklore.UnsupportedError:
        print("unsupported", flush=True)
    own = agent.Kernel(forklore.open(path))
    session = asyncio.run(own.open("mine", model=lambda request: "child"))
    print(asyncio.run(session.execute("go")).text, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(asyncio.run(session.execute("go")).text, flush=True)
"""


def test_a_forked_process_needs_a_kernel_of_its_own(tmp_path: Path) -> None:
    out, err = program(FORKED, tmp_path / "store.db").communicate()
    assert out == "parent\nunsupported\nchild\nparent\n", err
