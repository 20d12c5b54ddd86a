"""Another writer, or an interruption, at the worst moment of a call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionType
from strands_sessions import AGENT, opened, texts, user

from forklore import Store
from forklore.strands import ForkloreSessionRepository


class _Interrupted(Store):
    """A store in which something happens once, before a call of a verb."""

    verb = ""
    skipped = 0
    happens: Callable[[], object]

    def before(self, verb: str, happens: Callable[[], object], skipped: int = 0) -> None:
        """Let something happen before the next call of a verb, or before a later one."""
        self.verb, self.happens, self.skipped = verb, happens, skipped

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        if verb == self.verb:
            self.skipped -= 1
            if self.skipped < 0:
                self.verb = ""
                self.happens()
        return super()._call(verb, request)


class _Killed(_Interrupted):
    """A store that answers nothing after the interruption, as if the process were killed."""

    is_killed = False

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        if self.is_killed:
            raise KeyboardInterrupt
        try:
            return super()._call(verb, request)
        except KeyboardInterrupt:
            self.is_killed = True
            raise


def _interrupt() -> None:
    raise KeyboardInterrupt


def _alive(store: Store) -> set[str]:
    return {one["id"] for one in store.list()["sessions"]}


def _two_agents(store: Store) -> ForkloreSessionRepository:
    repository = opened(store, messages=2)
    repository.create_agent("trip", SessionAgent("critic", {"mood": "bad"}, {}))
    repository.create_message("trip", "critic", user(0, "hm"))
    return repository


@pytest.mark.parametrize("verb", ["fork", "append"])
def test_of_two_that_create_one_agent_the_second_fails(path: Path, verb: str) -> None:
    store = _Interrupted(path)
    ForkloreSessionRepository(store).create_session(Session("trip", SessionType.AGENT))
    other = ForkloreSessionRepository(path)
    store.before(verb, lambda: other.create_agent("trip", SessionAgent(AGENT, {"by": "other"}, {})))
    with pytest.raises(SessionException, match="Agent planner already exists"):
        ForkloreSessionRepository(store).create_agent("trip", SessionAgent(AGENT, {"by": "late"}, {}))
    for one in (ForkloreSessionRepository(store), other):
        agent = one.read_agent("trip", AGENT)
        assert agent is not None and agent.state == {"by": "other"}


@pytest.mark.parametrize("kind", [_Interrupted, _Killed])
@pytest.mark.parametrize("forks", [1, 2])
def test_a_fork_that_is_interrupted_makes_no_session(
    path: Path, kind: type[_Interrupted], forks: int
) -> None:
    store = kind(path)
    repository = _two_agents(store)
    before = _alive(store)
    store.before("fork", _interrupt, skipped=forks)
    with pytest.raises(KeyboardInterrupt):
        repository.fork_session("trip", "new")

    again = ForkloreSessionRepository(path)
    assert again.read_session("new") is None
    assert again.read_agent("new", AGENT) is None and again.read_agent("new", "critic") is None
    if kind is _Interrupted and forks == 1:
        assert _alive(again.store) == before
    again.fork_session("trip", "new")
    for name in (AGENT, "critic"):
        assert again.read_agent("new", name) == again.read_agent("trip", name)
        assert again.list_messages("new", name) == again.list_messages("trip", name)
    again.delete_session("new")
    assert _alive(again.store) == before
    assert again.store.verify()["problems"] == []


def test_a_session_made_instead_of_an_interrupted_fork_has_none_of_its_history(path: Path) -> None:
    store = _Killed(path)
    repository = _two_agents(store)
    store.before("fork", _interrupt, skipped=2)
    with pytest.raises(KeyboardInterrupt):
        repository.fork_session("trip", "new")
    assert texts(opened(path, "new", messages=1), "new") == ["message 0"]


def test_a_fork_leaves_the_session_of_a_faster_writer_alone(path: Path) -> None:
    store = _Interrupted(path)
    repository = _two_agents(store)
    before = _alive(store)
    made: list[set[str]] = []

    def create() -> None:
        known = _alive(store)
        opened(path, "new", messages=1)
        made.append(_alive(store) - known)

    store.before("fork", create, skipped=2)
    with pytest.raises(SessionException, match="Session new already exists"):
        repository.fork_session("trip", "new")
    for one in (repository, ForkloreSessionRepository(path)):
        assert texts(one, "new") == ["message 0"]
        assert one.read_agent("new", "critic") is None
    assert _alive(store) == before | made[0]


def test_two_forks_of_one_name_are_never_mixed(path: Path) -> None:
    store = _Interrupted(path)
    repository, other = _two_agents(store), ForkloreSessionRepository(path)
    cut: dict[str, Any] = {"agent_id": AGENT, "message_id": 1}
    store.before("fork", lambda: other.fork_session("trip", "new", **cut), skipped=1)
    with pytest.raises(SessionException, match="Session new already exists"):
        repository.fork_session("trip", "new")
    assert texts(repository, "new") == texts(other, "new") == ["message 0"]
    assert len(other.list_messages("new", "critic")) == 1


def test_an_agent_that_is_created_during_a_delete_is_deleted(path: Path) -> None:
    store = _Interrupted(path)
    repository, other = _two_agents(store), ForkloreSessionRepository(path)
    store.before("delete", lambda: other.create_agent("trip", SessionAgent("late", {}, {})))
    repository.delete_session("trip")
    assert _alive(store) == set()
