"""Forks of sessions, and what the SDK reads of them."""

from __future__ import annotations

import json
from typing import Any

import claude_agent_sdk as sdk
import forklore
import pytest

from forklore.claude import SessionStore

from .records import DIRECTORY, KEY, PROJECT, SESSION, conversation, message


def key_of(session: str) -> Any:
    return {"project_key": PROJECT, "session_id": session}


async def messages_of(sessions: SessionStore, session: str) -> list[Any]:
    """Return what the SDK reads of a session."""
    found = await sdk.get_session_messages_from_store(sessions, session, directory=DIRECTORY)
    return [
        it.message["content"] if it.type == "user" else it.message["content"][0]["text"] for it in found
    ]


async def test_a_fork_is_a_session_of_the_sdk_and_of_forklore(sessions: SessionStore) -> None:
    records = conversation("a", "b", "c", "d")
    await sessions.append(KEY, records)
    result = await sessions.fork_session(SESSION, DIRECTORY, title="  A try ")
    fork = result.session_id
    assert await messages_of(sessions, fork) == ["a", "b", "c", "d"]
    loaded: list[Any] = await sessions.load(key_of(fork)) or []
    for entry, record in zip(loaded, records, strict=False):
        original = {"sessionId": SESSION, "messageUuid": record["uuid"]}
        assert entry == {**record, "sessionId": fork, "forkedFrom": original}
    assert [it["customTitle"] for it in loaded if it["type"] == "custom-title"] == ["A try"]
    assert {it["sessionId"] for it in loaded} == {fork}
    header = sessions.store.show(fork)["session"]
    assert (header["parent_id"], header["title"]) == (SESSION, "A try")
    info = await sdk.get_session_info_from_store(sessions, fork, directory=DIRECTORY)
    listed = await sdk.list_sessions_from_store(sessions, directory=DIRECTORY)
    assert info is not None and info.custom_title == "A try"
    assert {it.session_id: it.summary for it in listed} == {SESSION: "a", fork: "A try"}


async def test_a_fork_goes_on(sessions: SessionStore) -> None:
    records = conversation("a", "b", "c", "d")
    await sessions.append(KEY, records)
    result = await sessions.fork_session(SESSION, DIRECTORY, up_to_message_id=records[1]["uuid"])
    fork = result.session_id
    added = message("another c", records[1], session=fork)
    answer = message("another d", added, role="assistant", session=fork)
    await sessions.append(key_of(fork), [added])
    await sessions.append(key_of(fork), [added, answer])
    loaded = await sessions.load(key_of(fork)) or []
    assert loaded[-2:] == [added, answer]
    assert await messages_of(sessions, fork) == ["a", "b", "another c", "another d"]
    assert await messages_of(sessions, SESSION) == ["a", "b", "c", "d"]
    difference = sessions.store.diff(SESSION, fork)
    assert difference["common"] == 2
    assert [len(difference["only_a"]), len(difference["only_b"])] == [2, 2]
    # A fork of the fork, at a message that the fork inherits.
    deep = await sessions.fork_session(fork, DIRECTORY, up_to_message_id=records[0]["uuid"])
    assert await messages_of(sessions, deep.session_id) == ["a"]
    whole = await sessions.fork_session(fork, DIRECTORY)
    assert await messages_of(sessions, whole.session_id) == ["a", "b", "another c", "another d"]


async def test_a_fork_outlives_its_original(sessions: SessionStore) -> None:
    records = conversation("a", "b")
    await sessions.append(KEY, records)
    fork = (await sessions.fork_session(SESSION, DIRECTORY)).session_id
    await sdk.delete_session_via_store(sessions, SESSION, directory=DIRECTORY)
    assert await sessions.load(KEY) is None
    assert await messages_of(sessions, fork) == ["a", "b"]
    added = message("c", records[1], session=fork)
    await sessions.append(key_of(fork), [added])
    assert await messages_of(sessions, fork) == ["a", "b", "c"]


async def test_the_title_of_a_fork_is_that_of_its_original(sessions: SessionStore) -> None:
    await sessions.append(KEY, conversation("a", "b"))
    fork = (await sessions.fork_session(SESSION, DIRECTORY)).session_id
    assert sessions.store.show(fork)["session"]["title"] == "a (fork)"
    await sdk.rename_session_via_store(sessions, SESSION, "Plans", directory=DIRECTORY)
    await sdk.tag_session_via_store(sessions, SESSION, "old", directory=DIRECTORY)
    fork = (await sessions.fork_session(SESSION, DIRECTORY)).session_id
    info = await sdk.get_session_info_from_store(sessions, fork, directory=DIRECTORY)
    assert info is not None and (info.summary, info.tag) == ("Plans (fork)", None)
    (listed,) = [
        it
        for it in await sdk.list_sessions_from_store(sessions, directory=DIRECTORY)
        if it.session_id == fork
    ]
    assert (listed.summary, listed.tag) == ("Plans (fork)", None)


async def test_a_fork_of_nothing_is_refused(sessions: SessionStore) -> None:
    with pytest.raises(forklore.NotFoundError):
        await sessions.fork_session(SESSION, DIRECTORY)
    await sessions.append(KEY, [{"type": "mode"}])
    with pytest.raises(forklore.InvalidArgsError):
        await sessions.fork_session(SESSION, DIRECTORY)
    await sessions.append(KEY, conversation("a"))
    with pytest.raises(forklore.InvalidArgsError):
        await sessions.fork_session(SESSION, DIRECTORY, up_to_message_id="other")
    assert len(await sessions.list_sessions(PROJECT)) == 1


async def test_a_fork_stores_no_history(sessions: SessionStore) -> None:
    texts = [f"{number} " + "x" * 1_000 for number in range(200)]
    await sessions.append(KEY, conversation(*texts))
    fork = (await sessions.fork_session(SESSION, DIRECTORY)).session_id
    header: Any = sessions.store.show(fork)["session"]
    assert header["own_bytes"] < 2_000
    assert len(json.dumps(await sessions.load(key_of(fork)))) > 200_000
