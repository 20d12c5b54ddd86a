"""Items of the SDK as events of a session, and back.

The event has the item verbatim in the field ``openai`` of its payload, so an item comes back exactly as
it was added. The other fields are forklore's own form of it, which `tree`, `diff`, `search` and other
agents read.
"""

from __future__ import annotations

import json
from typing import Any, cast

from .. import types
from .._lines import list_of, object_of

Item = dict[str, Any]

FIELD = "openai"
"""The field of a payload that has the item."""

OTHER = "x.openai.item"
"""The type of the event of an item that forklore has no form for. A model gets it, so it is part of the
conversation."""

_MESSAGES = {
    "user": "user_message",
    "assistant": "assistant_message",
    "system": "system_message",
    "developer": "system_message",
}

_ANSWERED_CALLS = frozenset(
    {
        "code_interpreter_call",
        "file_search_call",
        "image_generation_call",
        "mcp_call",
        "web_search_call",
    }
)
"""Calls that the model's provider carries out: the item has the result, and no other item follows."""

_ARGUMENTS = ("arguments", "input", "action", "operation", "queries", "code")
"""The fields of the various calls that say what to do."""

_RESULTS = ("output", "results", "outputs", "result", "error")
"""The fields of the various calls and outputs that say what came of it."""


def event_of(item: Any) -> types.NewEvent:
    """Return the event of an item.

    Raises:
        TypeError: The item has no form in JSON.
    """
    json.dumps(item)
    kind, data = _form(object_of(item))
    event: dict[str, Any] = {"type": kind, "data": {**data, FIELD: item}}
    if kind == OTHER:
        event["class"] = "conversation"
    return cast(types.NewEvent, event)


def _form(item: Item) -> tuple[str, dict[str, Any]]:
    kind = str(item.get("type") or "")
    if message := _MESSAGES.get(str(item.get("role"))):
        return message, {"content": _content(item.get("content"))}
    if kind == "reasoning":
        return "reasoning", {"content": _thought(item), "provider": "openai"}
    if kind in _ANSWERED_CALLS and item.get("id"):
        call = {"type": "tool_call", **_call(str(item["id"]), item)}
        result = {"type": "tool_result", **_result(str(item["id"]), item)}
        return "assistant_message", {"content": [call, result]}
    call_id = item.get("call_id") or item.get("id")
    if call_id and kind.endswith("_call"):
        return "tool_call", _call(str(call_id), item)
    if call_id and kind.endswith("_output"):
        return "tool_result", _result(str(call_id), item)
    return OTHER, {}


def _content(content: Any) -> str | list[Any]:
    if content is None or isinstance(content, str):
        return content or ""
    parts = list_of(content)
    return [_part(part) for part in parts] if parts or content == [] else json.dumps(content)


def _part(part: Any) -> Any:
    text = object_of(part).get("text", object_of(part).get("refusal"))
    return {"type": "text", "text": text} if isinstance(text, str) else part


def _thought(item: Item) -> str:
    parts = [*list_of(item.get("summary")), *list_of(item.get("content"))]
    texts = [object_of(part).get("text") for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def _call(call_id: str, item: Item) -> dict[str, Any]:
    found = [item[name] for name in _ARGUMENTS if item.get(name) is not None]
    arguments: Any = found[0] if found else {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            pass
    return {"id": call_id, "name": str(item.get("name") or item["type"]), "arguments": arguments}


def _result(call_id: str, item: Item) -> dict[str, Any]:
    result: Any = next((item[name] for name in _RESULTS if item.get(name) is not None), "")
    content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    failed = bool(item.get("error")) or item.get("status") == "failed"
    return {"call_id": call_id, "content": content, **({"is_error": True} if failed else {})}


def items_of(record: types.Record) -> list[Item]:
    """Return the items of a message that another agent wrote: one for each call, result and text.

    Reasoning is left out: only the model that wrote it can read it.
    """
    role, content = record["role"], record["content"]
    if isinstance(content, str):
        return [{"role": role, "content": content}]
    items: list[Item] = []
    for part in map(object_of, list_of(content)):
        kind = part.get("type")
        if kind == "tool_call":
            arguments = part.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
            call = {"call_id": part["id"], "name": part["name"], "arguments": text}
            items.append({"type": "function_call", **call})
        elif kind == "tool_result":
            output = part.get("content")
            text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
            result = {"call_id": part["call_id"], "output": text}
            items.append({"type": "function_call_output", **result})
        elif kind == "text":
            items.append({"role": role, "content": part["text"]})
    return items
