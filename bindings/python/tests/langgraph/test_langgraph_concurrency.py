"""Several writers of one thread: nothing is lost."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph_graphs import graph, put, thread, user, values
from langgraph.checkpoint.base import empty_checkpoint

from forklore import InvalidArgsError
from forklore.langgraph import AsyncForkloreSaver, ForkloreSaver

WRITER = """
import sys
from langgraph.checkpoint.base import empty_checkpoint
from forklore.langgraph import ForkloreSaver

url, name, parent = sys.argv[1:]
with ForkloreSaver.from_url(url) as saver:
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": parent}}
    messages = list(saver.get_tuple(config).checkpoint["channel_values"]["messages"])
    sys.stdin.readline()
    for number in range(10):
        messages.append({"role": "user", "content": f"{name} {number}"})
        checkpoint = {**empty_checkpoint(), "channel_values": {"messages": messages}}
        checkpoint["channel_versions"] = {"messages": number + 2}
        saver.put_writes(config, [("messages", messages[-1:])], f"{name} {number}")
        config = saver.put(config, checkpoint, {"source": "loop"}, {"messages": number + 2})
    print(config["configurable"]["checkpoint_id"])
"""


def test_two_processes_go_on_from_one_checkpoint(saver: ForkloreSaver, url: str) -> None:
    config = put(saver, thread(), messages=[{"role": "user", "content": "start"}])
    parent = config["configurable"]["checkpoint_id"]
    command = [sys.executable, "-c", WRITER, url]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([*command, name, parent], **pipes) for name in ("a", "b")]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    answers = [writer.communicate()[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    for name, answer in zip(("a", "b"), answers, strict=True):
        found = saver.get_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": answer.strip()}})
        assert found is not None
        contents = [it["content"] for it in found.checkpoint["channel_values"]["messages"]]
        assert contents == ["start", *(f"{name} {number}" for number in range(10))]
    assert len(list(saver.list(thread()))) == 21
    # One went on in the session, the other one in a fork.
    assert len(saver.store.list()["sessions"]) == 2
    assert len([it for it in saver.list(thread()) if it.pending_writes]) == 19


def test_another_process_s_checkpoints_are_seen(saver: ForkloreSaver, url: str) -> None:
    app = graph(saver)
    app.invoke(user("one"), thread())
    with ForkloreSaver.from_url(url) as other:
        graph(other).invoke(user("two"), thread())
        old = list(other.list(thread()))[-1].config
        graph(other).invoke(user("three"), old)
        assert app.get_state(thread()).values == graph(other).get_state(thread()).values
        other.delete_thread("t")
        assert saver.get_tuple(thread()) is None
        app.invoke(user("anew"), thread())
        assert len(graph(other).get_state(thread()).values["messages"]) == 2


def test_threads_write_to_many_threads(saver: ForkloreSaver) -> None:
    def write(number: int) -> None:
        name = thread(f"t{number % 4}")
        checkpoint = {**empty_checkpoint(), "channel_values": {"n": number}, "channel_versions": {"n": 1}}
        config = saver.put(name, checkpoint, {"source": "input"}, {"n": 1})  # type: ignore[arg-type]
        saver.put_writes(config, [("n", number)], "task")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    found = [it for number in range(4) for it in saver.list(thread(f"t{number}"))]
    assert sorted(it.checkpoint["channel_values"]["n"] for it in found) == list(range(40))
    assert all(it.pending_writes and it.pending_writes[0][2] == it.checkpoint["channel_values"]["n"] for it in found)


async def test_coroutines_run_at_once(url: str) -> None:
    async with AsyncForkloreSaver.from_url(url) as saver:
        app = graph(saver)
        names = [thread(f"t{number}") for number in range(8)]
        await asyncio.gather(*(app.ainvoke(user("hi"), name) for name in names))
        states = await asyncio.gather(*(app.aget_state(name) for name in names))
        assert [len(state.values["messages"]) for state in states] == [2] * 8
        assert len([it async for it in saver.alist(names[0])]) == 3


def test_writes_of_a_task_are_stored_once(saver: ForkloreSaver) -> None:
    config = put(saver, thread(), n=1)
    saver.put_writes(config, [("a", 1), ("b", 2)], "task")
    saver.put_writes(config, [("a", 9), ("b", 9)], "task")
    saver.put_writes(config, [("__error__", "first")], "task")
    saver.put_writes(config, [("__error__", "last")], "task")
    found = saver.get_tuple(config)
    assert found is not None
    assert found.pending_writes == [("task", "__error__", "last"), ("task", "a", 1), ("task", "b", 2)]
    with pytest.raises(InvalidArgsError):
        saver.put_writes(thread(), [("a", 1)], "task")


def test_writes_may_come_before_their_checkpoint(saver: ForkloreSaver, url: str) -> None:
    checkpoint = {**empty_checkpoint(), "channel_values": {}}
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": checkpoint["id"]}}
    saver.put_writes(config, [("a", 1)], "task")  # type: ignore[arg-type]
    assert saver.get_tuple(thread()) is None
    saver.put(thread(), checkpoint, {"source": "input"}, {})  # type: ignore[arg-type]
    with ForkloreSaver.from_url(url) as again:
        found = again.get_tuple(thread())
        assert found is not None and found.pending_writes == [("task", "a", 1)]


def test_a_closed_store_is_an_error(tmp_path: Path) -> None:
    with ForkloreSaver.from_url(f"sqlite:{tmp_path / 's.db'}") as saver:
        put(saver, thread(), n=1)
    with pytest.raises(InvalidArgsError):
        values(saver, thread())
