"""The Python functions of sessions and kernels, as the kernel calls them.

Each method here is called by a thread of the kernel and returns at once. The work runs on an event loop.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._native import Call, Pieces, Reply
from ..errors import InvalidArgsError
from .answer import Answer, finishing
from .context import ToolContext
from .hooks import Ask, Deny, Grant, Inject, Modify
from .models import FunctionModel, Request
from .running import Running, answering
from .scopes import Scope, Scopes
from .tools import ToolResult, called

if TYPE_CHECKING:
    from .equipment import Changes, Equipment

Listener = Callable[[dict[str, Any]], object]
"""A function that gets every notification."""

_log = logging.getLogger("forklore.agent")


class Callables:
    """The model, the tools and the approver of a session."""

    def __init__(self, equipment: Equipment, scope: Scope) -> None:
        self.equipment = equipment
        self.scope = scope
        self._tools = {one.name: one for one in equipment.list_tools()}

    def for_delegate(self, changes: Changes) -> tuple[str | None, Callables | None]:
        """Return what a sub-agent works with, or None for both if it is the same as here."""
        if not changes:
            return None, None
        # Its parent waits for it, so its code runs where that of its parent runs.
        callables = Callables(self.equipment.with_changes(changes), self.scope)
        return callables.equipment.written(), callables

    def release(self) -> None:
        """Let go of the functions, after the end of the session.

        They may refer to the session, and the kernel refers to this object where no garbage collector
        looks.
        """
        self.equipment = self.equipment.with_changes({"model": _ended, "tools": (), "approve": None})
        self._tools = {}

    def model(self, pieces: Pieces, request: str) -> Running:
        """Let the model answer a request."""
        model = self.equipment.model
        assert isinstance(model, FunctionModel)

        async def work() -> str:
            return await Answer(pieces).read(model.function, json.loads(request))

        return Running(self.scope.current(), work, finishing(pieces))

    def tool(self, reply: Reply, call: str, native: Call) -> Running:
        """Execute a call of a tool."""

        async def work() -> str:
            written = json.loads(call)
            one = self._tools.get(written["name"])
            if one is None:
                result = ToolResult(f"there is no tool {written['name']}", is_error=True)
            else:
                context = ToolContext(written["id"], native, self)
                result = await one.execute(written["arguments"], context)
            return json.dumps(vars(result), allow_nan=False)

        return Running(self.scope.current(), work, answering(reply))

    def approve(self, reply: Reply, question: str) -> Running:
        """Answer a question."""
        approve = self.equipment.approve
        assert approve is not None

        async def work() -> str:
            answer = await called(approve, json.loads(question))
            if answer is True or isinstance(answer, Grant):
                return json.dumps({"granted": getattr(answer, "note", None)})
            if answer is False or isinstance(answer, Deny):
                return json.dumps({"denied": getattr(answer, "reason", None)})
            raise TypeError(f"no answer to a question: {answer!r}")

        return Running(self.scope.current(), work, answering(reply))


def _ended(request: Request) -> str:
    raise InvalidArgsError("the session was ended here", next_actions=["open the session again"])


class HookCallables:
    """The methods of a hook."""

    def __init__(self, hook: object, scopes: Scopes) -> None:
        self._hook: object | None = hook
        self._scopes = scopes

    def release(self) -> None:
        """Let go of the hook, after the end of the kernel."""
        self._hook = None

    def decide(self, reply: Reply, method: str, session: str, input: str) -> Running:
        """Let the hook decide about an operation, or hear of an event."""
        identity = json.loads(session)

        async def work() -> str:
            verdict = getattr(self._hook, method)(json.loads(input), identity)
            return _written(await verdict if inspect.isawaitable(verdict) else verdict)

        awaiting = self._scopes.of(identity["session_id"], identity["parent_id"])
        return Running(awaiting, work, answering(reply))


def _written(verdict: Any) -> str:
    if verdict is None:
        return '"continue"'
    if isinstance(verdict, Deny):
        return json.dumps({"deny": verdict.reason or "no reason was given"})
    if isinstance(verdict, Modify):
        return json.dumps({"modify": verdict.value}, allow_nan=False)
    if isinstance(verdict, Inject):
        return json.dumps({"inject": verdict.text})
    if isinstance(verdict, Ask):
        return json.dumps({"ask": verdict.question})
    raise TypeError(f"no verdict of a hook: {verdict!r}")


class Notified:
    """Gets the notifications of a kernel, and passes them on to the application's listener."""

    def __init__(self, listener: Listener | None, scopes: Scopes) -> None:
        self._listener = listener
        self._scopes = scopes

    def release(self) -> None:
        """Let go of the listener, after the end of the kernel."""
        self._listener = None

    def notify(self, name: str, session_id: str, parent_id: str | None, text: str) -> None:
        """Receive a notification. The listener gets it on the event loop that awaits the turn."""
        if name == "session:fork" and parent_id is not None:
            self._scopes.learn(session_id, parent_id)
        awaiting = self._scopes.of(session_id, parent_id)
        if name == "session:end":
            self._scopes.forget(session_id)
        if self._listener is None or awaiting is None:
            return
        # A loop that was closed meanwhile has no listener any more.
        with suppress(RuntimeError):
            awaiting.loop.call_soon_threadsafe(self._deliver, text, context=awaiting.context)

    def _deliver(self, text: str) -> None:
        listener = self._listener
        try:
            if listener is not None:
                listener(json.loads(text))
        except Exception:
            _log.exception("the listener failed")
