"""Sessions as the session fork specification of Amplifier defines them.

::

    parent = AmplifierSession(config, loader, session_id="abc-123", store="sqlite:sessions.db")
    await parent.initialize()
    child = AmplifierSession(
        child_config, loader, session_id="abc-123-critic", parent_id="abc-123", store=parent.store
    )
    await child.initialize()                     # announces session:fork
    answer = await child.execute("Some task")
    await parent.cleanup(cascade_children=True)

The conversation of each session is a session of forklore. A child is a delegate of its parent: it has a
context of its own, and `tree` and `lineage` show it under the parent. What the configuration of a child
is, what modules do and how deep children may nest is up to the application.
"""

from __future__ import annotations

import asyncio
import fnmatch
import inspect
import os
import threading
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from typing import Any, Protocol, cast

from . import events, types
from ._store import Store
from .errors import AlreadyExistsError

Event = dict[str, Any]
"""An event: ``event``, ``session_id``, ``parent_id``, ``root_id``, ``ts`` and ``data``, and ``parent`` in
``session:fork``."""

Handler = Callable[[Event], Any]
"""What hears of events. It may be a coroutine function."""

Orchestrator = Callable[["AmplifierSession", str, list[types.Record]], Awaitable[str]]
"""What answers a prompt, given the session and the conversation before the prompt."""

ANNOUNCED = "x.amplifier.event"
"""The type of the stored form of an event. Forks do not inherit it, and no model sees it."""

_live: set[AmplifierSession] = set()
"""The sessions of this process that were initialized and not cleaned up."""
_lock = threading.Lock()


class ModuleLoader(Protocol):
    """Loads the modules that a configuration names."""

    async def load(self, module: str, config: dict[str, Any]) -> Any:
        """Return a module. That of the orchestrator is an :data:`Orchestrator`."""


class Denied(Exception):
    """Raised by a handler: what an event announces must not happen."""


class Hooks:
    """The handlers of a session's events."""

    def __init__(self) -> None:
        self._handlers: list[tuple[str, Handler]] = []

    def register(self, pattern: str, handler: Handler) -> Callable[[], None]:
        """Call a handler for each event whose name a pattern matches, such as ``tool:*``.

        Returns:
            A function that ends it.
        """
        entry = (pattern, handler)
        self._handlers.append(entry)

        def unregister() -> None:
            if entry in self._handlers:
                self._handlers.remove(entry)

        return unregister

    async def emit(self, event: Event) -> list[Exception]:
        """Call the handlers of an event in the order of their registration.

        Returns:
            The failures of handlers.

        Raises:
            Denied: A handler denies what the event announces.
        """
        failures: list[Exception] = []
        for pattern, handler in list(self._handlers):
            if fnmatch.fnmatchcase(event["event"], pattern):
                try:
                    result = handler(event)
                    if inspect.isawaitable(result):
                        await result
                except Denied:
                    raise
                except Exception as error:
                    failures.append(error)
        return failures


class AmplifierSession:
    """A session, or a child of another if it has a ``parent_id``."""

    def __init__(
        self,
        config: dict[str, Any],
        loader: ModuleLoader | None = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        *,
        store: Store | str | os.PathLike[str] | None = None,
        workspace: str | None = None,
    ) -> None:
        """Create a session in memory. :meth:`initialize` stores it.

        Args:
            config: Which modules the session has: the mount plan.
            loader: Loads them.
            session_id: The id. By default, a new one.
            parent_id: The parent; ``None`` for a session at the top.
            store: The store or its URL. Without it, the store of the program ``forklore``.
            workspace: The folder that the session belongs to. By default, the current folder.
        """
        self.config = config
        self.loader = loader
        self.session_id = session_id or str(uuid.uuid4())
        self.parent_id = parent_id
        self.root_id: str | None = None
        """The session at the top of the family, once the session is initialized."""
        self.store = store if isinstance(store, Store) else Store(store)
        self.hooks = Hooks()
        self.modules: dict[str, Any] = {}
        """The modules that were mounted, by their names."""
        self._workspace = os.path.abspath(workspace or os.getcwd())
        self._status = "completed"

    async def initialize(self) -> None:
        """Mount the modules, store the session, and announce it. A repeated call does nothing.

        A stored session with this id and this parent goes on.

        Raises:
            NotFoundError: There is no such parent.
            AlreadyExistsError: Another session has the id.
        """
        if self.root_id is not None:
            return
        for name, config in _modules(self.config):
            if self.loader is not None and name not in self.modules:
                self.modules[name] = await self.loader.load(name, config)
        header, is_new = await asyncio.to_thread(self._store)
        self.root_id = header["root_id"]
        with _lock:
            _live.add(self)
        if self.parent_id is not None and is_new:
            await self.emit("session:fork", {"parent": self.parent_id})
        await self.emit("session:start" if is_new else "session:resume", {})

    async def execute(self, prompt: str) -> str:
        """Run one turn: store the prompt, let the orchestrator answer, and store the answer.

        Raises:
            Denied: A handler of ``prompt:submit`` denies the turn. Nothing of it is stored.
            RuntimeError: The session was not initialized, or has no orchestrator.
        """
        orchestrator = self._orchestrator()
        await self.emit("prompt:submit", {"prompt": prompt})
        before = await asyncio.to_thread(lambda: list(self.store.replay(self.session_id)))
        await self._append(events.user(prompt))
        try:
            answer = await orchestrator(self, prompt, before)
        except BaseException as error:
            cancelled = isinstance(error, asyncio.CancelledError)
            self._status = "cancelled" if cancelled else "failed"
            await self._append(events.event("turn_failed", {"error": str(error) or self._status}))
            raise
        self._status = "completed"
        await self._append(events.assistant(answer))
        await self.emit("prompt:complete", {"response": answer})
        return answer

    async def fork(
        self, config: dict[str, Any] | None = None, session_id: str | None = None
    ) -> AmplifierSession:
        """Return an initialized child.

        Args:
            config: The child's configuration. By default, that of this session, as it is.
            session_id: The child's id. By default, this session's id and a new suffix.
        """
        child = AmplifierSession(
            self.config if config is None else config,
            self.loader,
            session_id or f"{self.session_id}-{uuid.uuid4().hex[:8]}",
            self.session_id,
            store=self.store,
            workspace=self._workspace,
        )
        await child.initialize()
        return child

    async def emit(self, name: str, data: dict[str, Any]) -> Event:
        """Announce an event to the handlers, and store it.

        A handler that fails is announced as ``hook:error``, and the event goes on.

        Raises:
            Denied: A handler denies what the event announces. It is not stored then.
            RuntimeError: The session was not initialized.
        """
        if self.root_id is None:
            raise RuntimeError(f"session {self.session_id} is not initialized")
        event: Event = {
            "event": name,
            "session_id": self.session_id,
            "parent_id": self.parent_id,
            "root_id": self.root_id,
            "ts": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
            "data": data,
        }
        if name == "session:fork":
            event["parent"] = self.parent_id
        failures = await self.hooks.emit(event)
        await self._append(events.event(ANNOUNCED, event))
        for failure in failures:
            if name != "hook:error":
                await self.emit("hook:error", {"hook_event": name, "error": str(failure)})
        return event

    async def cleanup(self, cascade_children: bool = False) -> None:
        """Announce the end of the session, and unmount its modules. The stored session remains.

        Args:
            cascade_children: Whether to clean up its children in this process first.
        """
        if cascade_children:
            with _lock:
                children = [one for one in _live if one.parent_id == self.session_id and one._shares(self)]
            for child in sorted(children, key=lambda one: one.session_id):
                await child.cleanup(cascade_children=True)
        with _lock:
            is_live = self in _live
            _live.discard(self)
        if is_live:
            await self.emit("session:end", {"status": self._status})
            for module in self.modules.values():
                closed = getattr(module, "cleanup", None)
                result = closed() if callable(closed) else None
                if inspect.isawaitable(result):
                    await result
            self.modules.clear()

    def _shares(self, other: AmplifierSession) -> bool:
        return self.store is other.store or self.store.location == other.store.location

    def _orchestrator(self) -> Orchestrator:
        if self.root_id is None:
            raise RuntimeError(f"session {self.session_id} is not initialized")
        name, _ = _module(self.config.get("session", {}).get("orchestrator"))
        found = self.modules.get(name)
        if found is None:
            raise RuntimeError(f"session {self.session_id} has no orchestrator")
        return cast(Orchestrator, found)

    def _store(self) -> tuple[types.Session, bool]:
        """Return the stored session, and whether it is new."""
        parent, config = self.parent_id, cast(Any, self.config)
        try:
            made = self.store.new(
                self._workspace, id=self.session_id, parent_session_id=parent, config=config
            )
            return made["session"], True
        except AlreadyExistsError:
            found = self.store.show(self.session_id)["session"]
            if found.get("parent_id") != parent:
                raise
            return found, False

    async def _append(self, event: types.NewEvent) -> None:
        await asyncio.to_thread(self.store.append, self.session_id, [event])


def _modules(config: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the modules that a mount plan names, each with its configuration."""
    session = config.get("session", {})
    named = [session.get("orchestrator"), session.get("context")]
    for kind in ("providers", "tools", "hooks"):
        named += config.get(kind, [])
    return [_module(one) for one in named if one is not None]


def _module(named: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(named, dict):
        fields = cast(dict[str, Any], named)
        return str(fields["module"]), cast(dict[str, Any], fields.get("config") or {})
    return str(named), {}
