"""Values are stored exactly, and what cannot be stored changes nothing."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import pytest
from langgraph_graphs import graph, put, thread, user, values
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from forklore import InvalidArgsError
from forklore.langgraph import ForkloreSaver

class Inverted:
    """A cipher that is good enough to hide a text from a search."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "inverted", bytes(255 - byte for byte in plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "inverted"
        return self.encrypt(ciphertext)[1]


CALL = {"name": "ls", "args": {"n": 1.5}, "id": "c", "type": "tool_call"}


class Own(HumanMessage):
    """A message of an application."""


VALUES: list[Any] = [
    None,
    True,
    0,
    1,
    -(2**80),
    1.0,
    1e300,
    math.inf,
    "",
    "text",
    "lone \ud83d surrogate",
    "\u2028 \x00 \n",
    '{"lg":"@AAAAAAAAAAAAAAAAAAAAAA"}',
    b"bytes",
    (1, "two", (3,)),
    {"set"},
    [],
    [[]],
    [1, 2.0, True, None],
    ["a", None, 1, True, 1.0],
    {},
    {"lg": "typed"},
    {"lg": {"lg": 1}},
    {1: "number", "one": 2},
    {"nested": {"deep": [{"x": (1,)}]}},
    datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc),
    {"role": "user", "content": "hi"},
    [{"role": "user", "content": "hi"}, {"role": "tool", "content": "x", "tool_call_id": "c"}],
    [{"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}],
    [{"role": "user", "content": "hi", "injected": True, "lg": 1}],
    [{"role": ["unhashable"], "content": "hi"}],
    [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
]

MESSAGES: list[BaseMessage] = [
    HumanMessage("hi"),
    HumanMessage("hi", id="h", name="me", additional_kwargs={"a": (1,)}, extra_field=1),
    HumanMessage([{"type": "text", "text": "hi"}, "plain", {"type": "image_url", "image_url": "x"}]),
    HumanMessage("lone \ud83d"),
    AIMessage("", tool_calls=[CALL]),
    AIMessage("text", tool_calls=[CALL, CALL], usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}),
    AIMessage([{"type": "text", "text": "x"}], tool_calls=[CALL]),
    AIMessage("no id", tool_calls=[{**CALL, "id": None}]),
    AIMessageChunk(content="part", tool_call_chunks=[{"name": "ls", "args": "{", "id": "c", "index": 0, "type": "tool_call_chunk"}]),
    SystemMessage("rules", response_metadata={"at": datetime.datetime(2026, 1, 1)}),
    ToolMessage("done", tool_call_id="c", artifact={"raw": b"x"}, status="error"),
    ChatMessage("x", role="assistant"),
    ChatMessage("x", role="narrator"),
    FunctionMessage("x", name="f"),
    RemoveMessage(id="h"),
    Own("mine"),
]


def same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and repr(a) == repr(b) and a == b


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_read_as_it_was(saver: ForkloreSaver, url: str, value: Any) -> None:
    config = put(saver, thread(), channel=value)
    saver.put_writes(config, [("channel", value)], "task")
    with ForkloreSaver.from_url(url) as again:
        for reader in (saver, again):
            assert same(values(reader, config)["channel"], value)
            found = reader.get_tuple(config)
            assert found is not None and found.pending_writes is not None
            assert same(found.pending_writes[0][2], value)


@pytest.mark.parametrize("message", MESSAGES, ids=repr)
def test_a_message_is_read_as_it_was(saver: ForkloreSaver, message: BaseMessage) -> None:
    config = put(saver, thread(), messages=[message, message], one=message, in_dict={"m": message})
    found = values(saver, config)
    for one in (*found["messages"], found["one"], found["in_dict"]["m"]):
        assert type(one) is type(message)
        assert one == message
        assert one.__dict__ == message.__dict__
        assert one.__pydantic_extra__ == message.__pydantic_extra__
        assert repr(one) == repr(message)
        assert one.model_dump() == message.model_dump()


def test_not_a_number(saver: ForkloreSaver) -> None:
    config = put(saver, thread(), channel=[math.nan, "x"])
    assert math.isnan(values(saver, config)["channel"][0])


def test_a_value_above_the_limit_of_an_event(saver: ForkloreSaver, url: str) -> None:
    large = "\u00e9" * (20 << 20)
    config = put(saver, thread(), text=large, message=[{"role": "user", "content": large}])
    with ForkloreSaver.from_url(url) as again:
        assert values(again, config)["text"] == large
        assert values(again, config)["message"] == [{"role": "user", "content": large}]


def test_more_elements_than_an_append_may_have(saver: ForkloreSaver, url: str) -> None:
    many = [{"role": "user", "content": str(n)} for n in range(20_001)]
    config = put(saver, thread(), messages=many)
    with ForkloreSaver.from_url(url) as again:
        assert values(again, config)["messages"] == many


def test_what_cannot_be_stored_changes_nothing(saver: ForkloreSaver) -> None:
    config = put(saver, thread(), channel="good")
    for bad in (object(), {"deep": [lambda: 1]}):
        with pytest.raises(TypeError):
            put(saver, thread(), channel=bad)
        with pytest.raises(TypeError):
            saver.put_writes(config, [("channel", bad)], "task")
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidArgsError):
        put(saver, thread(), channel={"deep": deep})
    assert [it.config for it in saver.list(thread())] == [config]


def test_bad_names_are_refused(saver: ForkloreSaver) -> None:
    with pytest.raises(InvalidArgsError, match="thread.thread_id"):
        put(saver, thread("\ud83d"), channel=1)
    with pytest.raises(InvalidArgsError):
        put(saver, thread("x" * 70_000), channel=1)
    assert list(saver.list(None)) == []


@pytest.mark.parametrize("name", ["", "last", "../x", "\u00e9\x00\n", "A", "a", "x" * 1000])
def test_any_text_names_a_thread(saver: ForkloreSaver, name: str) -> None:
    put(saver, thread("A" if name == "a" else "a"), channel="other")
    config = put(saver, thread(name), channel=name)
    assert values(saver, config)["channel"] == name


def test_a_message_changed_in_place_is_stored(saver: ForkloreSaver, url: str) -> None:
    first, second = {"role": "user", "content": "a", "n": [1]}, HumanMessage("b", id="b")
    old = put(saver, thread(), messages=[first, second])
    first["n"][0] = True
    second.content = "changed"
    new = put(saver, thread(), messages=[first, second])
    assert values(saver, new)["messages"] == [{"role": "user", "content": "a", "n": [True]}, HumanMessage("changed", id="b")]
    assert values(saver, new)["messages"][0]["n"][0] is True
    assert values(saver, old)["messages"] == [{"role": "user", "content": "a", "n": [1]}, HumanMessage("b", id="b")]


def test_a_message_that_was_read_and_changed_is_read_as_it_was(saver: ForkloreSaver) -> None:
    config = put(saver, thread(), messages=[HumanMessage("a", id="a"), {"role": "user", "content": "b"}])
    found = values(saver, config)["messages"]
    found[0].content = "x"
    found[1]["content"] = "x"
    found.clear()
    again = values(saver, config)["messages"]
    assert [again[0].content, again[1]["content"]] == ["a", "b"]


def test_a_list_may_be_rewritten(saver: ForkloreSaver, url: str) -> None:
    lists = [["a", "b", "c"], ["b", "c"], ["b", "x", "c"], [], ["c", "b", "a"], ["c", "b", "a", "a"]]
    configs = [put(saver, thread(), channel=one) for one in lists]
    with ForkloreSaver.from_url(url) as again:
        assert [values(again, config)["channel"] for config in configs] == lists


def test_an_encrypted_thread_has_no_readable_content(tmp_path: Path) -> None:
    serde = EncryptedSerializer(Inverted())
    path = tmp_path / "store"
    with ForkloreSaver.from_url(f"files:{path}", serde=serde) as saver:
        app = graph(saver)
        app.invoke(user("a secret"), thread())
        app.invoke(user("another secret"), thread())
        assert len(app.get_state(thread()).values["messages"]) == 4
    stored = b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())
    assert b"langgraph" in stored and b"secret" not in stored
