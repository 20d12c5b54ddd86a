"""Sessions of Strands as sessions of forklore."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType
from strands_sessions import AGENT, opened, texts, user

import forklore
from forklore import ForkloreError, Store
from forklore.errors import InternalError
from forklore.strands import ForkloreSessionRepository

FORMS: list[tuple[dict[str, Any], str]] = [
    ({"role": "user", "content": [{"text": "Where?"}]}, "user_message"),
    ({"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"\x00\xff"}}}]}, "user_message"),
    (
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                {"text": "I look."},
                {"toolUse": {"toolUseId": "t1", "name": "find", "input": {"path": "a.txt"}}},
            ],
        },
        "assistant_message",
    ),
    (
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t1", "status": "error", "content": [{"text": "no"}]}}],
        },
        "tool_result",
    ),
    (
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": name, "name": "find", "input": {}}} for name in ("t2", "t3")
            ],
        },
        "assistant_message",
    ),
    (
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": name, "status": "success", "content": [{"json": {"a": 1}}]}}
                for name in ("t2", "t3")
            ],
        },
        "user_message",
    ),
]


def test_messages_come_back_exactly_and_have_a_form_of_forklore(path: Path) -> None:
    repository = opened(path)
    messages = [SessionMessage.from_message(message, n) for n, (message, _) in enumerate(FORMS)]  # type: ignore[arg-type]
    for message in messages:
        repository.create_message("trip", AGENT, message)
    again = ForkloreSessionRepository(path)
    assert again.list_messages("trip", AGENT) == messages
    assert [again.read_message("trip", AGENT, number) for number in range(len(messages))] == messages
    found = again.forklore_session_id("trip", AGENT)
    kinds = [event["type"] for event in again.store.log(found)]
    assert [kind for kind in kinds if kind[0] != "x" and kind != "session_fork"] == [kind for _, kind in FORMS]
    header = again.store.show(found)["session"]
    assert (header["head_index"], header["turns"], header["title"]) == (6, 2, "trip: planner")
    inspected = again.store.inspect(found)
    assert (inspected["balanced"], inspected["open_results"]) == (True, 0)
    assert again.store.blame(f"{Path.cwd()}/a.txt")["hits"]


def test_a_redacted_message_is_another_one_for_every_reader(path: Path) -> None:
    repository = opened(path, messages=5)
    before = repository.forklore_session_id("trip", AGENT)
    repository.update_agent("trip", SessionAgent(AGENT, {"turn": 5}, {}))
    redacted = user(2, "message 2")
    redacted.redact_message = {"role": "user", "content": [{"text": "(redacted)"}]}
    repository.update_message("trip", AGENT, redacted)

    for one in (repository, ForkloreSessionRepository(path)):
        assert texts(one) == ["message 0", "message 1", "(redacted)", "message 3", "message 4"]
        read = one.read_message("trip", AGENT, 2)
        assert read is not None and read == redacted
        agent = one.read_agent("trip", AGENT)
        assert agent is not None and agent.state == {"turn": 5}
    now = repository.forklore_session_id("trip", AGENT)
    shown = [record["content"] for record in repository.store.replay(now)]
    assert shown[2] == [{"type": "text", "text": "(redacted)"}]
    difference = repository.store.diff(before, now)
    assert (difference["common"], len(difference["only_a"]), len(difference["only_b"])) == (2, 3, 3)
    repository.create_message("trip", AGENT, user(5, "message 5"))
    assert len(texts(ForkloreSessionRepository(path))) == 6
    with pytest.raises(SessionException, match="Message 9 of agent planner does not exist"):
        repository.update_message("trip", AGENT, user(9, "x"))


def redact(repository: ForkloreSessionRepository, found: str, kind: str, count: int) -> None:
    """Redact the last events of a type in a session."""
    seqs = [event["seq"] for event in repository.store.log(found) if event["type"] == kind]
    repository.store.redact(events=[f"{found}:{seq}" for seq in seqs[-count:]], reason="a secret")


def test_the_last_record_that_can_be_read_counts(path: Path) -> None:
    repository = opened(path, messages=1)
    repository.update_agent("trip", SessionAgent(AGENT, {"turn": 1}, {}))
    redact(repository, repository.forklore_session_id("trip", AGENT), "x.strands.agent", 1)
    agent = repository.read_agent("trip", AGENT)
    assert agent is not None and agent.state == {"turn": 0}
    repository.update_agent("trip", SessionAgent(AGENT, {"turn": 2}, {}))
    agent = ForkloreSessionRepository(path).read_agent("trip", AGENT)
    assert agent is not None and agent.state == {"turn": 2}


def test_records_that_were_redacted_say_so_and_may_be_created_again(path: Path) -> None:
    repository = opened(path, messages=1)
    graph: Any = SimpleNamespace(id="graph", serialize_state=lambda: {"node": 1})
    repository.create_multi_agent("trip", graph)
    for kind in ("x.strands.session", "x.strands.multi_agent"):
        redact(repository, "trip", kind, 1)
    redact(repository, repository.forklore_session_id("trip", AGENT), "x.strands.agent", 1)
    for call in (
        lambda: repository.read_session("trip"),
        lambda: repository.read_agent("trip", AGENT),
        lambda: repository.update_agent("trip", SessionAgent(AGENT, {}, {})),
        lambda: repository.read_multi_agent("trip", "graph"),
        lambda: repository.update_multi_agent("trip", graph),
    ):
        with pytest.raises(SessionException, match="was redacted"):
            call()
    repository.create_session(Session("trip", SessionType.AGENT))
    repository.create_agent("trip", SessionAgent(AGENT, {"turn": 3}, {}))
    repository.create_multi_agent("trip", graph)
    again = ForkloreSessionRepository(path)
    assert again.read_session("trip") is not None and texts(again) == ["message 0"]
    agent = again.read_agent("trip", AGENT)
    assert agent is not None and agent.state == {"turn": 3}
    assert again.read_multi_agent("trip", "graph") == {"node": 1}
    with pytest.raises(SessionException, match="already exists"):
        again.create_session(Session("trip", SessionType.AGENT))


class _Losing(Store):
    """A store that stores an event that leads to a fork, and whose answer is lost."""

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        answer = super()._call(verb, request)
        events = request["batch"]["events"] if verb == "append" else []
        if any(event["type"] == "x.strands.moved" for event in events):
            raise InternalError("the connection ended, and it is not known whether it was")
        return answer


def test_a_lost_answer_loses_no_conversation(path: Path) -> None:
    repository = opened(_Losing(path), messages=2)
    with pytest.raises(InternalError, match="not known"):
        repository.update_message("trip", AGENT, user(1, "(redacted)"))
    for one in (repository, ForkloreSessionRepository(path)):
        assert texts(one) == ["message 0", "(redacted)"]


def test_a_message_id_exists_once_whatever_the_order(path: Path) -> None:
    repository = opened(path)
    for number in (5, 2, 9, 0):
        repository.create_message("trip", AGENT, user(number, str(number)))
    for number in (5, 2, 9, 0):
        with pytest.raises(SessionException, match="already exists"):
            repository.create_message("trip", AGENT, user(number, "again"))
    assert texts(repository) == ["0", "2", "5", "9"]
    assert [one.message_id for one in repository.list_messages("trip", AGENT, limit=2, offset=1)] == [2, 5]
    read = repository.read_message("trip", AGENT, 9)
    assert read is not None and read.message_id == 9
    assert repository.read_message("trip", AGENT, 1) is None


def test_a_fork_continues_every_agent_and_shares_the_history(path: Path) -> None:
    repository = opened(path, messages=6)
    repository.create_agent("trip", SessionAgent("critic", {"mood": "bad"}, {}))
    repository.create_message("trip", "critic", user(0, "hm"))
    graph: Any = SimpleNamespace(id="graph", serialize_state=lambda: {"node": b"\x01"})
    repository.create_multi_agent("trip", graph)
    repository.fork_session("trip", "Trip, cheaper", agent_id=AGENT, message_id=4)
    repository.create_message("Trip, cheaper", AGENT, user(4, "cheaper"))

    again = ForkloreSessionRepository(path)
    read = again.read_session("Trip, cheaper")
    assert read is not None and read.session_id == "Trip, cheaper"
    assert texts(again, "Trip, cheaper") == [f"message {number}" for number in range(4)] + ["cheaper"]
    assert len(again.list_messages("Trip, cheaper", "critic")) == 1
    agent = again.read_agent("Trip, cheaper", "critic")
    assert agent is not None and agent.state == {"mood": "bad"}
    assert again.read_multi_agent("Trip, cheaper", "graph") == {"node": b"\x01"}
    child = again.store.show(again.forklore_session_id("Trip, cheaper", AGENT))["session"]
    assert child["parent_id"] == again.forklore_session_id("trip", AGENT)
    assert texts(again) == [f"message {number}" for number in range(6)]
    assert again.store.verify()["problems"] == []


def test_a_fork_that_is_refused_leaves_nothing(path: Path) -> None:
    repository = opened(path, messages=2)
    opened(path, "other")
    before = len(repository.store.list()["sessions"])
    for arguments, options, message in (
        (("nowhere", "new"), {}, "Session nowhere does not exist"),
        (("trip", "other"), {}, "Session other already exists"),
        (("trip", "new"), {"agent_id": "nobody", "message_id": 0}, "Agent nobody does not exist"),
        (("trip", "new"), {"agent_id": AGENT, "message_id": 7}, "Message 7 of agent planner"),
    ):
        with pytest.raises(SessionException, match=message):
            repository.fork_session(*arguments, **options)  # type: ignore[arg-type]
    assert len(repository.store.list()["sessions"]) == before
    assert repository.read_session("new") is None


class _Failing(Store):
    """A store whose forks fail from the second on."""

    forks = 0

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        if verb == "fork":
            self.forks += 1
            if self.forks > 3:
                raise ForkloreError("the disk is full")
        return super()._call(verb, request)


def test_a_fork_that_fails_in_the_middle_leaves_nothing(path: Path) -> None:
    store = _Failing(path)
    repository = opened(store, messages=1)
    repository.create_agent("trip", SessionAgent("critic", {}, {}))
    with pytest.raises(ForkloreError, match="disk is full"):
        repository.fork_session("trip", "new")
    assert ForkloreSessionRepository(path).read_session("new") is None
    store.forks = 0
    repository.fork_session("trip", "new")
    assert texts(repository, "new") == ["message 0"]


def test_a_deleted_session_is_in_the_trash_and_its_id_is_free(path: Path) -> None:
    repository = opened(path, messages=2)
    repository.fork_session("trip", "fork")
    deleted = repository.forklore_session_id("trip", AGENT)
    repository.delete_session("trip")
    assert repository.read_session("trip") is None
    assert repository.read_agent("trip", AGENT) is None
    assert repository.read_message("trip", AGENT, 0) is None
    assert texts(repository, "fork") == ["message 0", "message 1"]
    for call in (
        lambda: repository.delete_session("trip"),
        lambda: repository.create_agent("trip", SessionAgent(AGENT, {}, {})),
        lambda: repository.update_agent("trip", SessionAgent(AGENT, {}, {})),
        lambda: repository.create_message("trip", AGENT, user(0, "x")),
        lambda: repository.list_messages("trip", AGENT),
    ):
        with pytest.raises(SessionException, match="does not exist"):
            call()
    again = opened(path, messages=1)
    assert texts(again) == texts(repository) == ["message 0"]
    again.store.undelete(deleted)
    assert again.store.show(deleted)["session"]["head_index"] == 2


@pytest.mark.parametrize("name", ["deleted-items", "undelete", "was deleted"])
def test_the_words_of_an_error_in_an_id_mean_nothing(path: Path, name: str) -> None:
    assert ForkloreSessionRepository(path).read_session(name) is None
    repository = opened(path, name, messages=1)
    repository.delete_session(name)
    assert repository.read_session(name) is None
    assert texts(opened(path, name, messages=1), name) == ["message 0"]


@pytest.mark.parametrize("is_erased", [False, True])
def test_an_id_in_the_trash_or_erased_is_free(path: Path, is_erased: bool) -> None:
    repository = opened(path)
    for _ in range(2):
        repository.delete_session("trip")
        if is_erased:
            for one in repository.store.list(deleted=True)["sessions"]:
                repository.store.delete(one["id"], erase=True, mode="detach_children")
        opened(path, messages=1)
        assert texts(repository) == ["message 0"]


def test_an_id_that_another_agent_uses_leads_to_a_session_of_its_own(path: Path) -> None:
    with forklore.open(path) as store:
        for name in ("trip", "fork"):
            store.new("/work/demo", id=name)
        store.append("trip", [forklore.user("not of Strands")])
    assert ForkloreSessionRepository(path).read_session("trip") is None
    repository = opened(path, messages=1)
    repository.fork_session("trip", "fork")
    again = ForkloreSessionRepository(path)
    assert texts(again) == texts(again, "fork") == ["message 0"]
    assert again.forklore_session_id("trip", AGENT).startswith("st-")
    with pytest.raises(SessionException, match="already exists"):
        again.create_session(Session("trip", SessionType.AGENT))
    assert [record["content"] for record in again.store.replay("trip")] == ["not of Strands"]
    for name in ("trip", "fork"):
        again.store.delete(name)
    assert texts(again) == texts(ForkloreSessionRepository(path), "fork") == ["message 0"]
    again.delete_session("trip")
    assert again.read_session("trip") is None
    assert texts(opened(path, messages=2)) == ["message 0", "message 1"]


def test_a_session_that_the_program_forked_can_be_opened(path: Path) -> None:
    repository = opened(path)
    repository.store.fork("trip", id="by-hand")
    assert ForkloreSessionRepository(path).read_session("by-hand") is not None


def test_a_creation_that_was_interrupted_can_be_repeated(path: Path) -> None:
    repository = ForkloreSessionRepository(path)
    repository.store.new("/work/demo", id="trip", metadata={"strands": {"session": "trip"}})
    assert repository.read_session("trip") is None
    assert texts(opened(path, messages=1)) == ["message 0"]


@pytest.mark.parametrize("is_used", [False, True])
def test_crowd_one_of_several_creators_succeeds(path: Path, is_used: bool) -> None:
    repositories = [ForkloreSessionRepository(path) for _ in range(6)]
    if is_used:
        repositories[0].store.new("/work/demo", id="trip")

    def create(repository: ForkloreSessionRepository) -> bool:
        try:
            repository.create_session(Session("trip", SessionType.AGENT))
        except SessionException as error:
            assert "already exists" in str(error)
            return False
        return True

    with ThreadPoolExecutor(len(repositories)) as threads:
        assert sum(threads.map(create, repositories)) == 1
    assert all(one.read_session("trip") is not None for one in repositories)


@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize("is_erased", [False, True])
def test_a_conversation_that_goes_on_in_the_trash_says_so(path: Path, is_moved: bool, is_erased: bool) -> None:
    repository = opened(path, messages=2)
    if is_moved:
        repository.update_message("trip", AGENT, user(1, "new"))
    head, before = repository.forklore_session_id("trip", AGENT), texts(repository)
    repository.store.delete(head, erase=is_erased)
    for one in (repository, ForkloreSessionRepository(path)):
        for call in (
            lambda: one.read_agent("trip", AGENT),
            lambda: one.create_agent("trip", SessionAgent(AGENT, {}, {})),
            lambda: one.update_agent("trip", SessionAgent(AGENT, {}, {})),
            lambda: one.list_messages("trip", AGENT),
            lambda: one.read_message("trip", AGENT, 0),
            lambda: one.create_message("trip", AGENT, user(2, "x")),
            lambda: one.update_message("trip", AGENT, user(0, "x")),
        ):
            state = "erased" if is_erased else "deleted: undelete it"
            with pytest.raises(SessionException, match=f"session {head}, which was {state}"):
                call()
    if is_erased:
        repository.delete_session("trip")
        assert texts(opened(path, messages=1)) == ["message 0"]
    else:
        repository.store.undelete(head)
        assert texts(repository) == before


@pytest.mark.parametrize("name", ["Trip", "TRIP", "a/../b", "ü", " ", "x" * 5000, "last"])
def test_ids_are_any_text(path: Path, name: str) -> None:
    opened(path, "trip", messages=2)
    repository = opened(path, name, messages=1)
    repository.create_agent(name, SessionAgent(name, {}, {}))
    assert texts(repository, name) == ["message 0"]
    read = ForkloreSessionRepository(path).read_session(name)
    assert read is not None and read.session_id == name
    agent = repository.read_agent(name, name)
    assert agent is not None and agent.agent_id == name


def test_bad_input_is_refused(path: Path) -> None:
    repository = opened(path)
    with pytest.raises(ValueError, match="session_id"):
        repository.create_session(Session("", SessionType.AGENT))
    with pytest.raises(ValueError, match="agent_id"):
        repository.create_agent("trip", SessionAgent("", {}, {}))
    with pytest.raises(SessionException, match="Session trip already exists"):
        repository.create_session(Session("trip", SessionType.AGENT))
    with pytest.raises(SessionException, match="Agent planner already exists"):
        repository.create_agent("trip", SessionAgent(AGENT, {}, {}))
    wrong: Any = "0"
    with pytest.raises(ValueError, match="an integer"):
        repository.read_message("trip", AGENT, wrong)
    with pytest.raises(SessionException, match="MultiAgent graph does not exist"):
        repository.update_multi_agent("trip", SimpleNamespace(id="graph"))  # type: ignore[arg-type]


def test_what_another_agent_wrote_belongs_to_the_conversation(path: Path) -> None:
    repository = opened(path, messages=1)
    found = repository.forklore_session_id("trip", AGENT)
    call, result = forklore.tool_call("c1", "read", {"path": "a"}), forklore.tool_result("c1", "text")
    events = [forklore.assistant("I look."), call, result, forklore.user("go on")]
    repository.store.append(found, events)
    messages: list[Any] = [one.message for one in repository.list_messages("trip", AGENT)]
    assert [message["role"] for message in messages] == ["user", "assistant", "assistant", "user", "user"]
    assert messages[2]["content"] == [{"toolUse": {"toolUseId": "c1", "name": "read", "input": {"path": "a"}}}]
    assert messages[3]["content"][0]["toolResult"]["content"] == [{"text": "text"}]
    with pytest.raises(SessionException, match="already exists"):
        repository.create_message("trip", AGENT, user(4, "x"))
    repository.create_message("trip", AGENT, user(5, "thanks"))
    assert [one.message_id for one in repository.list_messages("trip", AGENT)] == list(range(6))


WORKER = """
import json, sys
from strands.types.exceptions import SessionException
from strands.types.session import SessionMessage
from forklore.strands import ForkloreSessionRepository

repository, name, written, number = ForkloreSessionRepository(sys.argv[1]), sys.argv[2], [], 0
while len(written) < int(sys.argv[3]):
    message = {"role": "user", "content": [{"text": f"{name} {len(written)}"}]}
    try:
        repository.create_message("trip", "planner", SessionMessage(message, number))
        written.append(number)
    except SessionException as error:
        assert "already exists" in str(error)
    number += 1
print(json.dumps(written))
"""


def test_crowd_processes_never_overwrite_each_other(path: Path) -> None:
    repository = opened(path)
    command = [sys.executable, "-c", WORKER, str(path)]
    running = [
        subprocess.Popen([*command, str(name), "20"], stdout=subprocess.PIPE, text=True) for name in range(3)
    ]
    written = [json.loads(process.communicate()[0]) for process in running]
    assert [process.returncode for process in running] == [0] * 3
    assert sorted(number for numbers in written for number in numbers) == list(range(60))
    expected = {number: f"{name} {n}" for name, own in enumerate(written) for n, number in enumerate(own)}
    assert texts(repository) == [expected[number] for number in range(60)]
