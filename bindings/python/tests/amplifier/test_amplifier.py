"""What the session fork specification of Amplifier says, section by section."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import forklore
from forklore import AlreadyExistsError, InvalidArgsError, NotFoundError, Store
from forklore.amplifier import ANNOUNCED, AmplifierSession, Denied, Event

CONFIG: dict[str, Any] = {
    "session": {"orchestrator": "loop-basic", "context": "context-simple"},
    "providers": [{"module": "provider-anthropic", "config": {"default_model": "claude"}}],
}


class Loader:
    """A loader whose orchestrator answers with the prompt in capitals."""

    def __init__(self) -> None:
        self.loaded: list[tuple[str, dict[str, Any]]] = []
        self.cleaned: list[str] = []

    async def load(self, module: str, config: dict[str, Any]) -> Any:
        self.loaded.append((module, config))
        return Loop() if module == "loop-basic" else Module(module, self.cleaned)


class Loop:
    async def __call__(self, session: AmplifierSession, prompt: str, before: list[Any]) -> str:
        await session.emit("provider:request", {"messages": len(before) + 1})
        if prompt == "fail":
            raise OSError("no network")
        return prompt.upper()


class Module:
    def __init__(self, name: str, cleaned: list[str]) -> None:
        self.name, self.cleaned = name, cleaned

    async def cleanup(self) -> None:
        self.cleaned.append(self.name)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with forklore.open(tmp_path / "sessions.db") as opened:
        yield opened


async def started(store: Store, session_id: str | None = "abc-123", parent_id: str | None = None) -> Any:
    session = AmplifierSession(CONFIG, Loader(), session_id, parent_id, store=store)
    seen: list[Event] = []
    session.hooks.register("*", seen.append)
    await session.initialize()
    return session, seen


async def test_the_constructor_has_the_parameters_of_the_specification(store: Store) -> None:
    session = AmplifierSession(config=CONFIG, loader=None, session_id=None, parent_id=None, store=store)
    assert str(uuid.UUID(session.session_id)) == session.session_id
    assert session.parent_id is None
    child = AmplifierSession(CONFIG, session_id="abc-123-child-1", parent_id="abc-123", store=store)
    assert (child.session_id, child.parent_id) == ("abc-123-child-1", "abc-123")


async def test_a_child_announces_session_fork_with_the_required_fields(store: Store) -> None:
    await started(store)
    child, seen = await started(store, "abc-123-child-1", "abc-123")
    fork = seen[0]
    assert fork["event"] == "session:fork"
    assert fork["session_id"] == "abc-123-child-1"
    assert fork["parent_id"] == "abc-123"
    assert fork["data"] == {"parent": "abc-123"}
    assert datetime.fromisoformat(fork["ts"].replace("Z", "+00:00"))
    stored = [event["data"] for event in store.log(child.session_id) if event["type"] == ANNOUNCED]
    assert stored[0] == fork


async def test_a_session_at_the_top_announces_no_fork(store: Store) -> None:
    _, seen = await started(store)
    assert [event["event"] for event in seen] == ["session:start"]
    assert seen[0]["parent_id"] is None


async def test_all_events_of_a_child_include_the_parent(store: Store) -> None:
    await started(store)
    child, seen = await started(store, "abc-123-child-1", "abc-123")
    await child.execute("some task")
    await child.cleanup()
    names = [event["event"] for event in seen]
    assert names == [
        "session:fork",
        "session:start",
        "prompt:submit",
        "provider:request",
        "prompt:complete",
        "session:end",
    ]
    assert {event["parent_id"] for event in seen} == {"abc-123"}
    lines = list(store.log(child.session_id))
    assert {line["parent_id"] for line in lines} == {"abc-123"}
    assert [line["data"] for line in lines if line["type"] == ANNOUNCED] == seen


async def test_modules_are_mounted_from_the_configuration(store: Store) -> None:
    session, _ = await started(store)
    assert session.loader.loaded == [
        ("loop-basic", {}),
        ("context-simple", {}),
        ("provider-anthropic", {"default_model": "claude"}),
    ]
    await session.initialize()
    assert len(session.loader.loaded) == 3


async def test_a_child_has_a_context_of_its_own_and_is_shown_under_its_parent(store: Store) -> None:
    parent, _ = await started(store)
    await parent.execute("parent's task")
    child, _ = await started(store, "abc-123-child-1", "abc-123")
    assert await child.execute("task") == "TASK"
    assert [record["content"] for record in store.replay(child.session_id)] == ["task", "TASK"]
    assert len(list(store.replay("abc-123"))) == 2
    children = store.lineage("abc-123")["children"]
    assert [(one["session_id"], one.get("kind")) for one in children] == [("abc-123-child-1", "delegate")]


async def test_children_nest_without_a_limit(store: Store) -> None:
    session, _ = await started(store)
    for level in range(40):
        session, _ = await started(store, f"level-{level}", session.session_id)
        assert session.root_id == "abc-123"
    ancestors = store.lineage(session.session_id)["ancestors"]
    assert [one["session_id"] for one in ancestors] == [
        *(f"level-{level}" for level in reversed(range(39))),
        "abc-123",
    ]


async def test_session_fork_creates_an_initialized_child(store: Store) -> None:
    parent, _ = await started(store)
    child = await parent.fork()
    assert child.parent_id == "abc-123" and child.session_id.startswith("abc-123-")
    other = await parent.fork({**CONFIG, "tools": [{"module": "bash"}]}, "abc-123-specialist-a1b2")
    assert [name for name, _ in other.loader.loaded][-1] == "bash"
    assert (await parent.fork()).session_id != child.session_id


async def test_cleanup_cascades_to_children_if_wanted(store: Store) -> None:
    parent, parent_seen = await started(store)
    child, child_seen = await started(store, "abc-123-level1", "abc-123")
    _, deep_seen = await started(store, "abc-123-level1-level2", "abc-123-level1")
    _, other_seen = await started(store, "other")
    await parent.cleanup(cascade_children=True)
    for seen in (parent_seen, child_seen, deep_seen):
        assert [event["event"] for event in seen].count("session:end") == 1
    assert "session:end" not in [event["event"] for event in other_seen]
    assert child.loader.cleaned == ["context-simple", "provider-anthropic"]
    await child.cleanup()
    assert [event["event"] for event in child_seen].count("session:end") == 1


async def test_parent_and_child_are_independent_after_the_fork(store: Store) -> None:
    parent, _ = await started(store)
    child, seen = await started(store, "abc-123-child-1", "abc-123")
    await parent.cleanup()
    assert "session:end" not in [event["event"] for event in seen]
    assert await child.execute("still here") == "STILL HERE"


async def test_the_same_ids_give_the_same_session(store: Store) -> None:
    await started(store)
    await started(store, "abc-123-child-1", "abc-123")
    _, seen = await started(store, "abc-123-child-1", "abc-123")
    assert [event["event"] for event in seen] == ["session:resume"]
    events = [event["data"] for event in store.log("abc-123-child-1") if event["type"] == ANNOUNCED]
    assert [event["event"] for event in events].count("session:fork") == 1
    with pytest.raises(AlreadyExistsError):
        await started(store, "abc-123-child-1", None)


async def test_a_hook_may_deny_a_turn(store: Store) -> None:
    session, _ = await started(store)

    async def deny(event: Event) -> None:
        raise Denied("not on Sundays")

    unregister = session.hooks.register("prompt:*", deny)
    with pytest.raises(Denied, match="Sundays"):
        await session.execute("work")
    assert list(store.replay("abc-123")) == []
    unregister()
    assert await session.execute("work") == "WORK"


async def test_a_hook_that_fails_is_announced_and_stops_nothing(store: Store) -> None:
    session, seen = await started(store)

    def fail(event: Event) -> None:
        raise ValueError("broken hook")

    session.hooks.register("prompt:submit", fail)
    assert await session.execute("work") == "WORK"
    errors = [event["data"] for event in seen if event["event"] == "hook:error"]
    assert errors == [{"hook_event": "prompt:submit", "error": "broken hook"}]


async def test_a_turn_that_fails_is_recorded(store: Store) -> None:
    session, seen = await started(store)
    with pytest.raises(OSError, match="no network"):
        await session.execute("fail")
    assert [event["type"] for event in store.log("abc-123")][-1] == "turn_failed"
    await session.cleanup()
    assert seen[-1]["data"] == {"status": "failed"}
    assert asyncio.iscoroutinefunction(session.execute)


async def test_bad_input_is_refused(store: Store) -> None:
    with pytest.raises(NotFoundError):
        await started(store, "child", "no-such-parent")
    with pytest.raises(InvalidArgsError):
        await started(store, "../evil")
    session = AmplifierSession({}, session_id="bare", store=store)
    with pytest.raises(RuntimeError, match="not initialized"):
        await session.execute("x")
    await session.initialize()
    with pytest.raises(RuntimeError, match="no orchestrator"):
        await session.execute("x")
