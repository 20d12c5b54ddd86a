"""The verbs of a store, and that they are those of the program."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
from pathlib import Path

import pytest

import forklore
from forklore import AsyncStore, Store
from forklore._verbs import AsyncVerbs, Verbs


@pytest.fixture(params=["sqlite", "files", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    url = "memory:" if request.param == "memory" else f"{request.param}:{tmp_path / 'store'}"
    return forklore.open(url)


def conversation(store: Store) -> str:
    session: str = store.new("/work/demo", id="plan", title="Plans")["session"]["id"]
    store.append(
        session,
        [
            forklore.user("plan A or plan B?"),
            forklore.assistant("both would do"),
            forklore.user("let us take A"),
            forklore.tool_call("c1", "read_file", {"path": "a.txt"}),
            forklore.tool_result("c1", "alpha"),
            forklore.assistant("A it is"),
        ],
    )
    return session


def test_a_fork_shares_the_history_and_goes_on(store: Store) -> None:
    plan = conversation(store)
    forked = store.fork(plan, at="turn:1", id="other", label="plan-b")
    assert (forked["child_session_id"], forked["cut"]["index"]) == ("other", 2)
    store.append("other", [forklore.user("let us take B")], expect=2)
    difference = store.diff(plan, "other")
    assert difference["common"] == 2
    assert [record["content"] for record in difference["only_b"]] == ["let us take B"]
    (root,) = store.tree(session_id=plan)["trees"]
    assert [child["session_id"] for child in root["children"]] == ["other"]
    assert [event["type"] for event in store.log("other", own=True)] == ["session_fork", "user_message"]
    assert [record["role"] for record in store.replay(plan, last=1)] == ["user", "assistant", "tool", "assistant"]


def test_long_answers_are_read_page_by_page(store: Store) -> None:
    session = store.new("/w")["session"]["id"]
    store.append(session, [forklore.user(str(number)) for number in range(1_000)])
    assert [event["data"]["content"] for event in store.log(session)] == [str(n) for n in range(1_000)]
    first = next(iter(store.replay(session)))
    assert first["content"] == "0"


def test_a_request_is_checked_when_it_is_made(store: Store) -> None:
    with pytest.raises(forklore.NotFoundError):
        store.log("nothing")
    with pytest.raises(forklore.NotFoundError):
        store.replay("nothing")


def test_bytes_are_sent_and_received(store: Store) -> None:
    plan = conversation(store)
    attached = store.attach(plan, b"\x00\xff" * 10, name="a.bin", media_type="application/x-a")
    assert store.read_attachment(plan, "a.bin") == b"\x00\xff" * 10
    assert store.read_attachment(plan, attached["ref"]) == b"\x00\xff" * 10
    with pytest.raises(forklore.NotFoundError):
        store.read_attachment(plan, "b.bin")
    plain = [json.loads(line) for line in store.export(plan, "plain").splitlines()]
    assert plain[0] == {"role": "user", "content": "plan A or plan B?"}


def test_an_imported_file_is_restored_byte_by_byte(store: Store, tmp_path: Path) -> None:
    line = {
        "type": "user",
        "uuid": "a",
        "parentUuid": None,
        "sessionId": "s",
        "message": {"role": "user", "content": "plan A or plan B?"},
    }
    file = tmp_path / "8f14e45f.jsonl"
    file.write_text(json.dumps(line) + "\n")
    imported = store.import_([str(file)], workspace="/work/demo")
    (session,) = imported["sessions"]
    assert store.restore(session["session_id"]) == file.read_bytes()
    with pytest.raises(forklore.NotFoundError):
        store.import_([str(tmp_path / "nothing.jsonl")], workspace="/work/demo")


def test_every_verb_is_also_a_coroutine_with_the_same_parameters() -> None:
    def verbs(of: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(of, inspect.isfunction)
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in methods
            if not name.startswith("_")
        }

    assert verbs(Verbs) == verbs(AsyncVerbs)
    assert len(verbs(Verbs)) > 30


async def test_coroutines_give_the_same_answers(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path / 'store.db'}"
    async with await forklore.open_async(url) as store:
        assert isinstance(store, AsyncStore)
        plan = conversation(store.store)
        assert await store.show(plan) == store.store.show(plan)
        shown = [event["seq"] async for event in store.log(plan)]
        assert shown == list(range(6))
        await store.attach(plan, b"abc", name="a")
        assert await store.read_attachment(plan, "a") == b"abc"
    with pytest.raises(forklore.InvalidArgsError, match="closed"):
        await store.show(plan)


def test_the_program_reads_the_same_store(tmp_path: Path) -> None:
    program = os.environ.get("FORKLORE_PROGRAM")
    assert program, "run the tests with `cargo xtask bindings python`"
    file = tmp_path / "store.db"
    with forklore.open(file) as store:
        plan = conversation(store)
        fork = store.fork(plan, at="turn:1")["child_session_id"]
        environment = {**os.environ, "HOME": str(tmp_path), "FORKLORE_STORE": f"sqlite:{file}"}

        def answer(*words: str) -> object:
            ran = subprocess.run(
                [program, "--json", *words], env=environment, check=True, capture_output=True, text=True
            )
            return json.loads(ran.stdout)

        untitled = store.fork(plan, at="turn:1")["child_session_id"]
        assert answer("show", untitled) == {"ok": True, **store.show(untitled)}
        assert answer("show", plan) == {"ok": True, **store.show(plan)}
        assert answer("diff", plan, fork) == {"ok": True, **store.diff(plan, fork)}
        assert answer("tree", plan) == {"ok": True, **store.tree(session_id=plan)}
