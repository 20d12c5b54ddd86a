"""Taking items back: the branch goes on in a fork, everywhere and for ever."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import forklore
from forklore import ForkloreError, Store
from forklore.errors import InternalError, NotFoundError, PermissionDeniedError
from forklore.openai_agents import ForkloreSession

QUESTION: Any = {"role": "user", "content": "question"}
ANSWER: Any = {"role": "assistant", "content": "answer"}

OTHER_PROCESS = """
import asyncio, json, sys
from forklore.openai_agents import ForkloreSession
session = ForkloreSession(sys.argv[2], sys.argv[1])
print(json.dumps(asyncio.run(session.get_items())))
"""


def test_another_process_sees_what_was_popped(path: Path) -> None:
    session = ForkloreSession("heads", path)
    asyncio.run(session.add_items([QUESTION, ANSWER]))
    assert asyncio.run(session.pop_item()) == ANSWER
    command = [sys.executable, "-c", OTHER_PROCESS, str(path), "heads"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '[{"role": "user", "content": "question"}]'


async def test_nothing_is_lost(path: Path) -> None:
    session = ForkloreSession("heads", path)
    await session.add_items([QUESTION, ANSWER])
    await session.pop_item()
    await session.clear_session()
    assert await session.get_items() == []
    contents = [record["content"] for record in session.store.replay("heads")]
    assert contents == ["question", "answer"]
    assert session.store.verify()["problems"] == []


async def test_items_are_popped_to_the_first_and_the_session_goes_on(path: Path) -> None:
    session = ForkloreSession("heads", path)
    assert await session.pop_item() is None
    await session.add_items([QUESTION, ANSWER])
    assert [await session.pop_item() for _ in range(3)] == [ANSWER, QUESTION, None]
    await session.add_items([ANSWER])
    assert await ForkloreSession("heads", path).get_items() == [ANSWER]


async def test_the_head_is_found_in_the_same_number_of_calls_after_many_moves(path: Path) -> None:
    session = ForkloreSession("heads", path)
    await session.add_items([QUESTION] * 40)
    counts = []
    for moves in (1, 30):
        for _ in range(moves):
            await session.pop_item()
        store = _Counting(path)
        await ForkloreSession("heads", store).get_items(1)
        counts.append(store.calls)
    assert counts[0] == counts[1]


class _Counting(Store):
    """A store that counts the calls of verbs."""

    calls = 0

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        self.calls += 1
        return super()._call(verb, request)

    def _rows(self, verb: str, request: dict[str, Any]) -> Any:
        self.calls += 1
        return super()._rows(verb, request)


class _Failing(Store):
    """A store whose append to one session fails, as if the process died before it."""

    victim: str | None = None
    refusals = 0
    error: ForkloreError = ForkloreError("the process died")

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        if verb == "append" and request["session_id"] == self.victim:
            self.refusals += 1
            raise self.error
        return super()._call(verb, request)


async def test_the_head_is_found_without_the_copy_of_a_pointer(path: Path) -> None:
    store = _Failing(path)
    session = ForkloreSession("heads", store)
    await session.add_items([QUESTION, ANSWER, QUESTION])
    await session.pop_item()
    store.victim = "heads"
    await session.pop_item()
    assert store.refusals == 1
    assert await ForkloreSession("heads", path).get_items() == [QUESTION]


async def test_a_move_that_is_refused_changes_nothing(path: Path) -> None:
    store = _Failing(path)
    session = ForkloreSession("heads", store)
    await session.add_items([QUESTION, ANSWER])
    store.victim, store.error = "heads", PermissionDeniedError("not yours")
    for change in (session.pop_item, session.clear_session):
        with pytest.raises(PermissionDeniedError, match="not yours"):
            await change()
    assert await session.get_items() == [QUESTION, ANSWER]
    assert [one["session_id"] for one in store.branches("heads")["branches"]] == ["heads"]


async def test_a_move_that_fails_changes_no_items(path: Path) -> None:
    store = _Failing(path)
    session = ForkloreSession("heads", store)
    await session.add_items([QUESTION, ANSWER])
    store.victim = "heads"
    for change in (session.pop_item, session.clear_session):
        with pytest.raises(ForkloreError, match="died"):
            await change()
    assert await session.get_items() == [QUESTION, ANSWER]
    assert len(await session.list_branches()) == 1
    # It is uncertain whether a pointer leads to them, so they remain.
    assert len(store.branches("heads")["branches"]) == 3


class _Losing(Store):
    """A store that stores an event that leads to a fork, and whose next answers are lost."""

    losses = 0

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        answer = super()._call(verb, request)
        events = request["batch"]["events"] if verb == "append" else []
        if self.losses and any(event["type"] == "x.openai.moved" for event in events):
            self.losses -= 1
            raise InternalError("the connection ended, and it is not known whether it was")
        return answer


@pytest.mark.parametrize("losses", [1, 9])
@pytest.mark.parametrize("change", ["pop_item", "clear_session", "add_items"])
async def test_a_lost_answer_loses_no_conversation(path: Path, change: str, losses: int) -> None:
    store = _Losing(path)
    session = ForkloreSession("heads", store)
    await session.add_items([QUESTION, ANSWER])
    many: list[Any] = [QUESTION] * 10_001
    after = {"pop_item": [QUESTION], "clear_session": [], "add_items": [QUESTION, ANSWER, *many]}
    expected: list[Any] = after[change]
    store.losses = losses
    arguments = [many] if change == "add_items" else []
    if losses == 1:
        await getattr(session, change)(*arguments)
    else:
        with pytest.raises(InternalError, match="not known"):
            await getattr(session, change)(*arguments)
    store.losses = 0
    for one in (session, ForkloreSession("heads", path)):
        assert await one.get_items() == expected
    await session.add_items([ANSWER])
    assert await ForkloreSession("heads", path).get_items() == [*expected, ANSWER]


async def test_a_fork_without_a_pointer_is_no_branch(path: Path) -> None:
    session = ForkloreSession("heads", path)
    await session.add_items([QUESTION, ANSWER])
    session.store.fork("heads", at="index:1", id="heads.h-0123456789abcdef")
    assert await session.get_items() == [QUESTION, ANSWER]
    assert len(await session.list_branches()) == 1


async def test_what_others_append_after_a_pointer_does_not_bring_the_past_back(path: Path) -> None:
    session = ForkloreSession("heads", path)
    await session.add_items([QUESTION, ANSWER])
    await session.pop_item()
    many = [forklore.user(f"late {number}") for number in range(50)]
    session.store.append("heads", many)
    assert await session.get_items() == [QUESTION]
    assert await ForkloreSession("heads", path).get_items() == [QUESTION]


async def test_a_large_batch_is_stored_whole_or_not_at_all(path: Path) -> None:
    store = _Failing(path)
    session = ForkloreSession("heads", store)
    await session.add_items([QUESTION])
    items: list[Any] = [{"role": "user", "content": str(number)} for number in range(20_500)]
    store.victim = "heads"
    with pytest.raises(ForkloreError, match="died"):
        await session.add_items(items)
    store.victim = None
    assert await session.get_items() == [QUESTION]
    await session.add_items(items)
    assert await ForkloreSession("heads", path).get_items() == [QUESTION, *items]


def _calls(session: ForkloreSession) -> list[Any]:
    return [
        session.get_items(),
        session.add_items([QUESTION]),
        session.pop_item(),
        session.clear_session(),
        session.list_branches(),
        session.create_branch_from_turn(1, "other"),
    ]


@pytest.mark.parametrize("deleted", ["root", "head"])
async def test_a_session_in_the_trash_says_so_until_it_comes_back(path: Path, deleted: str) -> None:
    session = ForkloreSession("heads", path)
    await session.add_items([QUESTION, ANSWER])
    await session.pop_item()
    head = await session.forklore_session_id()
    assert head is not None and head != "heads"
    gone = head if deleted == "head" else "heads"
    session.store.delete(gone, mode="detach_children")
    # An object that has read before where the items are still finds them without the root.
    opened = [ForkloreSession("heads", path), *([session] if deleted == "head" else [])]
    for one in opened:
        for call in _calls(one):
            with pytest.raises(NotFoundError, match=f"session {gone},? (which )?was deleted") as raised:
                await call
            assert raised.value.next_actions == ["undelete the session"]
    session.store.undelete(gone)
    assert await session.get_items() == [QUESTION]
    await session.add_items([ANSWER])
    assert await ForkloreSession("heads", path).get_items() == [QUESTION, ANSWER]


async def test_an_erased_head_is_named_with_what_was_before(path: Path) -> None:
    session = ForkloreSession("heads", path)
    await session.add_items([QUESTION, ANSWER])
    await session.create_branch_from_turn(1, "other")
    await session.add_items([ANSWER])
    await session.switch_to_branch("main")
    await session.pop_item()
    head = await session.forklore_session_id()
    assert head is not None
    session.store.delete(head, erase=True)
    for call in _calls(session):
        with pytest.raises(NotFoundError, match=f"{head}, which was erased; what was before is in session heads"):
            await call
    assert await session.get_items(branch_id="other") == [ANSWER]
    fork = session.store.fork("heads", at="index:2")["child_session_id"]
    assert await ForkloreSession(fork, path).get_items() == [QUESTION, ANSWER]


async def test_a_branch_whose_head_was_erased_can_be_deleted(path: Path) -> None:
    session = ForkloreSession("heads", path)
    await session.add_items([QUESTION, ANSWER])
    await session.create_branch_from_turn(1, "other")
    await session.add_items([QUESTION, ANSWER])
    await session.pop_item()
    head = await session.forklore_session_id()
    assert head is not None
    session.store.delete(head, erase=True)
    with pytest.raises(NotFoundError, match="erased"):
        await session.list_branches()
    await session.switch_to_branch("main")
    await session.delete_branch("other")
    assert [one["branch_id"] for one in await session.list_branches()] == ["main"]


async def test_a_session_that_was_left_may_be_deleted(path: Path) -> None:
    session, other = ForkloreSession("heads", path), ForkloreSession("heads", path)
    await session.add_items([QUESTION, ANSWER, QUESTION])
    await session.pop_item()
    left = await other.forklore_session_id()
    assert left is not None and await other.get_items() == [QUESTION, ANSWER]
    await session.pop_item()
    session.store.delete(left, mode="detach_children")
    await other.add_items([ANSWER])
    assert await session.get_items() == [QUESTION, ANSWER]
