"""Messages as events of a conversation, and back.

The payload of such an event has the fields that forklore gives its type, so that every verb understands
it, and what else is needed to restore the message exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .tree import MARK, is_exactly, is_plain, no_message, tree_of, typed

_CLASSES: dict[str, type[BaseMessage]] = {
    "human": HumanMessage,
    "human_chunk": HumanMessageChunk,
    "ai": AIMessage,
    "ai_chunk": AIMessageChunk,
    "system": SystemMessage,
    "system_chunk": SystemMessageChunk,
    "tool": ToolMessage,
    "tool_chunk": ToolMessageChunk,
    "chat": ChatMessage,
}
_TAGS: dict[type, str] = {kind: tag for tag, kind in _CLASSES.items()}

_KINDS = {
    "human": "user_message",
    "user": "user_message",
    "ai": "assistant_message",
    "AIMessageChunk": "assistant_message",
    "HumanMessageChunk": "user_message",
    "SystemMessageChunk": "system_message",
    "ToolMessageChunk": "tool_result",
    "assistant": "assistant_message",
    "model": "assistant_message",
    "system": "system_message",
    "developer": "system_message",
    "tool": "tool_result",
}
"""The types of events, by the roles of dictionaries and the types of LangChain's messages."""

_MEANINGFUL = {MARK, "injected", "partial", "call_id", "synthetic", "is_error"}
"""Fields that would mean something in an event, although they do not in a dictionary."""

_DEFAULTS: dict[type, Any] = {
    HumanMessage: HumanMessage(content="").__dict__,
    HumanMessageChunk: HumanMessageChunk(content="").__dict__,
    AIMessage: AIMessage(content="").__dict__,
    AIMessageChunk: AIMessageChunk(content="").__dict__,
    SystemMessage: SystemMessage(content="").__dict__,
    SystemMessageChunk: SystemMessageChunk(content="").__dict__,
    ToolMessage: ToolMessage(content="", tool_call_id="").__dict__,
    ToolMessageChunk: ToolMessageChunk(content="", tool_call_id="").__dict__,
    ChatMessage: ChatMessage(content="", role="").__dict__,
}


def is_message(value: Any) -> bool:
    """Return whether a value is a message: one of LangChain, or a dictionary with a role."""
    if isinstance(value, BaseMessage):
        return True
    if not is_exactly(value, dict):
        return False
    role = value.get("role")
    return type(role) is str and role in _KINDS and "content" in value


def event_of(value: Any, serde: SerializerProtocol) -> tuple[str | None, dict[str, Any]]:
    """Return the type and the payload of the event that a message is.

    Without a type, the message is no event of a conversation.
    """
    if isinstance(value, BaseMessage):
        return _langchain(value, serde)
    return _dictionary(cast("dict[str, Any]", value), serde)


def message_of(payload: dict[str, Any]) -> Any:
    """Return the message that a decoded payload is."""
    tag = payload[MARK]
    if tag == "raw":
        return payload["value"]
    if tag == "dict_tool":
        return {name: one for name, one in payload.items() if name not in (MARK, "call_id")}
    kind = _CLASSES[tag]
    content, calls = payload["content"], payload.get("calls", 0)
    fields: dict[str, Any] = {name: _own(one) for name, one in _DEFAULTS[kind].items()}
    if calls:
        fields["tool_calls"] = [_call(part) for part in content[-calls:]]
        content = content[:-calls]
        if payload.get("text"):
            content = content[0]["text"] if content else ""
    if "call_id" in payload:
        fields["tool_call_id"] = payload["call_id"]
    fields.update(payload["fields"])
    fields["content"] = content
    message = kind.__new__(kind)
    object.__setattr__(message, "__dict__", fields)
    object.__setattr__(message, "__pydantic_fields_set__", set(fields))
    object.__setattr__(message, "__pydantic_extra__", payload.get("extra", {}))
    object.__setattr__(message, "__pydantic_private__", None)
    return message


TAGS = frozenset({"raw", "dict_tool", *_CLASSES})
"""The marks of payloads that are messages."""


def _own(default: Any) -> Any:
    """Return a default that no other message shares."""
    if type(default) is dict or type(default) is list:
        return cast("Any", default).copy()
    return default


def _langchain(value: BaseMessage, serde: SerializerProtocol) -> tuple[str | None, dict[str, Any]]:
    tag = _TAGS.get(type(value))
    kind = _KINDS.get(value.role if isinstance(value, ChatMessage) else value.type)
    if tag is None or kind is None or not isinstance(cast("Any", value.content), (str, list)):
        return None, {MARK: "raw", "value": typed(serde, value)}
    defaults = _DEFAULTS[type(value)]
    fields = {
        name: one
        for name, one in value.__dict__.items()
        if name != "content" and not _is_default(defaults, name, one)
    }
    content = tree_of(value.content, serde, no_message)
    payload: dict[str, Any] = {MARK: tag, "content": content}
    if isinstance(value, ToolMessage):
        if kind != "tool_result" or type(cast("Any", value.tool_call_id)) is not str:
            return None, {MARK: "raw", "value": typed(serde, value)}
        fields.pop("tool_call_id", None)
        payload["call_id"] = value.tool_call_id
        if value.name is not None:
            payload["name"] = value.name
        if value.status == "error":
            payload["is_error"] = True
    elif kind == "tool_result":
        return None, {MARK: "raw", "value": typed(serde, value)}
    if isinstance(value, AIMessage) and _has_calls(value.tool_calls):
        text = [{"type": "text", "text": content}] if content else []
        parts = text if type(content) is str else content
        payload["content"] = [*parts, *(_part(call, serde) for call in value.tool_calls)]
        payload["calls"] = len(value.tool_calls)
        if type(content) is str:
            payload["text"] = True
        fields.pop("tool_calls", None)
    payload["fields"] = {name: tree_of(one, serde, no_message) for name, one in fields.items()}
    if value.__pydantic_extra__ != {}:
        payload["extra"] = tree_of(value.__pydantic_extra__, serde, no_message)
    return kind, payload


def _is_default(defaults: Mapping[str, Any], name: str, value: Any) -> bool:
    if name not in defaults:
        return False
    default = defaults[name]
    return type(value) is type(default) and value == default


def _has_calls(calls: list[Any]) -> bool:
    return bool(calls) and all(
        type(call) is dict
        and call.keys() == {"name", "args", "id", "type"}
        and type(call["name"]) is str
        and type(call["id"]) is str
        and type(call["args"]) is dict
        and call["type"] == "tool_call"
        for call in calls
    )


def _part(call: Mapping[str, Any], serde: SerializerProtocol) -> dict[str, Any]:
    arguments = tree_of(call["args"], serde, no_message)
    return {"type": "tool_call", "id": call["id"], "name": call["name"], "arguments": arguments}


def _call(part: dict[str, Any]) -> dict[str, Any]:
    return {"name": part["name"], "args": part["arguments"], "id": part["id"], "type": "tool_call"}


def _dictionary(value: dict[str, Any], serde: SerializerProtocol) -> tuple[str | None, dict[str, Any]]:
    kind = _KINDS[value["role"]]
    call_id = value.get("tool_call_id")
    fits = is_plain(value) and not (_MEANINGFUL & value.keys()) and type(value["content"]) in (str, list)
    if kind == "tool_result" and type(call_id) is not str:
        return None, {MARK: "raw", "value": _whole(value, serde)}
    if fits and kind == "tool_result":
        return kind, {MARK: "dict_tool", "call_id": call_id, **_whole(value, serde)}
    if fits and not value.get("tool_calls"):
        return kind, _whole(value, serde)
    view = [*_view(value["content"]), *_openai_calls(value.get("tool_calls"))]
    payload = {MARK: "raw", "content": view, "value": _whole(value, serde)}
    return kind, {**payload, "call_id": call_id} if kind == "tool_result" else payload


def _whole(value: dict[str, Any], serde: SerializerProtocol) -> dict[str, Any]:
    if not is_plain(value):
        return typed(serde, value)
    return {name: tree_of(one, serde, no_message) for name, one in value.items()}


def _view(content: Any) -> list[dict[str, Any]]:
    """Return the text of a content as parts."""
    if type(content) is str:
        return [{"type": "text", "text": content}] if content else []
    if not is_exactly(content, list):
        return []
    texts = [_field(part, "text") for part in content]
    return [{"type": "text", "text": text} for text in texts if is_exactly(text, str)]


def _field(value: Any, name: str) -> Any:
    return value.get(name) if is_exactly(value, dict) else None


def _openai_calls(calls: Any) -> list[dict[str, Any]]:
    """Return the tool calls of a dictionary in OpenAI's form as parts."""
    parts: list[dict[str, Any]] = []
    found: list[Any] = calls if is_exactly(calls, list) else []
    for call in found:
        function = _field(call, "function")
        part = {
            "type": "tool_call",
            "id": _field(call, "id"),
            "name": _field(function, "name"),
            "arguments": _field(function, "arguments"),
        }
        if all(is_exactly(one, str) for one in part.values()):
            parts.append(part)
    return parts
