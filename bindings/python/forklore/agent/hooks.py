"""Hooks: code that decides about operations before they happen, and hears of every event."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict, Union

from ..types import Message
from .models import Request


@dataclass(frozen=True)
class Deny:
    """The operation does not happen, or a question is answered with no."""

    reason: str | None = None


@dataclass(frozen=True)
class Modify:
    """The operation happens with this instead: the text of a prompt, the arguments of a call, or the
    content of a result."""

    value: Any


@dataclass(frozen=True)
class Inject:
    """The operation happens, and the model gets this message too. The log has it."""

    text: str


@dataclass(frozen=True)
class Ask:
    """A person decides, or the function ``approve`` of the session."""

    question: str


@dataclass(frozen=True)
class Grant:
    """A question is answered with yes."""

    note: str | None = None
    """What the record of the decision says."""


def deny(reason: str) -> Deny:
    """Deny an operation, or answer a question with no."""
    return Deny(reason)


def modify(value: Any) -> Modify:
    """Let a prompt, a call or a result happen with another text, arguments or content."""
    return Modify(value)


def inject(text: str) -> Inject:
    """Let an operation happen, and send the model a message with it."""
    return Inject(text)


def ask(question: str) -> Ask:
    """Let a person decide about an operation."""
    return Ask(question)


def grant(note: str | None = None) -> Grant:
    """Answer a question with yes."""
    return Grant(note)


class Identity(TypedDict):
    """The ids of a session."""

    session_id: str
    parent_id: str | None
    root_id: str


class SessionInput(TypedDict):
    """A session is about to be initialized."""

    config: Any


class ForkInput(TypedDict):
    """A child is about to be created. The hook gets the ids that it would have."""

    kind: str
    """``branch`` or ``delegate``."""
    fork: dict[str, Any] | None
    """The request of the verb ``fork``; None for a sub-agent."""


class PromptInput(TypedDict):
    """A prompt is about to be stored."""

    text: str
    parts: list[dict[str, Any]]


class CompactionInput(TypedDict):
    """The history is about to be compacted."""

    from_index: int
    to_index: int
    messages: list[Message]


class CallInput(TypedDict):
    """A tool is about to be called."""

    id: str
    name: str
    arguments: Any


class ResultInput(TypedDict):
    """The result of a tool is about to be stored."""

    call: CallInput
    content: Any
    is_error: bool


class Question(TypedDict):
    """A question that must be answered before an operation happens."""

    session: str
    """The id of the session."""
    call: CallInput | None
    """The call that needs approval, if it is one."""
    prompt: str
    """The text to show. It may contain text of a session."""


Verdict = Union[None, Deny, Ask]
"""A decision. None lets the operation happen."""
RequestVerdict = Union[None, Deny, Ask, Inject]
"""A decision about a request to a model."""
ChangeVerdict = Union[None, Deny, Ask, Inject, Modify]
"""A decision about a prompt, a call or a result."""
Reaction = Union[None, Inject]
"""The answer to an event."""
Approval = Union[bool, Grant, Deny]
"""The answer to a question."""


class Hook:
    """Code that decides about operations before they happen.

    Derive from this class and override some methods, or pass any object that has some of them. A method
    may be a coroutine function. All run on the event loop that awaits the turn, so none may block it. A
    method that raises or takes longer than ``hook_patience`` is reported (``hook:error``), and the
    operation happens as if the hook were not there: a hook that enforces something must not fail.
    """

    name: ClassVar[str]
    """The hook's name in records and notifications. The default is the name of its class."""
    priority: ClassVar[int] = 0
    """Hooks with lower numbers run first."""

    def session(self, input: SessionInput, session: Identity) -> Verdict | Awaitable[Verdict]:
        """Decide whether a session is initialized."""

    def fork(self, input: ForkInput, session: Identity) -> Verdict | Awaitable[Verdict]:
        """Decide whether a child is created."""

    def prompt(
        self, input: PromptInput, session: Identity
    ) -> ChangeVerdict | Awaitable[ChangeVerdict]:
        """Decide about a prompt. :func:`modify` replaces its text."""

    def request(
        self, input: Request, session: Identity
    ) -> RequestVerdict | Awaitable[RequestVerdict]:
        """Decide about a request to the model. A denial fails the turn."""

    def compaction(self, input: CompactionInput, session: Identity) -> Verdict | Awaitable[Verdict]:
        """Decide whether the history is compacted."""

    def call(self, input: CallInput, session: Identity) -> ChangeVerdict | Awaitable[ChangeVerdict]:
        """Decide about a call of a tool. :func:`modify` replaces its arguments."""

    def result(
        self, input: ResultInput, session: Identity
    ) -> ChangeVerdict | Awaitable[ChangeVerdict]:
        """Decide about a tool's result. :func:`modify` replaces its content."""

    def event(self, event: dict[str, Any], session: Identity) -> Reaction | Awaitable[Reaction]:
        """Hear of an event after it happened, also of pieces. The turn waits until this returns."""


METHODS = ("session", "fork", "prompt", "request", "compaction", "call", "result", "event")
"""The methods that a hook may have."""


def methods_of(hook: object) -> set[str]:
    """Return the methods that a hook has of its own."""
    return {name for name in METHODS if _is_own(getattr(hook, name, None), name)}


def _is_own(method: object, name: str) -> bool:
    return callable(method) and getattr(method, "__func__", None) is not getattr(Hook, name)


def name_of(hook: object) -> str:
    """Return a hook's name."""
    name = getattr(hook, "name", None)
    return name if isinstance(name, str) else type(hook).__name__
