"""Stores of other versions: an older one is read and written, a newer one is refused, and neither loses anything."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from claude_agent_sdk import SessionKey
from langgraph.checkpoint.base import empty_checkpoint

import forklore
import forklore.claude
import forklore.langgraph
import forklore.openai_agents
from forklore import Store

SCHEMA = Path(__file__).parents[4] / "crates" / "forklore-sqlite" / "schema"
APPLICATION_ID = 0x466F726B


def sql(file: Path, statements: str) -> str:
    """Run statements on a store's file, and return what the last one selects.

    A process of its own does it, because an SQLite of this process would drop the locks of forklore.
    """
    code = (
        "import sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1])\n"
        "*first, last = sys.stdin.read().strip().split(';;')\n"
        "for statements in first: database.executescript(statements)\n"
        "print(database.execute(last).fetchone()[0])\n"
        "database.commit()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)],
        input=statements,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def version(file: Path) -> int:
    return int(sql(file, "pragma user_version"))


@pytest.fixture(params=[1, 3, 4])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A store as a program of an older version created it."""
    file = tmp_path / "store.db"
    steps = sorted(path for path in SCHEMA.glob("*.sql") if int(path.name[:3]) <= request.param)
    tables = "".join(path.read_text(encoding="utf-8") for path in reversed(steps[:2]))
    tables += "".join(path.read_text(encoding="utf-8") for path in steps[2:])
    pragmas = f"pragma application_id = {APPLICATION_ID}; pragma user_version = {request.param}"
    sql(file, f"pragma journal_mode = wal; {tables} {pragmas};; pragma user_version")
    return file


def test_an_older_store_goes_on(older: Path) -> None:
    before = version(older)
    with forklore.open(older) as store:
        assert store.list()["sessions"] == []
        session = store.new("/work/demo")["session"]["id"]
        store.append(session, [forklore.user("plan A or plan B?")])
        store.fork(session)
    assert version(older) > before
    with forklore.open(older) as store:
        assert [session["workspace"] for session in store.list()["sessions"]] == ["/work/demo"] * 2
        assert store.verify()["problems"] == []


def verb(store: Store) -> None:
    store.append("plan", [forklore.user("plan C")])


def checkpoint(store: Store) -> None:
    saver = forklore.langgraph.ForkloreSaver(store)
    saver.put({"configurable": {"thread_id": "plan", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})


def mirror(store: Store) -> None:
    key: SessionKey = {"project_key": "demo", "session_id": str(uuid.uuid4())}
    asyncio.run(forklore.claude.SessionStore(store).append(key, [{"type": "user", "uuid": key["session_id"]}]))


def item(store: Store) -> None:
    session = forklore.openai_agents.ForkloreSession("plan-of-items", store)
    asyncio.run(session.add_items([{"role": "user", "content": "plan C"}]))


@pytest.mark.parametrize("write", [verb, checkpoint, mirror, item])
def test_a_store_that_a_newer_program_took_over_is_written_no_more(
    write: Callable[[Store], None], tmp_path: Path
) -> None:
    file = tmp_path / "store.db"
    with forklore.open(file) as store:
        store.new("/work/demo", id="plan")
        store.append("plan", [forklore.user("plan A or plan B?")])
        log = list(store.log("plan"))
        current = version(file)
        sql(file, "pragma user_version = 1000;; pragma user_version")
        with pytest.raises(forklore.UnsupportedError, match="1000"):
            write(store)
        sql(file, f"pragma user_version = {current};; pragma user_version")
        assert list(store.log("plan")) == log
        assert [session["id"] for session in store.list()["sessions"]] == ["plan"]
