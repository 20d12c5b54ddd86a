"""The kernel: what the sessions of a process share."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._aio import AsyncStore
from .._native import AgentKernel, Work
from .._store import Store
from ..errors import InvalidArgsError
from .callables import Callables, HookCallables, Listener, Notified
from .equipment import Equipment
from .hooks import methods_of, name_of
from .running import Done, awaited
from .scopes import Scope, Scopes
from .models import Model
from .session import Home, Session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .equipment import Parts


class Kernel:
    """Runs the turns of sessions, with any model and any tools.

    Sessions may run at the same time, on several event loops. A session that forks shares the history
    with its child. Leave the kernel's context to end its sessions::

        async with agent.Kernel(store) as kernel:
            session = await kernel.create(model=model, tools=[read_file])
            turn = await session.execute("plan A or plan B?")
    """

    def __init__(
        self,
        store: Store | AsyncStore,
        *,
        hooks: Sequence[object] = (),
        listener: Listener | None = None,
        application: str = "forklore",
    ) -> None:
        """Make a kernel over a store.

        Args:
            store: The open store. Close it after the kernel.
            hooks: Objects with methods of :class:`Hook`, which decide about operations of all sessions.
            listener: A function that gets every notification of every session as a dictionary, in order,
                on the event loop that awaits the turn. It must not block.
            application: The application's name. Another process that finds a session running shows it.

        Raises:
            InvalidArgsError: A hook has no method of a hook, or the listener is a coroutine function.
        """
        store = store.store if isinstance(store, AsyncStore) else store
        self._home = Home(Scopes(), weakref.WeakSet())
        if listener is not None and inspect.iscoroutinefunction(listener):
            raise InvalidArgsError(
                "the listener is a coroutine function, for which no turn could wait",
                next_actions=["pass a function, for example the put_nowait of a queue"],
            )
        described = [self._hook(hook) for hook in hooks]
        notified = Notified(listener, self._home.scopes)
        self._callables: list[Notified | HookCallables] = [notified, *(one[0] for one in described)]
        self._is_closed = False
        self._native = AgentKernel(
            store._connection,  # pyright: ignore[reportPrivateUsage]
            described,
            notified,
            listener is not None,
            application,
        )

    def _hook(self, hook: object) -> tuple[HookCallables, str, int, set[str]]:
        methods = methods_of(hook)
        if not methods:
            raise InvalidArgsError(f"{hook!r} has no method of a hook")
        priority: int = getattr(hook, "priority", 0)
        return HookCallables(hook, self._home.scopes), name_of(hook), priority, methods

    async def create(
        self,
        workspace: str | os.PathLike[str] = ".",
        *,
        model: Model,
        id: str | None = None,
        parent_id: str | None = None,
        label: str | None = None,
        title: str | None = None,
        permissions: Sequence[str] | None = None,
        principal: str | None = None,
        metadata: Any = None,
        config: Any = None,
        **equipment: Unpack[Parts],
    ) -> Session:
        """Create a session in the store.

        Args:
            workspace: The folder that the session belongs to.
            model: The model that answers: :class:`HttpModel`, :class:`FunctionModel` or a function.
            id: The session's id. The default is a new one.
            parent_id: The parent, if the session is a sub-agent's, with a context of its own. To inherit
                the history of a session, use :meth:`Session.fork`.
            label: The session's label, unique in its family.
            title: The session's title.
            permissions: The permissions that the session can have. The default is no limit.
            principal: The person for whom the session acts.
            metadata: Data of the application, stored with the session.
            config: Configuration of the application, stored with the session.
            equipment: The tools and whatever else the session works with.

        Raises:
            AlreadyExistsError: Another session has the id or the label.
            NotFoundError: The parent does not exist.
            PermissionDeniedError: A hook denies the session, or the model's key is missing.
        """
        new = {
            "workspace": os.path.abspath(workspace),
            "id": id,
            "parent_id": parent_id,
            "label": label,
            "title": title,
            "permissions": None if permissions is None else list(permissions),
            "principal": principal,
            "metadata": metadata,
            "config": config,
        }
        self._check_open()
        callables = Callables(Equipment(model=model, **equipment), Scope())
        native = await asyncio.to_thread(
            self._native.create, json.dumps(new, allow_nan=False), callables.equipment.written(), callables
        )
        session = Session(native, callables, self._home)
        await session.initialize()
        return session

    async def open(
        self, session_id: str, *, model: Model, **equipment: Unpack[Parts]
    ) -> Session:
        """Open an existing session: of this process, of another one, or an imported one.

        Args:
            session_id: The session's id.
            model: The model that answers from now on.
            equipment: The tools and whatever else the session works with.

        Raises:
            NotFoundError: There is no such session.
        """
        self._check_open()
        callables = Callables(Equipment(model=model, **equipment), Scope())
        written = callables.equipment.written()
        native, _ = await awaited(
            lambda done: self._native.open(session_id, written, callables, done)
        )
        return Session(native, callables, self._home)

    def _check_open(self) -> None:
        if self._is_closed:
            raise InvalidArgsError("the kernel was closed", next_actions=["make another kernel"])

    async def close(self) -> None:
        """End the sessions that were created and opened here, with their children."""
        self._is_closed = True
        for session in list(self._home.sessions):
            await session.cleanup(cascade_children=True)
        self._home.sessions.clear()
        settle: Callable[[Done], Work] = self._native.settle
        await awaited(settle, waits=False)
        for callables in self._callables:
            callables.release()

    async def __aenter__(self) -> Kernel:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
