"""Measure savers of LangGraph side by side: ``python langgraph_savers.py [SIZES]``.

``SIZES`` are numbers of messages, 10,1000,10000 by default. Each row has medians in milliseconds, and
bytes of the database file or of the tables. The savers are those of forklore, of
``langgraph-checkpoint-sqlite``, of ``langgraph-checkpoint-postgres`` if ``PG_DSN`` names an empty
database, and of forklore on PostgreSQL if ``FORKLORE_DSN`` names another one. The state has one list of
messages of 1 KB each. Set ``TURNS`` to change the length of the thread that is copied, 500 by default.
"""

from __future__ import annotations

import json
import operator
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from forklore.langgraph import ForkloreSaver

THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}
TURNS = int(os.environ.get("TURNS", "500"))
Made = tuple[BaseCheckpointSaver[Any], Callable[[], int]]


class State(TypedDict):
    """A list of messages."""

    messages: Annotated[list[Any], operator.add]


def message(number: int, role: str) -> dict[str, Any]:
    """Return a message of about 1 KB."""
    source = random.Random(number)
    text = "".join(source.choice("abcdefghijklmnopqrstuvwxyz ") for _ in range(940))
    return {"role": role, "content": text, "id": f"m{number}"}


def answer(state: State) -> dict[str, Any]:
    """Answer with a message."""
    return {"messages": [message(10**6 + len(state["messages"]), "assistant")]}


def graph(saver: BaseCheckpointSaver[Any]) -> Any:
    """Return a graph with one node."""
    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def size(path: str) -> int:
    """Return the size of a database after a checkpoint of its WAL.

    It is another process: SQLite's locks are the process's, and two copies of SQLite would end each
    other's.
    """
    code = (
        "import sqlite3,sys,os;c=sqlite3.connect(sys.argv[1]);"
        "c.execute('pragma wal_checkpoint(truncate)');c.close();print(os.path.getsize(sys.argv[1]))"
    )
    return int(subprocess.check_output([sys.executable, "-c", code, path]))


@contextmanager
def forklore() -> Iterator[Made]:
    """Open a saver of forklore."""
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "s.db")
        with ForkloreSaver.from_url(f"sqlite:{path}") as saver:
            yield saver, lambda: size(path)


@contextmanager
def sqlite() -> Iterator[Made]:
    """Open LangGraph's saver for SQLite."""
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "s.db")
        connection = sqlite3.connect(path, check_same_thread=False)
        yield SqliteSaver(connection), lambda: size(path)
        connection.close()


@contextmanager
def postgres() -> Iterator[Made]:
    """Open LangGraph's saver for PostgreSQL."""
    from langgraph.checkpoint.postgres import PostgresSaver

    url = os.environ["PG_DSN"]
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        saver.delete_thread("t")
        yield saver, growth(url)


@contextmanager
def forklore_on_postgres() -> Iterator[Made]:
    """Open a saver of forklore on PostgreSQL."""
    url = os.environ["FORKLORE_DSN"]
    with ForkloreSaver.from_url(url) as saver:
        saver.delete_thread("t")
        yield saver, growth(url)


def growth(url: str) -> Callable[[], int]:
    """Return a function that returns by how many bytes the tables of a database have grown since now."""
    import psycopg

    def tables() -> int:
        query = """select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class
            where relkind = 'r' and relnamespace not in ('pg_catalog'::regnamespace,
            'information_schema'::regnamespace, 'pg_toast'::regnamespace)"""
        with psycopg.connect(url) as connection:
            return int(connection.execute(query).fetchone()[0])

    begun = tables()
    return lambda: tables() - begun


def timed(call: Callable[[int], Any], repetitions: int = 10) -> float:
    """Return the median time of a call in milliseconds."""
    times: list[float] = []
    for number in range(repetitions):
        start = time.perf_counter()
        call(number)
        times.append(time.perf_counter() - start)
    return round(1000 * statistics.median(times), 2)


def measure(make: Callable[[], Any], messages: int) -> dict[str, Any]:
    """Measure a thread of so many messages."""
    with make() as (saver, stored):
        app = graph(saver)
        first = [message(number, "user") for number in range(max(0, messages - 10))]
        if first:
            app.update_state(THREAD, {"messages": first}, as_node="answer")
        for number in range(5):
            app.invoke({"messages": [message(number, "user")]}, THREAD)
        history = list(app.get_state_history(THREAD))
        old = history[len(history) // 2].config
        sizes = [stored()]
        turn = timed(lambda n: app.invoke({"messages": [message(2 * 10**7 + n, "user")]}, THREAD))
        sizes.append(stored())
        get = timed(lambda n: saver.get_tuple(THREAD))
        ten = timed(lambda n: list(saver.list(THREAD, limit=10)))
        sizes.append(stored())
        new = {"messages": [message(3 * 10**7, "user")]}
        fork = timed(lambda n: app.update_state(old, new, as_node="answer"))
        sizes.append(stored())
        return {
            "messages": messages,
            "turn_ms": turn,
            "turn_bytes": (sizes[1] - sizes[0]) // 10,
            "get_tuple_ms": get,
            "list_10_ms": ten,
            "fork_ms": fork,
            "fork_bytes": (sizes[3] - sizes[2]) // 10,
        }


def measure_thread(make: Callable[[], Any], turns: int) -> dict[str, Any]:
    """Measure a thread that was made turn by turn."""
    with make() as (saver, stored):
        app = graph(saver)
        start = time.perf_counter()
        for number in range(turns):
            app.invoke({"messages": [message(number, "user")]}, THREAD)
        row: dict[str, Any] = {"turns": turns, "build_s": round(time.perf_counter() - start, 1)}
        row["bytes"] = stored()
        row["history_50_ms"] = timed(lambda n: list(app.get_state_history(THREAD, limit=50)), 5)
        if isinstance(saver, ForkloreSaver):
            before = stored()
            row["copy_ms"] = timed(lambda n: saver.copy_thread("t", f"copy {n}"), 20)
            row["copy_bytes"] = (stored() - before) // 20
        return row


def main() -> None:
    """Measure all savers."""
    sizes = [int(size) for size in (sys.argv[1] if len(sys.argv) > 1 else "10,1000,10000").split(",")]
    savers: dict[str, Callable[[], Any]] = {"forklore": forklore, "sqlite": sqlite}
    if "PG_DSN" in os.environ:
        savers["postgres"] = postgres
    if "FORKLORE_DSN" in os.environ:
        savers["forklore on postgres"] = forklore_on_postgres
    for name, make in savers.items():
        for count in sizes:
            print(json.dumps({"saver": name, "load": os.getloadavg()[0], **measure(make, count)}), flush=True)
        print(json.dumps({"saver": name, **measure_thread(make, TURNS)}), flush=True)


if __name__ == "__main__":
    main()
