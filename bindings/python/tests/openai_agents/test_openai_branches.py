"""Branches are sessions of forklore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import forklore
from forklore import AlreadyExistsError, NotFoundError
from forklore.openai_agents import ForkloreSession

ITEMS: list[Any] = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "first"},
    {"role": "user", "content": "two"},
    {"role": "assistant", "content": "second"},
]


async def _session(path: Path, session_id: str = "trip") -> ForkloreSession:
    session = ForkloreSession(session_id, path)
    await session.add_items(ITEMS)
    return session


async def test_a_branch_is_a_session_with_a_parent(path: Path) -> None:
    session = await _session(path)
    assert await session.create_branch_from_turn(2, "cheap") == "cheap"
    child = await session.forklore_session_id()
    assert child is not None
    header = session.store.show(child)["session"]
    assert (header["parent_id"], header["label"], header["title"]) == ("trip", "cheap", "trip: cheap")
    assert header["cut"] is not None and header["cut"]["turn"] == 1
    assert header["own_events"] == 1
    named = {"session": "trip", "branch": "cheap", "generation": 0}
    assert header["metadata"] == {"openai_agents": named}


async def test_a_branch_from_the_first_turn_retains_what_precedes_it(path: Path) -> None:
    session = ForkloreSession("trip", path)
    system: Any = {"role": "system", "content": "Be brief."}
    await session.add_items([system, *ITEMS])
    await session.create_branch_from_turn(1, "again")
    assert await session.get_items() == [system]


async def test_branches_are_compared(path: Path) -> None:
    session = await _session(path)
    await session.create_branch_from_turn(2, "cheap")
    await session.add_items([{"role": "user", "content": "cheaper"}])
    difference = await session.compare_branches("main", "cheap")
    assert difference["common"] == 2
    assert [record["content"] for record in difference["only_a"]] == ["two", "second"]
    assert [record["content"] for record in difference["only_b"]] == ["cheaper"]
    with pytest.raises(ValueError, match="'nowhere' does not exist"):
        await session.compare_branches("main", "nowhere")


async def test_open_calls_are_not_answered_by_a_branch(path: Path) -> None:
    session = ForkloreSession("trip", path)
    call: Any = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    await session.add_items([ITEMS[0], call, ITEMS[2]])
    await session.create_branch_from_turn(2, "open")
    assert await session.get_items() == [ITEMS[0], call]


@pytest.mark.parametrize("name", ["a b", "ü", "Main", "last", "x" * 300, "a/../b", "main.1"])
async def test_a_name_is_any_text(path: Path, name: str) -> None:
    session = await _session(path)
    await session.create_branch_from_turn(2, name)
    assert {one["branch_id"] for one in await session.list_branches()} == {"main", name}
    other = ForkloreSession("trip", path)
    await other.switch_to_branch(name)
    assert await other.get_items() == ITEMS[:2]


async def test_a_deleted_branch_goes_to_the_trash_and_its_children_remain(path: Path) -> None:
    session = await _session(path)
    await session.create_branch_from_turn(2, "one")
    await session.add_items([{"role": "user", "content": "two, again"}])
    await session.pop_item()
    await session.add_items([{"role": "user", "content": "two, once more"}])
    deleted = await session.forklore_session_id()
    assert deleted is not None
    await session.create_branch_from_turn(2, "two")
    await session.delete_branch("one")
    assert {one["branch_id"] for one in await session.list_branches()} == {"main", "two"}
    assert await session.get_items(branch_id="one") == []
    assert await session.get_items() == ITEMS[:2]
    session.store.undelete(deleted)
    assert session.store.show(deleted)["session"]["head_index"] == 3
    assert session.store.verify()["problems"] == []


async def test_a_branch_that_another_object_deleted_takes_no_items(path: Path) -> None:
    session = await _session(path)
    await session.create_branch_from_turn(2, "gone")
    await ForkloreSession("trip", path).delete_branch("gone")
    with pytest.raises(NotFoundError, match="'gone' was deleted"):
        await session.add_items([ITEMS[0]])
    assert await session.get_items(branch_id="main") == ITEMS


async def test_ids_that_differ_in_case_or_form_are_different_sessions(path: Path) -> None:
    names = ["trip", "Trip", "TRIP", "trip.x", "oa-trip", "last", " ", "ü", "ü" * 5000, "../trip"]
    for name in names:
        await ForkloreSession(name, path).add_items([{"role": "user", "content": name}])
    for name in names:
        session = ForkloreSession(name, path)
        assert await session.get_items() == [{"role": "user", "content": name}]
        found = await session.forklore_session_id()
        assert found is not None
        title = session.store.show(found)["session"]["title"]
        assert title is not None and name.startswith(title) and len(title) == min(len(name), 250)
    with pytest.raises(ValueError, match="empty"):
        ForkloreSession("", path)


async def test_a_session_of_another_agent_goes_on(path: Path) -> None:
    with forklore.open(path) as store:
        plan = store.new(workspace="/work/demo")["session"]["id"]
        call = forklore.tool_call("c1", "read", {"path": "a.txt"})
        result = forklore.tool_result("c1", "text")
        thought = forklore.event("reasoning", {"content": "hm"})
        store.append(plan, [forklore.user("go"), thought, call, result, forklore.assistant("done")])
    session = ForkloreSession(plan, path)
    expected: list[Any] = [
        {"role": "user", "content": "go"},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path": "a.txt"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "text"},
        {"role": "assistant", "content": "done"},
    ]
    assert await session.get_items() == expected
    assert await session.get_items(2) == expected[-2:]
    await session.add_items([ITEMS[0]])
    assert await session.pop_item() == ITEMS[0]
    assert await session.pop_item() == expected[-1]
    assert await session.get_items() == expected[:-1]


async def test_a_message_with_several_calls_loses_only_the_last_item(path: Path) -> None:
    with forklore.open(path) as store:
        store.new(workspace="/work/demo", id="calls")
        text = {"type": "text", "text": "now"}
        call = {"type": "tool_call", "id": "c1", "name": "read", "arguments": {}}
        store.append("calls", [forklore.assistant([text, call])])
    session = ForkloreSession("calls", path)
    popped = await session.pop_item()
    assert popped is not None and popped.get("call_id") == "c1"
    assert await session.get_items() == [{"role": "assistant", "content": "now"}]


async def test_a_session_in_the_trash_is_not_created_again(path: Path) -> None:
    session = await _session(path)
    session.store.delete("trip")
    with pytest.raises((NotFoundError, AlreadyExistsError), match="deleted"):
        await ForkloreSession("trip", path).add_items(ITEMS)


async def test_a_closed_session_refuses_everything(path: Path) -> None:
    session = await _session(path)
    session.close()
    for call in (
        session.get_items(),
        session.add_items([]),
        session.pop_item(),
        session.clear_session(),
        session.create_branch_from_turn(1),
        session.switch_to_branch("main"),
        session.delete_branch("x"),
        session.list_branches(),
        session.get_conversation_turns(),
        session.get_turn_usage(),
        session.get_session_usage(),
    ):
        with pytest.raises(RuntimeError, match="ForkloreSession is closed"):
            await call
