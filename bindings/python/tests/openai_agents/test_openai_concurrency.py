"""Several event loops, threads and processes on one session: nothing is lost, nothing is there twice."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from forklore.openai_agents import ForkloreSession

WORKER = """
import asyncio, json, sys
from forklore.openai_agents import ForkloreSession

async def main(path, name, count, pops):
    session = ForkloreSession("crowd", path)
    popped = []
    for number in range(count):
        items = [{"role": role, "content": f"{name} {number}"} for role in ("user", "assistant")]
        await session.add_items(items)
        if number % 5 < pops:
            popped.append(await session.pop_item())
    print(json.dumps(popped))

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
"""


def _crowd(path: Path, workers: int, count: int, pops: int) -> list[Any]:
    """Run processes that add and pop on one session; return what they popped."""
    command = [sys.executable, "-c", WORKER, str(path)]
    running = [
        subprocess.Popen([*command, str(name), str(count), str(pops)], stdout=subprocess.PIPE, text=True)
        for name in range(workers)
    ]
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * workers
    return [item for output in outputs for item in json.loads(output)]


def _key(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


async def test_crowd_processes_that_add_lose_nothing(path: Path) -> None:
    assert _crowd(path, workers=4, count=25, pops=0) == []
    session = ForkloreSession("crowd", path)
    items = await session.get_items()
    expected = [
        {"role": role, "content": f"{name} {number}"}
        for name in range(4)
        for number in range(25)
        for role in ("user", "assistant")
    ]
    assert Counter(map(_key, items)) == Counter(map(_key, expected))
    for first, second in zip(items[::2], items[1::2]):
        assert (first.get("content"), second.get("role")) == (second.get("content"), "assistant")
    for name in range(4):
        own = [str(item.get("content")) for item in items[::2]]
        assert [text for text in own if text.startswith(f"{name} ")] == [f"{name} {n}" for n in range(25)]


async def test_crowd_processes_that_add_and_pop_take_each_item_once(path: Path) -> None:
    popped = _crowd(path, workers=4, count=15, pops=2)
    assert len(popped) == 4 * 15 // 5 * 2
    left = await ForkloreSession("crowd", path).get_items()
    added = [
        {"role": role, "content": f"{name} {number}"}
        for name in range(4)
        for number in range(15)
        for role in ("user", "assistant")
    ]
    assert Counter(map(_key, [*left, *popped])) == Counter(map(_key, added))


async def test_one_object_on_several_event_loops(path: Path) -> None:
    session = ForkloreSession("loops", path)
    barrier = threading.Barrier(6)

    async def add(name: int) -> None:
        await asyncio.gather(
            *(session.add_items([{"role": "user", "content": f"{name} {n}"}]) for n in range(10))
        )

    def run(name: int) -> None:
        barrier.wait()
        asyncio.run(add(name))

    threads = [threading.Thread(target=run, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    items = [item.get("content") for item in await session.get_items()]
    assert Counter(items) == Counter(f"{name} {n}" for name in range(6) for n in range(10))


async def test_several_objects_of_one_session_see_each_other_at_once(path: Path) -> None:
    objects = [ForkloreSession("many", path) for _ in range(4)]
    for number in range(12):
        await objects[number % 4].add_items([{"role": "user", "content": str(number)}])
        if number % 3 == 2:
            popped: Any = await objects[(number + 1) % 4].pop_item()
            assert popped["content"] == str(number)
    expected = [str(number) for number in range(12) if number % 3 != 2]
    for one in objects:
        assert [item.get("content") for item in await one.get_items()] == expected


async def test_changes_happen_in_the_order_of_the_calls(path: Path) -> None:
    session = ForkloreSession("order", path)
    adds = [session.add_items([{"role": "user", "content": str(number)}]) for number in range(20)]
    await asyncio.gather(*adds)
    assert [item.get("content") for item in await session.get_items()] == [str(n) for n in range(20)]


def test_a_loop_that_ends_does_not_hold_later_changes_off(path: Path) -> None:
    session = ForkloreSession("ended", path)

    async def leave() -> None:
        for number in range(5):
            asyncio.ensure_future(session.add_items([{"role": "user", "content": str(number)}]))

    asyncio.run(leave())
    asyncio.run(session.add_items([{"role": "user", "content": "after"}]))
    items: list[Any] = asyncio.run(session.get_items())
    assert items[-1]["content"] == "after"
