"""The conversation between the benchmark and a peer: one JSON object a line each way.

A request names what to `do`; the answer says how many `nanos` the peer's own call took, or how many `bytes` or
`messages` there are. Only the call itself is timed, so neither the pipe nor JSON counts against the peer.
"""

import asyncio
import json
import os
import sqlite3
import sys
import time

FILLER = "It depends on what the caller has seen so far. " * 22
TEXT_BYTES = 1024 - len('{"content":""}')


def message(number):
    """Message `number` of a session, the same text that forklore gets: user and assistant in turns, 1 KB."""
    text = f"{number:>8} {FILLER}"[:TEXT_BYTES]
    return {"role": "assistant" if number % 2 else "user", "content": text}


def size_on_disk(path):
    """The bytes of a SQLite file after its log was written back."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))


class Peer:
    """A session of messages in a SQLite file; a subclass knows how its library does the work."""

    def __init__(self, path):
        self.path = path
        self.messages = 0

    async def add(self, messages):
        """Puts messages behind the session's last one."""
        raise NotImplementedError

    async def load(self):
        """Every message of the session."""
        raise NotImplementedError

    async def fork(self):
        """Another continuation of the session; returns what `enter` needs to go on in it."""
        raise NotImplementedError

    async def enter(self, fork):
        """Goes on in a fork."""
        raise NotImplementedError

    async def before_fork(self):
        """What a fork needs to know and does not count as part of it."""

    async def after_fork(self):
        """What brings the session back to where it was."""

    def next_messages(self, count):
        self.messages += count
        return [message(number) for number in range(self.messages - count, self.messages)]

    async def answer(self, request):
        match request["do"]:
            case "fill":
                for start in range(0, request["messages"], 1000):
                    await self.add(self.next_messages(min(1000, request["messages"] - start)))
                return {"messages": len(await self.load())}
            case "append":
                return await timed(self.add(self.next_messages(1)))
            case "load":
                return await timed(self.load())
            case "fork":
                await self.before_fork()
                answer = await timed(self.fork())
                await self.after_fork()
                return answer
            case "deepen":
                for _ in range(request["links"]):
                    await self.before_fork()
                    await self.enter(await self.fork())
                    await self.add(self.next_messages(2))
                return {"messages": len(await self.load())}
            case "size":
                return {"bytes": size_on_disk(self.path)}


async def timed(call):
    start = time.perf_counter_ns()
    await call
    return {"nanos": time.perf_counter_ns() - start}


async def converse(peer):
    for line in sys.stdin:
        answer = await peer.answer(json.loads(line))
        print(json.dumps(answer), flush=True)


def serve(make):
    """Answers requests about the session that `make` keeps in the file named by the last argument."""
    asyncio.run(converse(make(sys.argv[-1])))
