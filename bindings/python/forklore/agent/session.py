"""A session that can run turns."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import types
from .._native import AgentSession, Work
from .._json import given
from ..errors import InvalidArgsError
from .callables import Callables
from .context import delegate_of
from .running import Done, awaited
from .scopes import Scope, Scopes
from .turn import Turn, turn_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .equipment import Budget, Changes, Equipment


class Home(NamedTuple):
    """The sessions of a kernel."""

    scopes: Scopes
    sessions: weakref.WeakSet[Session]


class Session:
    """A session that can run turns, one at a time. A :class:`Kernel` creates and opens sessions.

    If a task that awaits a turn is cancelled, the turn is interrupted: what the model wrote so far is
    stored, calls that run are cancelled and answered, and then the cancellation goes on. The session can
    be used again at once.
    """

    def __init__(self, native: AgentSession, callables: Callables, home: Home) -> None:
        """Used by the kernel."""
        self._native = native
        self._callables = callables
        self._home = home
        home.scopes.add(native.id, callables.scope)
        home.sessions.add(self)

    @property
    def id(self) -> str:
        """The session's id. It changes if a turn goes on in a fork (``Turn.moved_from``)."""
        return self._native.id

    @property
    def parent_id(self) -> str | None:
        """The id of the session's parent; None for a root."""
        return self._native.parent_id

    @property
    def root_id(self) -> str:
        """The id of the root of the session's family."""
        return self._native.root_id

    @property
    def is_running(self) -> bool:
        """Whether a turn or other work of the session runs in this process."""
        return self._native.is_running

    @property
    def equipment(self) -> Equipment:
        """What the session works with."""
        return self._callables.equipment

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    async def initialize(self) -> None:
        """Create the session in the store, once. :meth:`Kernel.create` has done it.

        Raises:
            PermissionDeniedError: A hook denies the session, or the model's key is missing.
            AlreadyExistsError: Another session has the id or the label.
            NotFoundError: The parent does not exist.
        """
        await self._run(self._native.initialize)

    async def execute(
        self, prompt: str, *, parts: Sequence[types.Part] | None = None
    ) -> Turn:
        """Run a turn: store the prompt, call the model, and execute its calls until it makes none.

        Args:
            prompt: The text of the prompt.
            parts: Further parts of it, such as attachments that are in the store.

        Raises:
            BusyError: A turn of the session runs, here or in another process.
            PermissionDeniedError: A hook denies the prompt or a request.
            ForkloreError: The model does not answer. Its kind and details say why; if a Python model
                raised an exception, that is the cause. The log has what was answered before.
        """
        try:
            written = json.dumps({"text": prompt, "parts": list(parts or [])}, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArgsError(f"the prompt has no form in JSON: {error}") from error
        return turn_of(await self._run(lambda done: self._native.execute(written, done)))

    async def resume(self) -> Turn:
        """Continue a turn that was interrupted or broke off, also in another process.

        Raises:
            InvalidArgsError: The last turn is complete.
            ForkloreError: As for :meth:`execute`.
        """
        return turn_of(await self._run(self._native.resume))

    async def fork(
        self,
        at: str | None = None,
        *,
        id: str | None = None,
        label: str | None = None,
        title: str | None = None,
        summarize: bool = False,
        permissions: Sequence[str] | None = None,
        workspace: str | os.PathLike[str] | None = None,
        metadata: Any = None,
        config: Any = None,
        tool_calls: types.ToolCallPolicy | None = None,
        **changes: Unpack[Changes],
    ) -> Session:
        """Create another continuation of this session, at any position, also while a turn runs.

        Args:
            at: The position, such as ``turn:1``. The default is the end, or, while a turn runs, the
                end of the turn before it.
            id: The child's id. The default is a new one.
            label: The child's label, unique in its family.
            title: The child's title.
            summarize: Whether the model writes a summary of the history for the child.
            permissions: The child's permissions, of those of this session.
            workspace: The child's folder. The default is this session's.
            metadata: Data of the application, stored with the child.
            config: Configuration of the application, stored with the child.
            tool_calls: What happens to calls that have no result at the position.
            changes: What the child works with, where that is not what this session works with.

        Raises:
            InvalidArgsError: There is no such position.
            AlreadyExistsError: Another session has the id or the label.
            PermissionDeniedError: A hook denies the fork.
        """
        fields = given(
            {
                "at": at,
                "id": id,
                "label": label,
                "title": title,
                "permissions": None if permissions is None else list(permissions),
                "workspace": None if workspace is None else os.path.abspath(workspace),
                "metadata": metadata,
                "config": config,
                "tool_calls": tool_calls,
            }
        )
        request = json.dumps({"parent_session_id": self.id, **fields}, allow_nan=False)
        callables = Callables(self.equipment.with_changes(changes), Scope())
        equipped = (callables.equipment.written(), callables)
        child, _ = await self._run(
            lambda done: self._native.fork(request, equipped, summarize, done)
        )
        return Session(child, callables, self._home)

    async def delegate(
        self,
        task: str,
        *,
        agent: str | None = None,
        resume: str | None = None,
        title: str | None = None,
        permissions: Sequence[str] | None = None,
        budget: Budget | None = None,
        **changes: Unpack[Changes],
    ) -> Turn:
        """Let a sub-agent do a task between turns. The model sees its result in the next turn.

        A tool delegates with :meth:`ToolContext.delegate`, and ``delegates`` of the equipment lets the
        model do it.

        Args:
            task: The task, the sub-agent's prompt.
            agent: The sub-agent's name, for people.
            resume: The id of an existing sub-agent of this session, which gets the task.
            title: The title of the sub-agent's session.
            permissions: The permissions of the sub-agent, of those of this session.
            budget: The budget of its turn.
            changes: What the sub-agent works with, where that is not what this session works with.

        Raises:
            BusyError: A turn of the session runs.
            ForkloreError: The sub-agent was denied, or its turn failed.
        """
        written = delegate_of(
            task, agent=agent, resume=resume, title=title, permissions=permissions, budget=budget
        )
        config, callables = self._callables.for_delegate(changes)
        return turn_of(
            await self._run(lambda done: self._native.delegate(written, config, callables, done))
        )

    async def compact(self) -> dict[str, Any] | None:
        """Let the model summarize the beginning of the history, and return what the summary covers.

        Returns None if there is nothing to compact, or a hook denies it.
        """
        compacted: dict[str, Any] | None = json.loads(await self._run(self._native.compact))
        return compacted

    async def gauge(self) -> dict[str, Any]:
        """Return how full the context window is: ``tokens``, ``estimated`` and ``window``."""
        gauge: dict[str, Any] = json.loads(await self._run(self._native.gauge))
        return gauge

    async def announce(self, name: str, data: Any = None) -> None:
        """Announce an event of the application, such as ``plan:start``. It is not stored."""
        written = json.dumps(data, allow_nan=False)
        await self._run(lambda done: self._native.announce(name, written, done))

    def interrupt(self) -> None:
        """Interrupt the running turn or other work, from any thread. Returns at once.

        The turn ends soon, with the status ``cancelled`` and what was answered so far.
        """
        self._native.interrupt(_ignored)

    def equip(self, **changes: Unpack[Changes]) -> None:
        """Change what the session works with, from the next turn on."""
        callables = Callables(self.equipment.with_changes(changes), self._callables.scope)
        self._native.equip(callables.equipment.written(), callables)
        self._callables = callables

    async def cleanup(self, *, cascade_children: bool = False) -> None:
        """End the session in this process, and interrupt its turn. Nothing is deleted.

        A tool that ends the session whose turn called it is cancelled, like every call of an interrupted
        turn.

        Args:
            cascade_children: Whether to end its descendants that are open in this process first.
        """
        with self._callables.scope.entered():
            await awaited(lambda done: self._native.cleanup(cascade_children, done), waits=False)
        self._callables.release()

    async def _run(self, start: Callable[[Done], Work]) -> Any:
        with self._callables.scope.entered():
            return await awaited(start)


def _ignored(result: Any, error: BaseException | None) -> None:
    """Receive a result that nobody waits for."""
