"""What a conversation says turn by turn: its user messages, its tools, its search."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .._lines import list_of, object_of
from .reading import Entry

_CALLS = frozenset(
    {
        "apply_patch_call",
        "code_interpreter_call",
        "computer_call",
        "custom_tool_call",
        "file_search_call",
        "function_call",
        "mcp_approval_request",
        "mcp_call",
        "shell_call",
        "tool_call",
        "tool_search_call",
        "web_search_call",
    }
)

_SERVER_TOOLS = frozenset({"mcp_call", "mcp_approval_request"})

_NAMED_BY_TYPE = frozenset(
    {
        "apply_patch_call",
        "code_interpreter_call",
        "computer_call",
        "file_search_call",
        "shell_call",
        "web_search_call",
    }
)

_TOOL_SEARCH = "tool_search"


def numbered(entries: Iterable[Entry]) -> Iterator[tuple[int, Entry]]:
    """Return each event with the number of its turn. What precedes the first turn has the number 0."""
    turn = 0
    for entry in entries:
        turn += entry.is_user
        yield turn, entry


def by_turns(entries: Iterable[Entry]) -> dict[int, list[dict[str, str | None]]]:
    """Return the type and the tool of each item, by turn."""
    turns: dict[int, list[dict[str, str | None]]] = {}
    for turn, entry in numbered(entries):
        for item in entry.items:
            described = {"type": kind_of(item), "tool_name": tool_of(item)}
            turns.setdefault(turn, []).append(described)
    return turns


def questions(entries: Iterable[Entry], preview: int | None) -> list[dict[str, Any]]:
    """Return the user message of each turn, with a preview of at most ``preview`` characters."""
    return [_question(turn, entry, preview) for turn, entry in numbered(entries) if entry.is_user]


def _question(turn: int, entry: Entry, preview: int | None) -> dict[str, Any]:
    content = _content(entry)
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    if preview is not None and len(text) > preview:
        text = f"{text[:preview]}..."
    return {
        "turn": turn,
        "content": text,
        "full_content": content,
        "timestamp": entry.ts,
        "can_branch": True,
    }


def matching(questions: Iterable[dict[str, Any]], term: str) -> list[dict[str, Any]]:
    """Return the user messages with a text. The case of ASCII letters makes no difference."""
    pattern = re.compile(re.escape(term), re.IGNORECASE | re.ASCII)
    return [found for found in questions if any(map(pattern.search, _texts(found["full_content"])))]


def _content(entry: Entry) -> Any:
    return entry.items[0].get("content", "") if entry.items else ""


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    texts = [object_of(part).get("text") for part in list_of(content)]
    return [text for text in texts if isinstance(text, str)]


def tool_usage(turns: dict[int, list[dict[str, str | None]]]) -> list[tuple[str, int, int]]:
    """Return how often each tool was called in each turn, as ``(tool, count, turn)``.

    A search for tools counts by its call, or by its result if there is no call.
    """
    found: list[tuple[str, int, int]] = []
    for turn, items in turns.items():
        calls = Counter(_called(item) for item in items if item["type"] in _CALLS)
        searches = sum(item["type"] == "tool_search_output" for item in items)
        if _TOOL_SEARCH not in calls and searches:
            calls[_TOOL_SEARCH] = searches
        found += [(tool, count, turn) for tool, count in sorted(calls.items())]
    return found


def _called(item: dict[str, str | None]) -> str:
    return item["tool_name"] or item["type"] or ""


def kind_of(item: Any) -> str:
    """Return the type of an item, and of a message its role."""
    fields = object_of(item)
    role = fields.get("role")
    if role in ("user", "assistant"):
        return str(role)
    return str(fields.get("type") or "other")


def tool_of(item: Any) -> str | None:
    """Return the name of the tool that an item calls, or whose result it is, if it says so."""
    fields = object_of(item)
    kind = str(fields.get("type"))
    if kind in _SERVER_TOOLS and "server_label" in fields:
        names = [fields.get("server_label"), fields.get("name")]
        return ".".join(str(name) for name in names if name) or None
    if kind in _NAMED_BY_TYPE:
        return kind
    if kind in ("tool_search_call", "tool_search_output"):
        return _TOOL_SEARCH
    name, namespace = fields.get("name"), fields.get("namespace")
    if name is None:
        return None
    # The model names a tool without a namespace as if the tool's own name were one.
    return f"{namespace}.{name}" if namespace and namespace != name else str(name)


def first_of_turn(entries: Sequence[Entry]) -> dict[int, str]:
    """Return the id of the first event of each turn."""
    firsts: dict[int, str] = {}
    for turn, entry in numbered(entries):
        firsts.setdefault(turn, entry.event_id)
    return firsts
