"""Turns: what a model answers, what the log has, and how a turn fails."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from forklore import AsyncStore, Store, agent
from forklore.errors import (
    BusyError,
    InternalError,
    InvalidArgsError,
    NotFoundError,
    PermissionDeniedError,
)

from .conftest import Events, Script


async def test_a_turn_has_the_answer_and_the_log_too(store: Store, contents: Any) -> None:
    model = Script(["both ", "would do", agent.Usage(input=7, output=3)])
    async with agent.Kernel(store) as kernel:
        session = await kernel.create("/work/demo", model=model, system="Be brief.", title="Plans")
        turn = await session.execute("plan A or plan B?")
    assert turn == agent.Turn(
        session_id=session.id,
        status="success",
        text="both would do",
        model_calls=1,
        tool_calls=0,
        usage={"input": 7, "output": 3, "cached": 0, "cost": None},
        head_seq=turn.head_seq,
    )
    assert contents(session.id) == [
        ("system", "Be brief."),
        ("user", "plan A or plan B?"),
        ("assistant", "both would do"),
    ]
    assert store.show(session.id)["session"]["title"] == "Plans"
    (request,) = model.requests
    assert [message["content"] for message in request["messages"]] == ["Be brief.", "plan A or plan B?"]
    assert request["tools"] == [] and request["options"] == {"must_call": False}


async def stream(_: agent.Request) -> AsyncIterator[agent.Piece]:
    yield agent.Thinking("hm")
    yield agent.Thought("hm", {"signature": "s"})
    yield "as"
    await asyncio.sleep(0)
    yield "ync"


def generate(_: agent.Request) -> Iterator[agent.Piece]:
    yield "gene"
    yield "rated"


async def coroutine(_: agent.Request) -> str:
    return "awaited"


class Answering:
    async def __call__(self, request: agent.Request) -> list[agent.Piece]:
        return ["an ", "object"]


@pytest.mark.parametrize(
    ("model", "text", "name"),
    [
        (stream, "async", "stream"),
        (generate, "generated", "generate"),
        (coroutine, "awaited", "coroutine"),
        (Answering(), "an object", "Answering"),
        (lambda _: "plain", "plain", "<lambda>"),
        (agent.FunctionModel(coroutine, "mine", "us", 9000), "awaited", "mine"),
    ],
)
async def test_a_model_is_any_function(
    store: Store, events: Events, model: Any, text: str, name: str
) -> None:
    async with agent.Kernel(store, listener=events) as kernel:
        session = await kernel.create(model=model)
        assert (await session.execute("go")).text == text
        assert (await session.gauge())["window"] == (9000 if name == "mine" else None)
    assert events.data("provider:request")[0]["model"] == name


async def test_reasoning_is_stored_and_goes_back(store: Store) -> None:
    seen: list[agent.Request] = []

    async def model(request: agent.Request) -> AsyncIterator[agent.Piece]:
        seen.append(request)
        async for piece in stream(request):
            yield piece

    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=model)
        await session.execute("one")
        await session.execute("two")
    (part,) = seen[1]["messages"][1]["content"]
    assert (part["type"], part["text"]) == ("reasoning", "hm")
    assert "'signature': 's'" in str(part["opaque"])
    assert seen[1]["messages"][2] == {"role": "assistant", "content": "async"}


async def test_an_exception_of_a_model_is_the_cause_of_a_typed_error(
    store: Store, contents: Any
) -> None:
    broken = ValueError("boom")
    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=Script(broken, "well"))
        with pytest.raises(InternalError, match="after 1 attempt: python: ValueError: boom") as caught:
            await session.execute("go")
        assert caught.value.__cause__ is broken
        assert caught.value.details == {"provider": "python", "attempts": 1}
        types = [row["type"] for row in store.log(session.id)]
        assert types[-1] == "turn_failed"
        assert (await session.execute("again")).text == "well"
    assert contents(session.id)[-1] == ("assistant", "well")


async def test_what_arrived_before_a_failure_is_stored(store: Store, contents: Any) -> None:
    async def model(_: agent.Request) -> AsyncIterator[str]:
        yield "the first half"
        raise agent.ModelFailure("no tokens left", "invalid")

    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=model)
        with pytest.raises(InvalidArgsError, match="no tokens left"):
            await session.execute("go")
    assert contents(session.id) == [("user", "go"), ("assistant", "the first half")]


@pytest.mark.parametrize(
    "failure",
    [ConnectionError("gone"), TimeoutError(), agent.ModelFailure("busy", "later", retry_after=0)],
)
async def test_a_failure_that_passes_is_retried(
    store: Store, events: Events, failure: Exception
) -> None:
    async with agent.Kernel(store, listener=events) as kernel:
        session = await kernel.create(model=Script(failure, "at last"), settings={"backoff": 0.0})
        assert (await session.execute("go")).text == "at last"
    assert len(events.data("provider:retry")) == 1


@pytest.mark.parametrize("piece", [7, {"text": "no"}, agent.ToolCall("t", object()), float("nan")])
async def test_what_is_no_piece_is_a_typed_error(store: Store, piece: Any) -> None:
    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=Script([piece]))
        with pytest.raises(InternalError, match="python: TypeError"):
            await session.execute("go")


async def test_a_lone_surrogate_is_a_typed_error(store: Store) -> None:
    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=Script(["\ud800"], "well"))
        with pytest.raises(InternalError, match="no piece of an answer"):
            await session.execute("go")
        with pytest.raises(InvalidArgsError):
            await session.execute("\ud800")
        assert (await session.execute("go")).text == "well"


async def test_a_session_runs_one_turn_at_a_time(store: Store) -> None:
    async with agent.Kernel(store) as kernel:
        began, go_on = asyncio.Event(), asyncio.Event()

        async def model(_: agent.Request) -> str:
            began.set()
            await go_on.wait()
            return "done"

        session = await kernel.create(model=model)
        turn = asyncio.create_task(session.execute("go"))
        await began.wait()
        assert session.is_running
        with pytest.raises(BusyError, match="in the middle of a turn"):
            await session.execute("more")
        go_on.set()
        assert (await turn).text == "done"


async def test_sessions_are_created_and_opened_by_id(store: Store) -> None:
    async with agent.Kernel(AsyncStore(store)) as kernel:
        session = await kernel.create(
            model=Script("one"), id="mine", label="plan", metadata={"a": 1}, config={"b": None},
            permissions=["read"], principal="ada",
        )
        assert (session.id, session.root_id, session.parent_id) == ("mine", "mine", None)
        header = store.show("mine")["session"]
        assert (header["label"], header["metadata"]) == ("plan", {"a": 1})
        assert (header["permissions"], header["principal"]) == (["read"], "ada")
        await session.execute("go")
        again = await kernel.open("mine", model=Script("two"))
        assert (await again.execute("go on")).text == "two"
        with pytest.raises(NotFoundError):
            await kernel.open("other", model=Script())
        with pytest.raises(InvalidArgsError):
            await kernel.open("-", model=Script())


async def test_bad_equipment_is_a_typed_error(store: Store) -> None:
    async with agent.Kernel(store) as kernel:
        for equipment in (
            {"settings": {"attempts": -1}},
            {"settings": {"atempts": 1}},
            {"settings": {"grace": -1.0}},
            {"delegates": {"depth": "x"}},
            {"allow": "*"},
            {"system": object()},
            {"tools": [print]},
        ):
            with pytest.raises(InvalidArgsError):
                await kernel.create(model=Script(), **equipment)  # type: ignore[arg-type]
        assert store.list()["sessions"] == []
        session = await kernel.create(model=Script("well"))
        for changes in ({"settings": {"x": 1}}, {"deny": "x"}):
            with pytest.raises(InvalidArgsError):
                session.equip(**changes)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            session.equip(modell=Script())  # type: ignore[call-arg]
        assert (await session.execute("go")).text == "well"


async def test_a_missing_key_is_reported_before_anything_is_stored(store: Store) -> None:
    model = agent.HttpModel("openai", "m", base_url="http://127.0.0.1:9/v1", key_env="FORKLORE_NO_KEY")
    async with agent.Kernel(store) as kernel:
        with pytest.raises(PermissionDeniedError, match="FORKLORE_NO_KEY is not set"):
            await kernel.create(model=model, id="mine")
        with pytest.raises(NotFoundError):
            store.show("mine")
        with pytest.raises(InvalidArgsError, match="the base_url"):
            await kernel.create(model=agent.HttpModel("openai", "m", base_url="nowhere"))


async def test_the_history_is_compacted(store: Store, events: Events) -> None:
    model = Script("one", "two", "three", "A summary.", "four")
    async with agent.Kernel(store, listener=events) as kernel:
        session = await kernel.create(model=agent.FunctionModel(model, "script", context_window=100000))
        for prompt in ("a" * 400, "b" * 400, "c" * 400):
            await session.execute(prompt)
        compacted = await session.compact()
        assert compacted is not None and compacted["strategy"] == "model_summary_v1"
        await session.execute("d")
    assert "context:post_compact" in events.names()
    assert "A summary." in str(model.requests[-1]["messages"])
    assert len(list(store.log(session.id))) > 8


async def test_a_turn_ends_at_its_budget(store: Store) -> None:
    async with agent.Kernel(store) as kernel:
        calls = [agent.ToolCall("nothing")]
        session = await kernel.create(
            model=Script(calls, calls), settings={"budget": {"model_calls": 1}}
        )
        turn = await session.execute("go")
    assert turn.status == "incomplete" and turn.reason is not None and turn.model_calls == 1


async def test_an_ended_kernel_refers_to_nothing(store: Store) -> None:
    class Owner(agent.Hook):
        """Refers to everything that refers to it."""

        async def __call__(self, request: agent.Request) -> str:
            return "well"

        async def look(self) -> str:
            """Look."""
            return "seen"

        async def call(self, input: agent.CallInput, session: agent.Identity) -> None: ...

        def listen(self, event: dict[str, Any]) -> None: ...

    owner = Owner()
    kernel = agent.Kernel(store, hooks=[owner], listener=owner.listen)
    async with kernel:
        session = await kernel.create(model=owner, tools=[owner.look], approve=owner.look)
        await session.execute("go")
        setattr(owner, "everything", (kernel, session, await session.fork()))
    with pytest.raises(InvalidArgsError, match="the kernel was closed"):
        await kernel.create(model=owner)
    reference = weakref.ref(owner)
    del owner, kernel, session
    gc.collect()
    assert reference() is None
