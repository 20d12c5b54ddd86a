"""Work that the kernel's threads start on an event loop, and work of the kernel that a loop awaits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from .._native import Reply, Work
from ..errors import InterruptedCallError
from .scopes import Awaiting

Finish = Callable[["asyncio.Task[str]"], None]
"""Receives the task when it has ended."""


class Running:
    """Work that a thread of the kernel started on an event loop."""

    def __init__(
        self, awaiting: Awaiting | None, work: Callable[[], Coroutine[Any, Any, str]], finish: Finish
    ) -> None:
        """Start work. Returns at once.

        Raises:
            InterruptedCallError: No event loop awaits the session.
        """
        if awaiting is None:
            raise InterruptedCallError("no event loop awaits the session any more")
        self._loop = awaiting.loop
        self._context = awaiting.context
        self._work = work
        self._finish = finish
        self._task: asyncio.Task[str] | None = None
        self._loop.call_soon_threadsafe(self._begin, context=awaiting.context)

    def _begin(self) -> None:
        self._task = self._loop.create_task(self._work())
        self._task.add_done_callback(self._finish)

    def cancel(self) -> None:
        """Cancel the work, from any thread. Returns at once."""
        # A closed loop has no task to cancel.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


def answering(reply: Reply) -> Finish:
    """Return what answers the kernel with the result of a task."""

    def finish(task: asyncio.Task[str]) -> None:
        if task.cancelled():
            reply.fail("it was cancelled")
        elif (error := task.exception()) is not None:
            reply.fail(described(error))
        else:
            reply.answer(task.result())

    return finish


def described(error: BaseException) -> str:
    """Return an exception in one line."""
    name = type(error).__name__
    return f"{name}: {error}" if str(error) else name


Done = Callable[[Any, "BaseException | None"], None]
"""Receives the result of the kernel's work, or its exception. Any thread may call it."""


async def awaited(start: Callable[[Done], Work], *, waits: bool = True) -> Any:
    """Start work of the kernel and return its result.

    If the task is cancelled, the work is interrupted. With ``waits``, the cancellation goes on when the
    work has ended: then the session can be used again.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def done(result: Any, error: BaseException | None) -> None:
        # The loop was closed if nobody waits for the result any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, future, result, error)

    work = start(done)
    try:
        await asyncio.wait([future])
    except asyncio.CancelledError:
        work.interrupt()
        while waits and not future.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([future])
        raise
    return future.result()


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
        # After a cancellation nobody asks for it, and that is no mistake.
        future.exception()
