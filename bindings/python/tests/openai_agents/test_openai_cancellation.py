"""A caller that is cancelled knows that nothing changes any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from forklore import Store
from forklore.openai_agents import ForkloreSession

ITEM: Any = {"role": "user", "content": "once"}


class _Pausing(Store):
    """A store whose next write waits after it is done, and before its caller hears of it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.done, self.go_on = threading.Event(), threading.Event()
        self.verb: str | None = None

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        answer = super()._call(verb, request)
        if verb == self.verb:
            self.verb = None
            self.done.set()
            assert self.go_on.wait(60)
        return answer


Change = Callable[[ForkloreSession], Coroutine[Any, Any, Any]]


@pytest.mark.parametrize(
    ("verb", "change", "left"),
    [
        ("append", lambda session: session.add_items([ITEM]), [ITEM, ITEM]),
        ("append", lambda session: session.pop_item(), []),
        ("append", lambda session: session.clear_session(), []),
        ("fork", lambda session: session.create_branch_from_turn(1, "new"), []),
    ],
)
async def test_a_cancelled_change_has_happened(
    path: Path, verb: str, change: Change, left: list[Any]
) -> None:
    store = _Pausing(path)
    session = ForkloreSession("cancelled", store)
    await session.add_items([ITEM])
    store.verb = verb
    task = asyncio.ensure_future(change(session))
    assert await asyncio.to_thread(store.done.wait, 60)
    for _ in range(2):
        task.cancel("enough")
        await asyncio.sleep(0)
        assert not task.done()
    store.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await session.get_items() == left
    await session.add_items([ITEM])
    assert (await session.get_items())[-1] == ITEM


async def test_a_change_that_was_cancelled_before_its_turn_still_happens_in_order(path: Path) -> None:
    store = _Pausing(path)
    session = ForkloreSession("cancelled", store)
    await session.add_items([ITEM])
    store.verb = "append"
    first = asyncio.ensure_future(session.add_items([{"role": "user", "content": "first"}]))
    assert await asyncio.to_thread(store.done.wait, 60)
    second = asyncio.ensure_future(session.add_items([{"role": "user", "content": "second"}]))
    await asyncio.sleep(0)
    second.cancel()
    third = asyncio.ensure_future(session.add_items([{"role": "user", "content": "third"}]))
    await asyncio.sleep(0)
    store.go_on.set()
    await asyncio.gather(first, third)
    with pytest.raises(asyncio.CancelledError):
        await second
    contents = [item.get("content") for item in await session.get_items()]
    assert contents == ["once", "first", "second", "third"]
