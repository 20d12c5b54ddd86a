"""Tools: their schemas, their results, and what they may do."""

from __future__ import annotations

import asyncio
import enum
import threading
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest

from forklore import Store, agent
from forklore.errors import InvalidArgsError

from .conftest import Events, Script


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(TypedDict):
    x: int
    y: NotRequired[float]


@agent.tool
async def paint(
    path: str,
    colour: Colour,
    points: list[Point],
    mode: Literal["thin", "thick"] = "thin",
    sizes: Optional[dict[str, float]] = None,
    note: Annotated[str | None, "Why it is painted"] = None,
    deep: bool = False,
    anything: Any = None,
    context: agent.ToolContext = None,  # type: ignore[assignment]
) -> str:
    """Paint a file.

    It stays painted.

    Args:
        path: The file,
            by its name.
        colour (Colour): Its colour.

    Returns:
        How it went.
    """
    return path


def test_a_schema_comes_from_the_annotations() -> None:
    assert (paint.name, paint.description) == ("paint", "Paint a file.\n\nIt stays painted.")
    assert paint.parameters == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, by its name."},
            "colour": {"enum": ["red", "blue"], "description": "Its colour."},
            "points": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
                    "required": ["x"],
                },
            },
            "mode": {"enum": ["thin", "thick"]},
            "sizes": {
                "anyOf": [
                    {"type": "object", "additionalProperties": {"type": "number"}},
                    {"type": "null"},
                ]
            },
            "note": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "description": "Why it is painted",
            },
            "deep": {"type": "boolean"},
            "anything": {},
        },
        "required": ["path", "colour", "points"],
        "additionalProperties": False,
    }


def test_a_type_without_a_schema_needs_one() -> None:
    def draw(canvas: threading.Thread) -> None: ...

    def spread(*names: str) -> None: ...

    for function in (draw, spread):
        with pytest.raises(InvalidArgsError, match="parameter (canvas|names)"):
            agent.tool(function)
    made = agent.tool(name="draw_it", description="Draws.", parameters={"type": "object"})(draw)
    assert made.written() == {
        "name": "draw_it", "description": "Draws.", "parameters": {"type": "object"},
    }


def test_a_tool_is_still_a_function() -> None:
    assert asyncio.run(paint("a.txt", Colour.RED, [])) == "a.txt"


async def results(store: Store, tool: Any, *calls: agent.ToolCall, **equipment: Any) -> list[Any]:
    """Return the results that a model gets of calls."""
    model = Script(list(calls), "done")
    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=model, tools=[tool], **equipment)
        assert (await session.execute("go")).text == "done"
    found: list[Any] = []
    for message in model.requests[-1]["messages"][1:]:
        parts = [part for part in message["content"] if part["type"] == "tool_result"]
        found += [(part["content"], part.get("is_error", False)) for part in parts]
    return found


def shout(text: str) -> Any:
    """Shout."""
    if text == "stop":
        raise StopIteration
    if text == "break":
        raise ValueError("boom")
    if text == "refuse":
        raise agent.ToolError("no shouting here")
    return {
        "none": None,
        "parts": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        "list": [1, 2],
        "empty": [],
        "object": {"a": 1},
        "failed": agent.ToolResult("it failed", is_error=True),
        "odd": object(),
        "nan": float("nan"),
        "half": "\ud800",
    }.get(text, text.upper())


@pytest.mark.parametrize("runs", ["in a thread", "on the loop"])
@pytest.mark.parametrize(
    ("text", "content", "is_error"),
    [
        ("hello", "HELLO", False),
        ("none", "", False),
        ("parts", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], False),
        ("list", "[1, 2]", False),
        ("empty", "[]", False),
        ("object", '{"a": 1}', False),
        ("failed", "it failed", True),
        ("break", "ValueError: boom", True),
        ("refuse", "no shouting here", True),
        ("odd", "TypeError: Object of type object is not JSON serializable", True),
        ("nan", "ValueError: Out of range float values are not JSON compliant", True),
    ],
)
async def test_a_result_is_what_the_function_returns(
    store: Store, runs: str, text: str, content: Any, is_error: bool
) -> None:
    async def shout_async(text: str) -> Any:
        await asyncio.sleep(0)
        return shout(text)

    tool = agent.tool(name="shout")(shout if runs == "in a thread" else shout_async)
    ((found, failed),) = await results(store, tool, agent.ToolCall("shout", {"text": text}))
    # Later versions of Python name the value, too.
    assert (found[: len(content)] if text == "nan" else found, failed) == (content, is_error)


async def test_an_odd_end_of_a_function_is_a_failed_result(store: Store) -> None:
    ((content, failed),) = await results(store, shout, agent.ToolCall("shout", {"text": "stop"}))
    assert (content, failed) == ("RuntimeError: the function raised StopIteration", True)


async def test_half_a_character_stays_in_the_log(store: Store) -> None:
    ((content, failed),) = await results(store, shout, agent.ToolCall("shout", {"text": "half"}))
    assert not failed and len(content) == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "the arguments: missing a required argument: 'text'"),
        ({"text": "a", "loud": 1}, "the arguments: got an unexpected keyword argument 'loud'"),
        ([1], "the arguments: expected an object"),
        (None, "the arguments: expected an object"),
    ],
)
async def test_wrong_arguments_are_a_failed_result(store: Store, arguments: Any, why: str) -> None:
    ((content, failed),) = await results(store, shout, agent.ToolCall("shout", arguments))
    assert (content, failed) == (why, True)


async def test_calls_run_at_the_same_time(store: Store) -> None:
    both = asyncio.Barrier(2)

    async def meet(name: str) -> str:
        """Wait for the other one."""
        await both.wait()
        return name

    found = await results(
        store, meet, agent.ToolCall("meet", {"name": "a"}), agent.ToolCall("meet", {"name": "b"})
    )
    assert found == [("a", False), ("b", False)]


async def test_a_tool_runs_where_the_turn_is_awaited(store: Store) -> None:
    threads: list[threading.Thread] = []

    async def here() -> None:
        """Record the thread."""
        threads.append(threading.current_thread())

    def there() -> None:
        """Record the thread."""
        threads.append(threading.current_thread())

    await results(store, here, agent.ToolCall("here"))
    await results(store, there, agent.ToolCall("there"))
    assert threads[0] is threading.main_thread() and threads[1] is not threading.main_thread()


async def test_a_tool_reports_and_announces(store: Store, events: Events) -> None:
    def work(context: agent.ToolContext) -> str:
        """Work."""
        context.progress(1, 2, "half")
        context.announce("plan:start", {"step": 1})
        context.progress(2)
        with pytest.raises(InvalidArgsError):
            context.announce("tool:pre", {})
        return f"{context.call_id} {context.session_id} {context.cancelled}"

    model = Script([agent.ToolCall("work", id="c1")], "done")
    async with agent.Kernel(store, listener=events) as kernel:
        session = await kernel.create(model=model, tools=[work])
        await session.execute("go")
    steps = [event["step"] for event in events.data("tool:progress")]
    assert steps == [
        {"done": 1.0, "total": 2.0, "message": "half"},
        {"done": 2.0, "total": None, "message": None},
    ]
    assert events.data("plan:start") == [{"step": 1}]
    assert events.data("tool:post")[0]["result"] == f"c1 {session.id} False"


async def test_a_tool_delegates(store: Store, events: Events) -> None:
    async def research(context: agent.ToolContext, topic: str) -> str:
        """Let sub-agents find out."""
        one, two = await asyncio.gather(
            context.delegate(f"read about {topic}", agent="reader"),
            context.delegate("count", model=Script("42"), budget={"model_calls": 1}),
        )
        return f"{one.text} {two.text}"

    model = Script([agent.ToolCall("research", {"topic": "cats"})], "cats purr", "done")
    async with agent.Kernel(store, listener=events) as kernel:
        session = await kernel.create(model=model, tools=[research])
        await session.execute("go")
    assert events.data("tool:post")[0]["result"] == "cats purr 42"
    children = [event for event in events if event["parent_id"] is not None]
    assert {event["parent_id"] for event in children} == {session.id}
    assert {event["root_id"] for event in events} == {session.id}
    assert [event["event"] for event in children].count("session:fork") == 2


async def test_two_tools_need_two_names(store: Store) -> None:
    async with agent.Kernel(store) as kernel:
        with pytest.raises(InvalidArgsError, match="two tools have the name shout"):
            await kernel.create(model=Script(), tools=[shout, shout])
