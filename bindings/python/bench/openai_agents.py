"""Measure sessions of forklore against the SDK's AdvancedSQLiteSession, in one run.

    python bench/openai_agents.py --sizes 10 1000 10000

Both have the same items in a file each, and each measurement alternates between them. Prints one line
for each size and operation: the medians in milliseconds, and bytes after the write-ahead log was folded
into the file. Build the module with optimisation first (``maturin develop --release``).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agents.extensions.memory import AdvancedSQLiteSession

from forklore.openai_agents import ForkloreSession

Pair = tuple[Any, Any]


def item(number: int, size: int) -> Any:
    """Return a message of a given size, the same for the same number."""
    letters = random.Random(number).choices("abcdefghijklmnopqrstuvwxyz ", k=size)
    return {"role": "assistant" if number % 2 else "user", "content": "".join(letters)}


CHECKPOINT = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
connection.close()
"""


def bytes_of(path: Path) -> int:
    """Return the size of an SQLite file with its log folded in.

    Another process folds it: a file that two copies of SQLite in one process open, here that of forklore
    and that of Python, loses its locks when one of them closes it.
    """
    subprocess.run([sys.executable, "-c", CHECKPOINT, str(path)], check=True)
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


async def alternate(
    pair: Pair, work: Callable[[Any, int], Awaitable[Any]], repeats: int, *, on_main: bool = False
) -> tuple[float, float]:
    """Return the medians, in milliseconds, of what both sessions do in turn.

    Each does it ten times before it is the other's turn, after what was written before is on the disk and
    what is no longer used is freed: neither pays for the other. With ``on_main``, a session returns to
    its branch ``main`` after each call, which is not measured.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for first in range(0, repeats, 10):
        for session, found in zip(pair, times):
            os.sync()
            gc.collect()
            for number in range(first, min(repeats, first + 10)):
                begin = time.perf_counter()
                await work(session, number)
                found.append(1000 * (time.perf_counter() - begin))
                if on_main:
                    await session.switch_to_branch("main")
    return statistics.median(times[0]), statistics.median(times[1])


async def measure(folder: Path, count: int, size: int, repeats: int) -> list[dict[str, Any]]:
    """Measure sessions with a given number of items."""
    paths = (folder / "forklore.db", folder / "sdk.db")
    pair: Pair = (
        ForkloreSession("bench", paths[0]),
        AdvancedSQLiteSession(session_id="bench", db_path=paths[1], create_tables=True),
    )
    for first in range(0, count, 1000):
        items = [item(number, size) for number in range(first, min(count, first + 1000))]
        for session in pair:
            await session.add_items(items)
    rows: list[dict[str, Any]] = []

    def note(operation: str, found: tuple[float, float], unit: str) -> None:
        row = {"items": count, "operation": operation, "unit": unit}
        rows.append({**row, "forklore": round(found[0], 3), "sdk": round(found[1], 3)})

    async def turn(session: Any, number: int) -> None:
        await session.add_items([item(2 * number + offset, size) for offset in (10**7, 10**7 + 1)])

    async def branch(session: Any, number: int) -> None:
        await session.create_branch_from_turn(count // 2, f"branch-{number}")

    note("stored bytes", (bytes_of(paths[0]), bytes_of(paths[1])), "B")
    note("add a turn", await alternate(pair, turn, repeats), "ms")
    note("get all items", await alternate(pair, lambda one, _: one.get_items(), 5), "ms")
    note("get the last 10", await alternate(pair, lambda one, _: one.get_items(10), repeats), "ms")
    before = [bytes_of(path) for path in paths]
    note("fork", await alternate(pair, branch, repeats, on_main=True), "ms")
    branches = await alternate(pair, lambda one, _: one.list_branches(), 5)
    note("list the branches", branches, "ms")
    after = bytes_of(paths[1])
    # A file grows by whole pages, so it takes more of the small ones to see their size.
    for number in range(repeats, 10 * repeats):
        await branch(pair[0], number)
        await pair[0].switch_to_branch("main")
    growth = (bytes_of(paths[0]) - before[0]) / (10 * repeats), (after - before[1]) / repeats
    note("bytes of a fork", growth, "B")
    switch = await alternate(pair, lambda one, n: one.switch_to_branch(f"branch-{n}"), repeats)
    note("switch to a branch", switch, "ms")
    for session in pair:
        await session.switch_to_branch("main")
    note("pop an item", await alternate(pair, lambda one, _: one.pop_item(), min(repeats, 5)), "ms")
    for session in pair:
        session.close()
    return rows


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 1000, 10_000])
    parser.add_argument("--bytes", type=int, default=1000, help="the size of a message")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write the rows to a file, too")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for count in arguments.sizes:
        with tempfile.TemporaryDirectory() as folder:
            rows += asyncio.run(measure(Path(folder), count, arguments.bytes, arguments.repeats))
    print(f"load {os.getloadavg()[0]:.1f}; forklore | AdvancedSQLiteSession | ratio")
    for row in rows:
        ratio = row["sdk"] / row["forklore"] if row["forklore"] else float("nan")
        values = f"{row['forklore']:>14,.3f} {row['sdk']:>14,.3f} {row['unit']:>2} {ratio:>8.1f}x"
        print(f"{row['items']:>7} {row['operation']:<20} {values}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
