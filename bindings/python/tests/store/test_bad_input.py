"""What goes wrong is a typed error, and nothing is lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import forklore
import forklore.claude
import forklore.langgraph
from forklore import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = forklore.open(tmp_path / "store.db")
    opened.new("/work/demo", id="plan")
    return opened


def recursive() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), object(), b"bytes", {1, 2}, recursive()],
    ids=["nan", "infinity", "object", "bytes", "set", "recursive"],
)
def test_a_value_without_a_form_in_json_is_refused(store: Store, value: Any) -> None:
    with pytest.raises(forklore.InvalidArgsError, match="no form in JSON") as raised:
        store.append("plan", [forklore.user("first"), forklore.event("x.note", {"value": value})])
    assert raised.value.details == {"reason": "not_json"}
    assert isinstance(raised.value, ValueError)
    assert store.show("plan")["session"]["head_seq"] == -1


def test_half_a_surrogate_pair_is_stored_as_it_is(store: Store) -> None:
    store.append("plan", [forklore.user("a \ud83d b")])
    (event,) = store.log("plan")
    assert event["data"]["content"] == "a \ud83d b"
    (record,) = store.replay("plan")
    assert record["content"] == "a \ufffd b"


def test_half_a_surrogate_pair_is_in_no_name(store: Store) -> None:
    with pytest.raises(forklore.InvalidArgsError) as raised:
        store.rename("plan", title="\ud83d")
    assert raised.value.details == {"path": "rename.title"}
    with pytest.raises(forklore.InvalidArgsError, match="UTF-8"):
        Store("sqlite:\ud83d.db")


def test_a_value_that_is_too_long_is_refused_and_an_attachment_may_have_it(store: Store) -> None:
    text = "0123456789" * 10_000_000
    with pytest.raises(forklore.InvalidArgsError, match="16777216 are allowed"):
        store.append("plan", [forklore.user("first"), forklore.user(text)])
    assert store.show("plan")["session"]["head_seq"] == -1
    attached = store.attach("plan", text.encode(), name="long.txt")
    assert attached["bytes"] == 100_000_000
    assert store.read_attachment("plan", "long.txt") == text.encode()
    long = text[: 16_000_000]
    store.append("plan", [forklore.user(long)])
    assert [event["data"]["content"] for event in store.log("plan", own=True)][-1] == long


def test_numbers_are_those_that_were_stored(store: Store) -> None:
    numbers = [0.1, 1e300, -0.0, 2**53 + 1, 2**80, 12345678901234567890]
    store.append("plan", [forklore.event("x.numbers", numbers)])
    (event,) = store.log("plan")
    assert event["data"] == numbers


def append_text(store: Store, session: str, payload: str) -> None:
    """Append an event whose payload another program wrote."""
    event = '{"type": "user_message", "data": {"content": "hi", "x": ' + payload + "}}"
    store._connection.call(f'{{"append": {{"session_id": "{session}", "batch": {{"events": [{event}]}}}}}}')


def test_an_integer_that_python_does_not_read_is_a_decimal(store: Store) -> None:
    append_text(store, "plan", "9" * 5000)
    store.append("plan", [forklore.user("go on")])
    first, second = store.log("plan")
    assert first["data"]["x"] == Decimal("9" * 5000)
    assert second["data"] == {"content": "go on"}


def test_a_value_that_python_does_not_read_is_a_typed_error(store: Store) -> None:
    append_text(store, "plan", "[" * 5000 + "]" * 5000)
    with pytest.raises(forklore.UnsupportedError, match="nested") as raised:
        list(store.log("plan"))
    assert "setrecursionlimit" in raised.value.next_actions[0]
    assert [record["content"] for record in store.replay("plan")] == ["hi"]


def test_an_error_names_its_kind_its_details_and_a_way_out(store: Store) -> None:
    with pytest.raises(forklore.ForkloreError) as raised:
        store.append("plan", [forklore.user("a")], expect=7)
    error = raised.value
    assert isinstance(error, forklore.ConflictError)
    assert (error.kind, error.details["session_id"]) == ("conflict", "plan")
    assert error.next_actions
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.message, copy.details) == (type(error), error.message, error.details)


@pytest.mark.parametrize("url", ["mysql://host/db", "sqlite:", "files:", "a\0b", "files:a\0b"])
def test_a_url_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(forklore.InvalidArgsError):
        forklore.open(url)


def test_coroutines_need_an_open_store() -> None:
    with pytest.raises(TypeError, match="open_async"):
        forklore.AsyncStore("memory:")  # type: ignore[arg-type]


def test_a_password_is_in_no_message() -> None:
    with pytest.raises(forklore.ForkloreError) as raised:
        forklore.open("mysql://ann:sesame@host/db")
    assert "sesame" not in f"{raised.value} {raised.value.details} {raised.value!r}"


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    import sqlite3

    file = tmp_path / "store.db"
    forklore.open(file).close()
    with sqlite3.connect(file) as database:
        (version,) = database.execute("pragma user_version").fetchone()
        database.execute(f"pragma user_version = {version + 100}")
    with pytest.raises(forklore.UnsupportedError, match="newer"):
        forklore.open(file)


def test_a_file_that_is_no_store_is_refused_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_bytes(b"my notes, no store at all\n" * 100)
    with pytest.raises(forklore.ForkloreError):
        forklore.open(file)
    assert file.read_bytes() == b"my notes, no store at all\n" * 100


def test_a_closed_store_refuses_calls_and_can_be_closed_again(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(forklore.InvalidArgsError, match="closed"):
        store.show("plan")


def test_a_closed_store_has_no_file_open(store: Store, tmp_path: Path) -> None:
    store.append("plan", [forklore.user(str(number)) for number in range(600)])
    events = store.log("plan")
    next(events)
    saver = forklore.langgraph.ForkloreSaver(store)
    sessions = forklore.claude.SessionStore(store)
    assert (tmp_path / "store.db-wal").exists()
    store.close()
    assert not (tmp_path / "store.db-wal").exists()
    with pytest.raises(forklore.InvalidArgsError, match="closed"):
        list(events)
    with pytest.raises(forklore.InvalidArgsError, match="closed"):
        saver.get_tuple({"configurable": {"thread_id": "t"}})
    with pytest.raises(forklore.InvalidArgsError, match="closed"):
        asyncio.run(sessions.load({"project_key": "p", "session_id": "s"}))


def test_a_store_is_closed_while_calls_run(store: Store) -> None:
    started = threading.Barrier(5)
    done: list[int] = []
    refused: list[forklore.ForkloreError] = []

    def write(number: int) -> None:
        started.wait()
        for step in range(200):
            try:
                store.append("plan", [forklore.user(f"{number}.{step}")])
            except forklore.InvalidArgsError as error:
                refused.append(error)
                return
            done.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    store.close()
    for thread in threads:
        thread.join()
    with forklore.open(store.location) as again:
        assert again.show("plan")["session"]["head_seq"] == len(done) - 1


def in_child(store: Store, answer: Any) -> None:
    try:
        store.show("plan")
        answer.put("no error")
    except forklore.UnsupportedError as error:
        answer.put(error.message)
    store.close()
    with forklore.open(store.location) as again:
        again.append("plan", [forklore.user("from the child")])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork()")
def test_a_forked_process_opens_the_store_again(store: Store) -> None:
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=in_child, args=(store, answer))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert "forked" in answer.get()
    store.append("plan", [forklore.user("from the parent")])
    assert [event["data"]["content"] for event in store.log("plan")] == ["from the child", "from the parent"]


def test_several_event_loops_use_one_store(store: Store) -> None:
    shared = forklore.AsyncStore(store)

    def run(number: int) -> None:
        async def write() -> None:
            for step in range(20):
                await shared.append("plan", [forklore.user(f"{number}.{step}")])

        asyncio.run(write())

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [event["data"]["content"] for event in store.log("plan")]
    assert sorted(texts) == sorted(f"{n}.{s}" for n in range(3) for s in range(20))


async def test_a_cancelled_call_is_stored_completely_or_not_at_all(tmp_path: Path) -> None:
    async with await forklore.open_async(tmp_path / "store.db") as store:
        await store.new("/w", id="plan")
        events = [forklore.user(str(number), id=f"e{number}") for number in range(50)]
        task = asyncio.create_task(store.append("plan", events))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(store.store.append, "plan", [forklore.user("after")])
        assert (await store.show("plan"))["session"]["own_events"] in (1, 51)


def interrupted(path: str, ready: Any) -> None:
    # A shell that runs the tests in the background has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    store = forklore.open(path)
    try:
        ready.set()
        while True:
            store.append("plan", [forklore.user("again")])
    except KeyboardInterrupt:
        store.close()
        os._exit(17)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
def test_a_keyboard_interrupt_ends_a_loop_of_calls(store: Store, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    child = context.Process(target=interrupted, args=(str(tmp_path / "store.db"), ready))
    child.start()
    ready.wait()
    assert child.pid
    os.kill(child.pid, signal.SIGINT)
    child.join()
    assert child.exitcode == 17
    assert store.verify().get("problems", []) == []
