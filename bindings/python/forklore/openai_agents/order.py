"""Changes of a session in the order in which they were requested, on any event loop."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Order:
    """Runs changes one after the other.

    A change takes its turn when :meth:`run` is called. The changes may be requested on different event
    loops. A change that fails, or whose loop ends before it began, lets the next one begin.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: Future[None] | None = None

    def run(self, work: Callable[..., T], *args: Any) -> asyncio.Task[T]:
        """Call blocking ``work`` in a thread, after all earlier changes."""
        turn = _Turn()
        with self._lock:
            before, self._last = self._last, turn.ended

        async def in_turn() -> T:
            if before is not None:
                await asyncio.wrap_future(before)
            return await asyncio.to_thread(turn.of(work), *args)

        task = asyncio.ensure_future(in_turn())
        task.add_done_callback(turn.skip)
        return task


class _Turn:
    """The turn of one change. It ends when the work ends, or when it is certain that it never begins."""

    def __init__(self) -> None:
        self.ended: Future[None] = Future()
        self._lock = threading.Lock()
        self._is_used = False

    def of(self, work: Callable[..., T]) -> Callable[..., T]:
        """Return ``work`` as the work of this turn."""

        @functools.wraps(work)
        def used(*args: Any) -> T:
            if not self._use():
                raise asyncio.CancelledError
            try:
                return work(*args)
            finally:
                self.ended.set_result(None)

        return used

    def skip(self, _: Any) -> None:
        """End the turn if its work has not begun. It then never begins."""
        if self._use():
            self.ended.set_result(None)

    def _use(self) -> bool:
        with self._lock:
            is_first, self._is_used = not self._is_used, True
            return is_first


async def settled(work: Awaitable[T]) -> T:
    """Wait until a change has ended, also if the caller is cancelled meanwhile.

    A caller that is cancelled can then rely on it that nothing changes any more.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # Marks a failure as seen, so that asyncio does not report it again.
    raise cancelled
