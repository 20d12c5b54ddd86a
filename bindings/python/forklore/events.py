"""Events to append."""

from __future__ import annotations

from typing import Any, Union

from .types import NewEvent

CONVERSATION = frozenset(
    {
        "system_message",
        "user_message",
        "assistant_message",
        "reasoning",
        "tool_call",
        "tool_result",
    }
)
"""The types of the events of a conversation. Types ``x.*`` may belong to it too: their class says so."""

Content = Union[str, list[dict[str, Any]]]
"""The content of a message: text, or a list of parts."""


def event(kind: str, data: Any, **fields: Any) -> NewEvent:
    """Return an event of any type, such as ``x.my_tool.note``.

    Args:
        kind: The event type.
        data: The payload: any JSON value. Its required fields depend on the type.
        fields: ``id``, ``ts`` or ``class`` of the event.
    """
    made: dict[str, Any] = {"type": kind, "data": data, **fields}
    return made  # type: ignore[return-value]


def user(content: Content, **fields: Any) -> NewEvent:
    """Return a user message. ``fields`` are further fields of the payload."""
    return event("user_message", {"content": content, **fields})


def assistant(content: Content, **fields: Any) -> NewEvent:
    """Return an assistant message. ``fields`` are further fields of the payload."""
    return event("assistant_message", {"content": content, **fields})


def system(content: Content, **fields: Any) -> NewEvent:
    """Return a system message. ``fields`` are further fields of the payload."""
    return event("system_message", {"content": content, **fields})


def tool_call(id: str, name: str, arguments: Any = None, **fields: Any) -> NewEvent:
    """Return a call of a tool. ``fields`` are further fields of the payload."""
    return event("tool_call", {"id": id, "name": name, "arguments": arguments, **fields})


def tool_result(call_id: str, content: Content, **fields: Any) -> NewEvent:
    """Return the result of a tool call. ``fields`` are further fields of the payload."""
    return event("tool_result", {"call_id": call_id, "content": content, **fields})
