"""Messages of Strands as events of a session, and back.

The event has the framework's record of the message verbatim in the field ``strands`` of its payload. The
other fields are forklore's own form of what the agent sees: of a redacted message, the new content.
"""

from __future__ import annotations

import json
from typing import Any, cast

from strands.types.session import SessionMessage, encode_bytes_values

from .. import types
from .._lines import list_of, object_of

FIELD = "strands"
"""The field of a payload that has the framework's record."""

HIGHEST = "highest_message_id"
"""The field of a payload that has the highest id of the messages up to this one."""


def event_of(message: SessionMessage, highest: int) -> types.NewEvent:
    """Return the event of a message. ``highest`` is the highest id of the messages up to it."""
    shown: Any = encode_bytes_values(message.to_message())
    blocks = [object_of(block) for block in list_of(shown.get("content"))]
    parts = [_part(block) for block in blocks]
    data: dict[str, Any] = {"content": parts}
    kind = "assistant_message" if shown.get("role") == "assistant" else "user_message"
    if kind == "user_message" and parts and all(part.get("type") == "tool_result" for part in parts):
        if len(parts) == 1:
            kind, data = "tool_result", {name: parts[0][name] for name in parts[0] if name != "type"}
        else:
            data["injected"] = True  # Only results, so nobody typed it, and no turn begins.
    data = {**data, FIELD: message.to_dict(), HIGHEST: highest}
    return cast(types.NewEvent, {"type": kind, "data": data})


def _part(block: dict[str, Any]) -> dict[str, Any]:
    if isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    call, result = object_of(block.get("toolUse")), object_of(block.get("toolResult"))
    if "toolUseId" in call:
        arguments = call.get("input")
        name = str(call.get("name"))
        return {"type": "tool_call", "id": call["toolUseId"], "name": name, "arguments": arguments}
    if "toolUseId" in result:
        failed = {"is_error": True} if result.get("status") == "error" else {}
        return {
            "type": "tool_result",
            "call_id": result["toolUseId"],
            "content": _result(list_of(result.get("content"))),
            **failed,
        }
    thought = object_of(object_of(block.get("reasoningContent")).get("reasoningText")).get("text")
    if isinstance(thought, str):
        return {"type": "reasoning", "text": thought}
    return block


def _result(content: Any) -> str:
    texts = [object_of(block).get("text") for block in content]
    if all(isinstance(text, str) for text in texts):
        return "\n".join(cast("list[str]", texts))
    return json.dumps(content, ensure_ascii=False)


def message_of(record: types.Record, message_id: int, ts: str) -> SessionMessage:
    """Return a message that another agent wrote, as one of Strands.

    Reasoning is left out: only the model that wrote it can read it.
    """
    content = record["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
    blocks = [block for part in parts for block in _blocks(object_of(part))]
    role = "assistant" if record["role"] == "assistant" else "user"
    message: Any = {"role": role, "content": blocks}
    return SessionMessage(message=message, message_id=message_id, created_at=ts, updated_at=ts)


def _blocks(part: dict[str, Any]) -> list[dict[str, Any]]:
    kind = part.get("type")
    if kind == "text":
        return [{"text": part["text"]}]
    if kind == "tool_call":
        call = {"toolUseId": part["id"], "name": part["name"], "input": object_of(part.get("arguments"))}
        return [{"toolUse": call}]
    if kind == "tool_result":
        content = part.get("content")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        status = "error" if part.get("is_error") else "success"
        return [{"toolResult": {"toolUseId": part["call_id"], "status": status, "content": [{"text": text}]}}]
    return []
