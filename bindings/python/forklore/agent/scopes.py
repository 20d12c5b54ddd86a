"""Where the Python code of sessions runs: on the event loops that await their work."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import weakref
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Awaiting(NamedTuple):
    """An event loop that awaits work of a session, and the context variables of the task that does."""

    loop: asyncio.AbstractEventLoop
    context: contextvars.Context


class Scope:
    """The event loops that await work of one session now."""

    def __init__(self) -> None:
        self._awaiting: list[Awaiting] = []
        self._lock = threading.Lock()

    @contextmanager
    def entered(self) -> Generator[None]:
        """Run the session's Python code on the running event loop meanwhile."""
        awaiting = Awaiting(asyncio.get_running_loop(), contextvars.copy_context())
        with self._lock:
            self._awaiting.append(awaiting)
        try:
            yield
        finally:
            with self._lock:
                # By identity: two tasks may have equal contexts.
                self._awaiting[:] = [other for other in self._awaiting if other is not awaiting]

    def current(self) -> Awaiting | None:
        """Return where the session's Python code runs, or None if no loop awaits work of it."""
        awaiting = self._awaiting[-1:]
        return awaiting[0] if awaiting else None


class Scopes:
    """The scopes of a kernel's sessions, by id.

    A sub-agent that the kernel made has no scope of its own: its code runs where that of its parent
    does, because the parent waits for it.
    """

    def __init__(self) -> None:
        self._scopes: weakref.WeakValueDictionary[str, Scope] = weakref.WeakValueDictionary()
        self._parents: dict[str, str] = {}

    def add(self, session_id: str, scope: Scope) -> None:
        """Record the scope of a session."""
        self._scopes[session_id] = scope

    def learn(self, session_id: str, parent_id: str) -> None:
        """Record the parent of a session."""
        self._parents[session_id] = parent_id

    def forget(self, session_id: str) -> None:
        """Forget the parent of a session that has ended."""
        self._parents.pop(session_id, None)

    def _above(self, session_id: str, parent_id: str | None) -> Iterator[str]:
        """Yield a session and its ancestors, as far as they are recorded."""
        yield session_id
        next_id = parent_id or self._parents.get(session_id)
        seen = {session_id}
        while next_id is not None and next_id not in seen:
            yield next_id
            seen.add(next_id)
            next_id = self._parents.get(next_id)

    def of(self, session_id: str, parent_id: str | None = None) -> Awaiting | None:
        """Return where Python code runs that concerns a session, or None if no loop awaits it."""
        for one in self._above(session_id, parent_id):
            scope = self._scopes.get(one)
            awaiting = scope.current() if scope else None
            if awaiting is not None and not awaiting.loop.is_closed():
                return awaiting
        return None
