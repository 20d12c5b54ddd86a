"""Another writer at the worst moment of a call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from forklore import Store
from forklore.openai_agents import ForkloreSession

QUESTION: Any = {"role": "user", "content": "question"}
ANSWER: Any = {"role": "assistant", "content": "answer"}
LATER: Any = {"role": "user", "content": "later"}

Change = Callable[[ForkloreSession], Coroutine[Any, Any, Any]]


class _Overtaken(Store):
    """A store in which something happens once, before the next delete."""

    happens: Callable[[], Any] | None = None

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        happens = self.happens
        if verb == "delete" and happens:
            self.happens = None
            happens()
        return super()._call(verb, request)


async def test_a_branch_that_goes_on_during_a_delete_is_deleted(path: Path) -> None:
    store = _Overtaken(path)
    session = ForkloreSession("races", store)
    await session.add_items([QUESTION, ANSWER])
    await session.create_branch_from_turn(1, "other")
    await session.add_items([QUESTION, ANSWER, LATER])
    await session.pop_item()
    await session.switch_to_branch("main")

    async def go_on() -> None:
        faster = ForkloreSession("races", path)
        await faster.switch_to_branch("other")
        assert await faster.pop_item() == ANSWER

    store.happens = lambda: asyncio.run(go_on())
    await session.delete_branch("other")
    assert [one["id"] for one in store.list()["sessions"]] == ["races"]
    assert await session.get_items() == [QUESTION, ANSWER]


def _after(session: ForkloreSession, name: str, calls: int, happens: Callable[[], Any]) -> None:
    """Let something happen after one of the next calls of a method, before its caller hears of it."""
    family: Any = session._family
    method = getattr(family, name)
    left = calls

    def overtaken() -> Any:
        nonlocal left
        answer = method()
        left -= 1
        if left == 0:
            happens()
        return answer

    setattr(family, name, overtaken)


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize(
    ("change", "method", "calls"),
    [
        (lambda session: session.get_items(), "generation", 1),
        (lambda session: session.switch_to_branch("a"), "generation", 2),
        (lambda session: session.clear_session(), "clear", 1),
    ],
)
async def test_a_call_that_was_overtaken_takes_no_branch_away(
    path: Path, change: Change, method: str, calls: int, is_new: bool
) -> None:
    session = ForkloreSession("races", path)
    await session.add_items([QUESTION, ANSWER])
    await session.create_branch_from_turn(1, "a")
    await session.add_items([QUESTION])
    await session.switch_to_branch("main")
    if is_new:
        session = ForkloreSession("races", path)

    async def clear_and_branch() -> None:
        await session.clear_session()
        await session.add_items([QUESTION, ANSWER])
        await session.create_branch_from_turn(1, "b")

    _after(session, method, calls, lambda: asyncio.run(clear_and_branch()))
    await change(session)
    assert session.branch == "b"
    await session.add_items([LATER])
    assert await session.get_items(branch_id="b") == [LATER]
    assert await session.get_items(branch_id="main") == [QUESTION, ANSWER]
