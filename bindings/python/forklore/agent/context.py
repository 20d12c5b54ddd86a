"""What a tool gets to know about its call, and may do through the turn that makes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._native import Call
from .running import awaited
from .turn import Turn, turn_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .callables import Callables
    from .equipment import Budget, Changes

class ToolContext:
    """A running call of a tool, and the turn that makes it.

    A tool gets it if a parameter has this annotation.
    """

    def __init__(self, call_id: str, native: Call, callables: Callables) -> None:
        """Used by the kernel."""
        self.call_id = call_id
        """The id of the call."""
        self._native = native
        self._callables = callables

    @property
    def session_id(self) -> str:
        """The id of the session that contains the call."""
        return self._native.session_id

    @property
    def cancelled(self) -> bool:
        """Whether the turn was interrupted. A tool that runs in a thread should look at this."""
        return self._native.cancelled

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report how much of the work is done, in any unit. Listeners get ``tool:progress``."""
        self._native.progress(done, total, message)

    def announce(self, name: str, data: Any = None) -> None:
        """Announce an event of the application with the ids of the session, such as ``plan:start``."""
        self._native.announce(name, json.dumps(data, allow_nan=False))

    async def delegate(
        self,
        task: str,
        *,
        agent: str | None = None,
        permissions: Sequence[str] | None = None,
        budget: Budget | None = None,
        **changes: Unpack[Changes],
    ) -> Turn:
        """Let a sub-agent do a task while the call runs. A tool may run several at once.

        The session's log records the start and the end of the sub-agent. The model gets what the tool
        returns.

        Args:
            task: The task, the sub-agent's prompt.
            agent: The sub-agent's name, for people.
            permissions: The permissions of the sub-agent, of those of the session.
            budget: The budget of its turn.
            changes: What the sub-agent works with, where that is not what its parent works with.

        Raises:
            ForkloreError: The sub-agent was denied, or its turn failed.
        """
        written = delegate_of(task, agent=agent, permissions=permissions, budget=budget)
        config, callables = self._callables.for_delegate(changes)
        return turn_of(
            await awaited(
                lambda done: self._native.delegate(written, config, callables, done), waits=False
            )
        )


def delegate_of(task: str, *, budget: Any = None, permissions: Any = None, **fields: Any) -> str:
    """Return a task for a sub-agent as the kernel reads it."""
    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    if budget is not None:
        given["budget"] = budget
    if permissions is not None:
        given["permissions"] = list(permissions)
    return json.dumps({"task": task, **given}, allow_nan=False)
