"""Records that are appended to the session store, and sessions of forklore made of them."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import claude_agent_sdk as sdk
import forklore
import pytest
from anyio import to_thread

from forklore.claude import SessionStore

from .records import DIRECTORY, KEY, PROJECT, SESSION, conversation, message


def texts(store: SessionStore, session: str) -> list[str]:
    """Return the messages of a session as text."""
    found = []
    for line in store.store.inspect(session)["messages"]:
        content = line["content"]
        found.append(content if isinstance(content, str) else content[0]["text"])
    return found


async def test_a_transcript_is_a_session(sessions: SessionStore) -> None:
    records = conversation("plan A or plan B?", "plan A")
    title = {"type": "custom-title", "customTitle": "Plans", "sessionId": SESSION}
    await sessions.append(KEY, [*records, title])
    assert await sessions.load(KEY) == [*records, title]
    assert await sessions.forklore_session(KEY) == SESSION
    header = sessions.store.show(SESSION)["session"]
    assert (header["title"], header["workspace"]) == ("Plans", DIRECTORY)
    assert texts(sessions, SESSION) == ["plan A or plan B?", "plan A"]
    lines = [json.dumps(record, separators=(",", ":")) + "\n" for record in [*records, title]]
    assert sessions.store.restore(SESSION) == "".join(lines).encode()


async def test_a_sub_agent_is_a_delegate(sessions: SessionStore) -> None:
    key: Any = {**KEY, "subpath": "subagents/agent-1"}
    await sessions.append(KEY, conversation("find it", "I ask an agent"))
    await sessions.append(key, [{**message("look"), "isSidechain": True, "agentId": "1"}])
    agent = await sessions.forklore_session(key)
    assert agent is not None
    header = sessions.store.show(agent)["session"]
    assert (header["kind"], header["parent_id"]) == ("delegate", SESSION)


async def test_a_rewind_is_a_branch(sessions: SessionStore) -> None:
    records = conversation("a", "b", "c", "d")
    other = message("another c", records[1])
    await sessions.append(KEY, [*records, other])
    branch = await sessions.forklore_session(KEY)
    assert branch not in (None, SESSION)
    assert texts(sessions, str(branch)) == ["a", "b", "another c"]
    assert await sessions.load(KEY) == [*records, other]


async def test_values_come_back_as_they_were(sessions: SessionStore) -> None:
    values = [
        {"type": "x", "number": 2**70, "float": 1.5e-9, "text": "ü\u2028\n\0", "null": None},
        {"type": "x", "uuid": "a", "surrogate": "\ud83d", "nested": {"b": [{}, []], "a": -0.0}},
        {"type": "user", "uuid": "\ud800", "parentUuid": None, "message": 7},
        {"type": "x", "deep": json.loads("[" * 90 + "]" * 90)},
        {"type": "x", "long": "y" * 3_000_000},
        {},
    ]
    await sessions.append(KEY, values)  # type: ignore[arg-type]
    assert await sessions.load(KEY) == values


@pytest.mark.parametrize("bad", [math.nan, math.inf, {1, 2}, b"x"])
async def test_a_bad_record_changes_nothing(sessions: SessionStore, bad: Any) -> None:
    records = conversation("a", "b")
    await sessions.append(KEY, records[:1])
    with pytest.raises(forklore.InvalidArgsError):
        await sessions.append(KEY, [records[1], {"type": "x", "bad": bad}])
    for entry in ([], "text", None):
        with pytest.raises(forklore.InvalidArgsError):
            await sessions.append(KEY, [records[1], entry])  # type: ignore[list-item]
    with pytest.raises(forklore.InvalidArgsError):
        await sessions.append({"project_key": "", "session_id": "s"}, records)
    assert await sessions.load(KEY) == records[:1]
    await sessions.append(KEY, records[1:])
    assert await sessions.load(KEY) == records


async def test_records_are_stored_once_and_in_order(sessions: SessionStore) -> None:
    records = conversation(*map(str, range(60)))
    batches = [records[at : at + 3] for at in range(0, 60, 3)]
    await asyncio.gather(*(sessions.append(KEY, batch) for batch in batches))
    await asyncio.gather(*(sessions.append(KEY, batch) for batch in batches))
    assert await sessions.load(KEY) == records


async def test_no_append_waits_for_a_call_without_a_thread(
    sessions: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, run_sync = itertools.count(), to_thread.run_sync

    async def without_a_thread_at_first(*arguments: Any) -> Any:
        if next(calls) == 0:
            await asyncio.Event().wait()
        return await run_sync(*arguments)

    monkeypatch.setattr(to_thread, "run_sync", without_a_thread_at_first)
    first, second = conversation("first", "second")
    waiting = asyncio.create_task(sessions.append(KEY, [first]))
    await asyncio.sleep(0)
    await asyncio.wait_for(sessions.append(KEY, [second]), 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await sessions.load(KEY) == [first, second]


async def test_a_cancelled_append_leaves_the_others_whole(sessions: SessionStore) -> None:
    records = conversation(*map(str, range(40)))
    tasks = [asyncio.create_task(sessions.append(KEY, [record])) for record in records]
    await asyncio.sleep(0)
    for task in tasks[10:20]:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    loaded = await sessions.load(KEY) or []
    assert [record for record in records if record in loaded] == loaded
    for result, record in zip(done, records, strict=True):
        assert record in loaded or isinstance(result, asyncio.CancelledError)
    await sessions.append(KEY, records)
    assert sorted(it["uuid"] for it in await sessions.load(KEY) or []) == sorted(
        it["uuid"] for it in records
    )


WRITER = """
import asyncio, sys
from forklore.claude import SessionStore

async def main(url, writer):
    store = SessionStore(url)
    for number in range(20):
        entry = {"type": "user", "uuid": f"{writer}-{number}", "customTitle": f"{writer}-{number}"}
        await store.append({"project_key": "p", "session_id": "s"}, [entry, {"type": "mode"}])

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("kind", ["sqlite", "files"])
async def test_processes_append_at_once(kind: str, tmp_path: Path) -> None:
    url = f"{kind}:{tmp_path / 'store'}"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, url, str(n)]) for n in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    store = SessionStore(url)
    loaded: list[Any] = await store.load({"project_key": "p", "session_id": "s"}) or []
    for writer in range(3):
        own = [it["uuid"] for it in loaded if it.get("uuid", "").startswith(f"{writer}-")]
        assert own == [f"{writer}-{number}" for number in range(20)]
    assert len(loaded) == 120
    (summary,) = await store.list_session_summaries("p")
    titles = [it["customTitle"] for it in loaded if "customTitle" in it]
    assert summary["data"]["custom_title"] == titles[-1]


async def test_a_summary_is_made_of_what_an_import_added(tmp_path: Path) -> None:
    store = SessionStore(f"sqlite:{tmp_path / 'store'}")
    records = conversation("a", "b")
    await store.append(KEY, records[:1])
    lines = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_text(lines, encoding="utf-8")
    store.store.import_([str(path)], workspace=DIRECTORY)
    assert await store.load(KEY) == records
    for last in ("now", None):
        (summary,) = await store.list_session_summaries(PROJECT)
        assert summary["data"]["first_prompt"] == "a"
        assert summary["data"].get("custom_title") == (None if last else "Title")
        title: Any = {"type": "custom-title", "customTitle": "Title", "sessionId": SESSION}
        await store.append(KEY, [title])


@pytest.mark.parametrize("erase", [False, True])
async def test_a_deleted_session_is_in_the_trash_or_erased(tmp_path: Path, erase: bool) -> None:
    store = SessionStore(f"sqlite:{tmp_path / 'store'}", erase=erase)
    records = conversation("a", "b")
    await store.append(KEY, records)
    await store.delete(KEY)
    assert await store.load(KEY) is None
    if erase:
        with pytest.raises(forklore.ForkloreError):
            store.store.undelete(SESSION)
    else:
        store.store.undelete(SESSION)
        assert await store.load(KEY) == records
        await store.delete(KEY)
    await store.append(KEY, records)
    assert await store.load(KEY) == records


@pytest.mark.parametrize("field", ["project_key", "session_id", "subpath"])
async def test_half_a_surrogate_pair_is_in_no_key(sessions: SessionStore, field: Any) -> None:
    for call in (sessions.load, sessions.delete, lambda key: sessions.append(key, [message("a")])):
        with pytest.raises(forklore.InvalidArgsError, match=field):
            await call({**KEY, field: "\ud83d"})


async def test_a_redacted_message_is_a_mark_and_the_session_goes_on(sessions: SessionStore) -> None:
    records = conversation("a", "my password is sesame", "c", "d")
    await sessions.append(KEY, records)
    sessions.store.redact(events=[f"{SESSION}:1"], reason="password")
    for added in ([], [message("e", records[-1])]):
        if added:
            await sessions.append(KEY, added)
        loaded = await sessions.load(KEY) or []
        assert "sesame" not in json.dumps(loaded)
        messages = await sdk.get_session_messages_from_store(sessions, SESSION, directory=DIRECTORY)
        shown = [it.message["content"] for it in messages]
        found = [it if isinstance(it, str) else it[0]["text"] for it in shown]
        mark = found.pop(1)
        assert mark.startswith("[redacted: ") and mark.endswith(" bytes, password]")
        assert found == ["a", "c", "d", *(["e"] if added else [])]


async def test_a_closed_store_has_a_typed_error(sessions: SessionStore) -> None:
    sessions.store.close()
    with pytest.raises(forklore.InvalidArgsError, match="closed"):
        await sessions.append(KEY, conversation("a"))
    with pytest.raises(forklore.InvalidArgsError, match="closed"):
        await sessions.load(KEY)
