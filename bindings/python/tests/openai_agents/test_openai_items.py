"""Items come back exactly, and forklore understands them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from forklore import InvalidArgsError
from forklore.openai_agents import ForkloreSession

FORMS: list[tuple[dict[str, Any], str]] = [
    ({"role": "user", "content": "Where is Oslo?"}, "user_message"),
    ({"content": [{"type": "input_text", "text": "a"}], "role": "user"}, "user_message"),
    ({"role": "user"}, "user_message"),
    ({"role": "developer", "content": "Be brief."}, "system_message"),
    (
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "In Norway.", "annotations": []}],
        },
        "assistant_message",
    ),
    ({"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "hm"}]}, "reasoning"),
    (
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"path": "a.txt"}'},
        "tool_call",
    ),
    ({"type": "function_call_output", "call_id": "c1", "output": "no"}, "tool_result"),
    ({"type": "custom_tool_call", "call_id": "c2", "name": "sh", "input": "ls"}, "tool_call"),
    ({"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "x"}]}, "tool_result"),
    ({"type": "shell_call", "call_id": "c3", "action": {"commands": ["ls"]}}, "tool_call"),
    ({"type": "shell_call_output", "call_id": "c3", "output": []}, "tool_result"),
    (
        {"type": "web_search_call", "id": "w1", "action": {"query": "q"}, "status": "failed"},
        "assistant_message",
    ),
    ({"type": "compaction", "id": "k1", "encrypted_content": "…"}, "x.openai.item"),
    ({"type": "item_reference", "id": "i1"}, "x.openai.item"),
]


async def test_items_come_back_exactly_and_have_a_form_of_forklore(path: Path) -> None:
    session = ForkloreSession("items", path)
    items = [item for item, _ in FORMS]
    await session.add_items(cast(Any, items))
    assert await session.get_items() == items
    for read, item in zip(await session.get_items(), items):
        assert list(read) == list(item)
    events = list(session.store.log("items"))
    assert [event["type"] for event in events] == [form for _, form in FORMS]


async def test_every_item_has_an_index_and_no_call_stays_open(path: Path) -> None:
    session = ForkloreSession("items", path)
    await session.add_items(cast(Any, [item for item, _ in FORMS]))
    assert session.store.show("items")["session"]["head_index"] == len(FORMS)
    inspected = session.store.inspect("items")
    assert (inspected["balanced"], inspected["open_results"]) == (True, 0)


async def test_texts_and_calls_are_found(path: Path) -> None:
    session = ForkloreSession("items", path)
    await session.add_items(cast(Any, [item for item, _ in FORMS]))
    assert session.store.search(query="Norway")["hits"]
    assert session.store.blame(f"{Path.cwd()}/a.txt")["hits"]


@pytest.mark.parametrize(
    "text", ["", "\u0000", "\ud800", "e\u0301", "😊", "\u2028", '"\\', "x" * 100_000]
)
async def test_any_text_comes_back(path: Path, text: str) -> None:
    session = ForkloreSession("text", path)
    item = {"role": "user", "content": text, "more": {"deep": [1.5, 10**30, None, True, text]}}
    await session.add_items(cast(Any, [item]))
    assert await session.get_items() == [item]


async def test_an_item_without_a_form_in_json_stores_nothing(path: Path) -> None:
    session = ForkloreSession("bad", path)
    await session.add_items([{"role": "user", "content": "before"}])
    good: Any = {"role": "user", "content": "good"}
    with pytest.raises(TypeError):
        await session.add_items([good, cast(Any, {"role": "user", "content": object()})])
    with pytest.raises(InvalidArgsError):
        await session.add_items([good, cast(Any, {"role": "user", "content": float("nan")})])
    assert await session.get_items() == [{"role": "user", "content": "before"}]
