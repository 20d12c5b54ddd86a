"""Measure appends, loads and forks of the session store, each next to a file of the same lines.

Run it with ``python bench/claude.py``. One round appends 100 records to a new session in one call, and the
same 100 lines to a new file, which ``fdatasync`` makes durable. Both are on one disk, and alternate.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import sys
import time
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import claude_agent_sdk as sdk

from forklore.claude import SessionStore

ROUNDS = 41
BATCH = 100
DIRECTORY = "/work/demo"
PROJECT = sdk.project_key_for_directory(DIRECTORY)


def records(session: str, count: int, size: int) -> list[Any]:
    """Return a conversation as Claude Code writes it."""
    found: list[Any] = []
    for number in range(count):
        role = "assistant" if number % 2 else "user"
        text = f"{number} " + "word " * (size // 5)
        found.append(
            {
                "parentUuid": found[-1]["uuid"] if found else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": DIRECTORY,
                "sessionId": session,
                "version": "2.1.226",
                "gitBranch": "main",
                "type": role,
                "message": {"role": role, "content": [{"type": "text", "text": text}]},
                "uuid": str(uuid.uuid4()),
                "timestamp": "2026-11-29T06:00:00.000Z",
            }
        )
    return found


def lines(entries: list[Any]) -> bytes:
    """Return the lines of a file with these records."""
    return "".join(json.dumps(it, separators=(",", ":")) + "\n" for it in entries).encode()


def written(path: Path, content: bytes) -> None:
    """Append to a file, and wait until the disk has it."""
    with path.open("ab") as file:
        file.write(content)
        file.flush()
        os.fdatasync(file.fileno())


def key(session: str) -> Any:
    """Return the key of a session."""
    return {"project_key": PROJECT, "session_id": session}


async def appends(folder: Path, size: int) -> None:
    """Compare one append of 100 records with a file."""
    sessions = SessionStore(f"sqlite:{folder / 'store'}")
    ours, theirs, again = [], [], []
    content = b""
    for number in range(ROUNDS):
        session = str(uuid.uuid4())
        first, second = records(session, BATCH, size), records(session, BATCH, size)
        second[0]["parentUuid"] = first[-1]["uuid"]
        began = time.perf_counter()
        await sessions.append(key(session), first)
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        content = lines(first)
        written(folder / f"{number}.jsonl", content)
        theirs.append(time.perf_counter() - began)
        began = time.perf_counter()
        await sessions.append(key(session), second)
        again.append(time.perf_counter() - began)
        written(folder / f"{number}.jsonl", lines(second))
    del sessions
    gc.collect()
    store = sum(path.stat().st_size for path in folder.glob("store*"))
    files = sum(path.stat().st_size for path in folder.glob("*.jsonl"))
    first, file, next_ = (statistics.median(it) * 1e3 for it in (ours, theirs, again))
    print(
        f"{BATCH} records, {len(content) // BATCH} bytes each: new session {first:.2f} ms, "
        f"next append {next_:.2f} ms, file {file:.2f} ms; "
        f"on the disk {store / files:.3f} times the files ({store} and {files} bytes)"
    )


async def forks(folder: Path, count: int) -> None:
    """Measure forks and loads of a session with so many records."""
    sessions = SessionStore(f"sqlite:{folder / 'store'}")
    session = str(uuid.uuid4())
    entries = records(session, count, 400)
    for at in range(0, count, 500):
        await sessions.append(key(session), entries[at : at + 500])
    began = time.perf_counter()
    await sessions.load(key(session))
    load = time.perf_counter() - began
    forked = []
    for _ in range(15):
        began = time.perf_counter()
        await sessions.fork_session(session, DIRECTORY)
        forked.append(time.perf_counter() - began)
    began = time.perf_counter()
    await sdk.fork_session_via_store(sessions, session, directory=DIRECTORY)
    copied = time.perf_counter() - began
    print(
        f"{count} records: fork_session {statistics.median(forked) * 1e3:.2f} ms, "
        f"the SDK's copy {copied * 1e3:.1f} ms, load {load * 1e3:.1f} ms"
    )


async def main() -> None:
    """Print all measurements."""
    for size in (100, 1_000):
        with TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
            await appends(Path(folder), size)
    for count in (10, 1_000, 10_000):
        with TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as folder:
            await forks(Path(folder), count)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
