"""Forks, sub-agents, and several sessions at once."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from forklore import Store, agent
from forklore.errors import AlreadyExistsError, InvalidArgsError, PermissionDeniedError

from .conftest import Events, Script


def echo(request: agent.Request) -> str:
    content = request["messages"][-1]["content"]
    return f"You said: {content}"


async def test_two_forks_run_at_once(store: Store, events: Events) -> None:
    async with agent.Kernel(store, listener=events) as kernel:
        main = await kernel.create(model=echo)
        await main.execute("plan A or plan B?")
        fork = await main.fork("turn:1", label="b", title="Plan B")
        a, b = await asyncio.gather(main.execute("take A"), fork.execute("take B"))
        assert (a.text, b.text) == ("You said: take A", "You said: take B")
        difference = store.diff(main.id, fork.id)
        assert difference["common"] == 2
        assert (fork.parent_id, fork.root_id) == (main.id, main.id)
        assert store.show(fork.id)["session"]["label"] == "b"
    of_child = [event for event in events if event["session_id"] == fork.id]
    assert {(event["parent_id"], event["root_id"]) for event in of_child} == {(main.id, main.id)}
    names = [event["event"] for event in of_child if not event.get("ephemeral")]
    assert names == [
        "session:fork",
        "session:start",
        "prompt:submit",
        "provider:request",
        "content_block:end",
        "provider:response",
        "context:gauge",
        "prompt:complete",
        "orchestrator:complete",
        "session:end",
    ]


async def test_a_session_forks_while_turns_run(store: Store) -> None:
    async with agent.Kernel(store) as kernel:
        both = asyncio.Barrier(3)
        go_on = asyncio.Event()

        async def model(request: agent.Request) -> str:
            if str(request["messages"][-1]["content"]).startswith("wait"):
                await both.wait()
                await go_on.wait()
            return echo(request)

        main = await kernel.create(model=model)
        await main.execute("first")
        other = await main.fork()
        turns = asyncio.gather(main.execute("wait a"), other.execute("wait b"))
        await both.wait()
        children = await asyncio.gather(main.fork(), other.fork())
        answers = await asyncio.gather(*(child.execute("meanwhile") for child in children))
        assert [answer.text for answer in answers] == ["You said: meanwhile"] * 2
        go_on.set()
        assert [turn.text for turn in await turns] == ["You said: wait a", "You said: wait b"]
        for child, parent in zip(children, (main, other), strict=True):
            assert store.diff(parent.id, child.id)["common"] == 2


async def test_a_fork_may_work_with_something_else(store: Store) -> None:
    @agent.tool
    def look() -> str:
        """Look."""
        return "seen"

    async with agent.Kernel(store) as kernel:
        main = await kernel.create(model=echo, tools=[look])
        await main.execute("first")
        model = Script([agent.ToolCall("look")], "other")
        fork = await main.fork(model=model, settings={"temperature": 0.5})
        assert (await fork.execute("go")).text == "other"
        assert model.requests[0]["options"] == {"temperature": 0.5, "must_call": False}
        assert [spec["name"] for spec in model.requests[0]["tools"]] == ["look"]
        assert model.requests[0]["shared"] == 2
        assert (await main.execute("on")).text == "You said: on"
        main.equip(model=Script("changed"), tools=[])
        assert (await main.execute("on")).text == "changed"


async def test_a_fork_gets_a_summary(store: Store) -> None:
    model = Script("one", "The plan is A.")
    async with agent.Kernel(store) as kernel:
        main = await kernel.create(model=model)
        await main.execute("plan A or plan B?")
        fork = await main.fork(summarize=True, model=echo)
        await fork.execute("go")
    assert any("The plan is A." in str(row) for row in store.log(fork.id))


async def test_a_fork_that_cannot_be_is_a_typed_error(store: Store) -> None:
    class NoForks(agent.Hook):
        async def fork(self, input: agent.ForkInput, session: agent.Identity) -> agent.Verdict:
            fork = input["fork"]
            assert fork is None or fork["parent_session_id"] == session["parent_id"]
            return agent.deny("one is enough") if fork and fork["label"] == "no" else None

    async with agent.Kernel(store, hooks=[NoForks()]) as kernel:
        main = await kernel.create(model=echo)
        await main.execute("first")
        with pytest.raises(PermissionDeniedError, match="one is enough"):
            await main.fork(label="no")
        with pytest.raises(InvalidArgsError):
            await main.fork("turn:9")
        with pytest.raises(InvalidArgsError):
            await main.fork("nowhere")
        await main.fork(id="child", label="yes")
        with pytest.raises(AlreadyExistsError):
            await main.fork(label="yes")
        with pytest.raises(InvalidArgsError):
            await main.fork(permissions=["x"], id="-")
        assert (await main.execute("on")).text == "You said: on"


async def test_a_session_delegates_between_turns(store: Store, events: Events) -> None:
    async with agent.Kernel(store, listener=events) as kernel:
        main = await kernel.create(model=echo)
        await main.execute("first")
        one = await main.delegate("count", agent="counter", title="Counting")
        assert one.text == "You said: count"
        again = await main.delegate("more", resume=one.session_id, model=Script("changed"))
        assert (again.text, again.session_id) == ("changed", one.session_id)
        with pytest.raises(InvalidArgsError, match="no sub-agent of this one"):
            await main.delegate("more", resume=main.id)
        assert store.show(one.session_id)["session"]["kind"] == "delegate"
        with pytest.raises(Exception, match="nobody"):
            await main.delegate("x", model=Script(ValueError("nobody")))
    assert len(events.data("delegate:agent_spawned")) == 2
    assert len(events.data("delegate:agent_resumed")) == 1
    assert len(events.data("delegate:error")) == 1


async def test_a_model_delegates(store: Store, events: Events) -> None:
    class Watch(agent.Hook):
        def __init__(self) -> None:
            self.seen: list[tuple[str, str | None]] = []

        async def prompt(self, input: agent.PromptInput, session: agent.Identity) -> None:
            self.seen.append((input["text"], session["parent_id"]))

    watch = Watch()
    task = agent.ToolCall("delegate", {"task": "deeper"})
    model = Script([agent.ToolCall("delegate", {"task": "deep"})], [task], "C", "B", "A")
    async with agent.Kernel(store, hooks=[watch], listener=events) as kernel:
        main = await kernel.create(model=model, delegates={"depth": 2})
        assert (await main.execute("go")).text == "A"
    forks = events.data("session:fork")
    ids = [event["session_id"] for event in events if event["event"] == "session:fork"]
    assert len(forks) == 2
    assert watch.seen == [("go", None), ("deep", main.id), ("deeper", ids[0])]
    assert {event["root_id"] for event in events} == {main.id}


def test_sessions_run_on_several_event_loops(store: Store) -> None:
    kernel = agent.Kernel(store)
    barrier = threading.Barrier(4)
    threads: dict[str, int] = {}
    texts: list[str] = []

    async def model(request: agent.Request) -> str:
        threads[str(request["messages"][-1]["content"])] = threading.get_ident()
        return echo(request)

    main = asyncio.run(kernel.create(model=model))
    asyncio.run(main.execute("first"))

    def work(name: str) -> None:
        async def one() -> None:
            fork = await main.fork()
            barrier.wait()
            texts.append((await fork.execute(name)).text)
            assert threads[name] == threading.get_ident()

        asyncio.run(one())

    workers = [threading.Thread(target=work, args=(f"n{number}",)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    asyncio.run(kernel.close())
    assert sorted(texts) == [f"You said: n{number}" for number in range(4)]
    assert len(set(threads.values())) == 5


async def test_cleanup_ends_children_first(store: Store, events: Events) -> None:
    async with agent.Kernel(store, listener=events) as kernel:
        main = await kernel.create(model=echo)
        await main.execute("first")
        child = await main.fork()
        await child.execute("second")
        grandchild = await child.fork()
        await grandchild.execute("third")
        await main.cleanup(cascade_children=True)
        ended = [event["session_id"] for event in events if event["event"] == "session:end"]
        assert ended == [grandchild.id, child.id, main.id]
        with pytest.raises(InvalidArgsError, match="was ended here"):
            await child.execute("more")
        again = await kernel.open(child.id, model=echo)
        assert (await again.execute("more")).text == "You said: more"


async def test_a_tool_ends_its_own_session(store: Store, events: Events) -> None:
    sessions: list[agent.Session] = []
    ended: list[bool] = []

    async def finish() -> str:
        """End the session."""
        try:
            await sessions[0].cleanup()
        finally:
            ended.append(True)
        return ""

    async with agent.Kernel(store, listener=events) as kernel:
        session = await kernel.create(model=Script([agent.ToolCall("finish")]), tools=[finish])
        sessions.append(session)
        turn = await session.execute("go")
        assert turn.status == "cancelled" and ended == [True]
        await session.cleanup()
        with pytest.raises(InvalidArgsError, match="was ended here"):
            await session.execute("more")


async def test_an_application_announces_events(store: Store, events: Events) -> None:
    class Watch(agent.Hook):
        async def event(self, event: dict[str, Any], session: agent.Identity) -> None:
            received.append(event["event"])

    received: list[str] = []
    async with agent.Kernel(store, hooks=[Watch()], listener=events) as kernel:
        session = await kernel.create(model=echo)
        await session.announce("plan:start", {"steps": 2})
        with pytest.raises(InvalidArgsError):
            await session.announce("session:start")
    assert events.data("plan:start") == [{"steps": 2}] and received == ["plan:start"]
