"""The repository that Strands gets."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from strands.session.session_repository import SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import (
    Session,
    SessionAgent,
    SessionMessage,
    decode_bytes_values,
    encode_bytes_values,
)

from .. import types
from .._lines import (
    Head,
    HeadDeletedError,
    Lines,
    before,
    check_lost_race,
    is_deleted,
    object_of,
    title_of,
)
from .._store import Store
from ..errors import AlreadyExistsError, ConflictError, NotFoundError
from . import log
from .ids import METADATA, Ids
from .log import AGENT, MULTI_AGENT, SESSION
from .messages import FIELD, event_of

if TYPE_CHECKING:
    from strands.multiagent.base import MultiAgentBase


class ForkloreSessionRepository(SessionRepository):
    """Sessions, agents and messages of Strands in a store of forklore.

    The conversation of each agent is a session of forklore, in the family of the session's own. Several
    threads and processes may use one store at once: of two that write the same message, one fails and
    nothing is lost.
    """

    def __init__(
        self,
        store: Store | str | os.PathLike[str] | None = None,
        *,
        workspace: str | os.PathLike[str] | None = None,
    ) -> None:
        """Open a repository.

        Args:
            store: The store or its URL, such as ``sqlite:sessions.db``. Without it, the store of the
                program ``forklore``.
            workspace: The folder that the sessions belong to. By default, the current folder.

        Raises:
            InvalidArgsError: The URL names no store.
        """
        self.store = store if isinstance(store, Store) else Store(store)
        self._lines = Lines(self.store, FIELD)
        self._workspace = os.getcwd() if workspace is None else os.path.abspath(workspace)
        self._heads: dict[str, Head] = {}
        self._lock = threading.RLock()

    # Sessions.

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        """Create a session.

        Raises:
            SessionException: It exists.
        """
        _check_id("session_id", session.session_id)
        with self._lock:
            ids = self._begun(session.session_id)
            head = self._head(ids.root)
            if head is None or self._has_record(head, SESSION):
                raise _session_exists(session.session_id)
            record = log.record(SESSION, _encoded(session.to_dict()))
            try:
                # Of two creators, the record of one is first, and the other fails.
                self._heads[ids.root] = self._lines.append(head, [record])
            except ConflictError as error:
                check_lost_race(error)
                raise _session_exists(session.session_id) from error
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        """Return a session, or ``None`` if it does not exist."""
        found = self._record(self._ids(session_id).root, SESSION)
        return None if found is None else Session.from_dict({**found, "session_id": session_id})

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Move a session with its agents to the store's trash. Forks of it remain.

        Raises:
            SessionException: It does not exist.
        """
        with self._lock:
            ids = self._ids(session_id)
            self._existing_session(ids)
            # Another writer may create an agent meanwhile. Only the root leads to it, so the root is last.
            while agents := [one for one in self._family(ids) if one != ids.root]:
                self._delete(agents)
            self._delete([ids.root])

    def fork_session(
        self,
        session_id: str,
        new_session_id: str,
        *,
        agent_id: str | None = None,
        message_id: int | None = None,
    ) -> Session:
        """Create a session that continues another, and shares its history.

        Args:
            session_id: The session to fork.
            new_session_id: The id of the new session.
            agent_id: The agent whose conversation ``message_id`` is about. Other agents are forked at
                their ends.
            message_id: The first message of that agent that the fork does not have. By default, it
                has all.

        Raises:
            SessionException: There is no such session, agent or message, or the new session exists.
        """
        _check_id("session_id", new_session_id)
        with self._lock:
            ids = self._ids(session_id)
            source, new = self._existing_session(ids), self._ids(new_session_id).of_new_fork()
            if self._head(new.root) is not None:
                raise _session_exists(new_session_id)
            agents = self._agents(ids)
            cuts = self._cuts(ids, agents, agent_id, message_id)
            made = self._fork_agents(new, agents, cuts)
            try:
                # The root is last: without it there is no session, if this call is interrupted.
                named: dict[str, Any] = {"title": title_of(new_session_id), "metadata": new.metadata()}
                self._lines.fork_at(source.session_id, "end", id=new.root, **named)
            except AlreadyExistsError as error:
                self._discard(made)
                raise _session_exists(new_session_id) from error
        return cast(Session, self.read_session(new_session_id))

    def forklore_session_id(self, session_id: str, agent_id: str) -> str:
        """Return the session of forklore in which a conversation goes on, for the verbs of ``store``.

        Raises:
            SessionException: The agent does not exist.
        """
        head = self._head(self._ids(session_id).agent(agent_id))
        if head is None:
            raise _missing_agent(agent_id, session_id)
        return head.session_id

    # Agents.

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Create an agent in a session.

        Raises:
            SessionException: The session does not exist, or the agent does.
        """
        _check_id("agent_id", session_agent.agent_id)
        with self._lock:
            ids = self._ids(session_id)
            root, start = self._existing_session(ids), ids.agent(session_agent.agent_id)
            if self._head(start) is None:
                self._fork_agent(ids, session_agent.agent_id, root)

            def append(head: Head) -> Head:
                # If the append is repeated, another writer may have created the agent.
                if self._has_record(head, AGENT):
                    raise _exists(session_agent.agent_id, session_id)
                return self._lines.append(head, [_state(session_agent)])

            self._change(start, append, _missing_agent(session_agent.agent_id, session_id))

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        """Return an agent, or ``None`` if it does not exist."""
        found = self._record(self._ids(session_id).agent(agent_id), AGENT)
        return None if found is None else SessionAgent.from_dict(found)

    def update_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Replace the state of an agent.

        Raises:
            SessionException: The agent does not exist.
        """
        with self._lock:
            previous = self.read_agent(session_id, session_agent.agent_id)
            if previous is None:
                raise _missing_agent(session_agent.agent_id, session_id)
            session_agent.created_at = previous.created_at
            self._append(self._ids(session_id).agent(session_agent.agent_id), [_state(session_agent)])

    # Messages.

    def create_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        """Append a message to the conversation of an agent.

        Raises:
            SessionException: The agent does not exist, or has a message with this id.
        """
        with self._lock:
            start = self._ids(session_id).agent(agent_id)

            def append(head: Head) -> Head:
                message_id = session_message.message_id
                highest = log.highest_id(self._lines, head)
                if message_id <= highest and log.find(self._lines, head, message_id):
                    exists = f"Message {message_id} of agent {agent_id} already exists"
                    raise SessionException(exists)
                event = event_of(session_message, max(message_id, highest))
                return self._lines.append(head, [event])

            self._change(start, append, _missing_agent(agent_id, session_id))

    def read_message(
        self, session_id: str, agent_id: str, message_id: int, **kwargs: Any
    ) -> SessionMessage | None:
        """Return a message, or ``None`` if it does not exist."""
        if not isinstance(cast(object, message_id), int):
            raise ValueError(f"message_id={message_id!r}: a message id is an integer")
        head = self._head(self._ids(session_id).agent(agent_id))
        stored = log.find(self._lines, head, message_id) if head else None
        return stored.message if stored else None

    def update_message(
        self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any
    ) -> None:
        """Replace a message, for example by what remains of it after a redaction.

        The conversation goes on in a fork before the message, with the new message and all later
        ones. What it was remains in the session of forklore before.

        Raises:
            SessionException: The message does not exist.
        """
        with self._lock:
            ids = self._ids(session_id)

            def replace(head: Head) -> Head:
                stored = log.find(self._lines, head, session_message.message_id)
                if stored is None:
                    missing = f"Message {session_message.message_id} of agent {agent_id} does not exist"
                    raise SessionException(missing)
                session_message.created_at = stored.message.created_at
                options = ids.options(agent_id, ids.next(agent_id))
                return self._lines.move(
                    ids.agent(agent_id),
                    head,
                    lambda: self._lines.fork_at(head.session_id, before(stored.seq), **options),
                    [event_of(session_message, stored.highest), *log.later(self._lines, head, stored)],
                )

            self._change(ids.agent(agent_id), replace, _missing_agent(agent_id, session_id))

    def list_messages(
        self,
        session_id: str,
        agent_id: str,
        limit: int | None = None,
        offset: int = 0,
        **kwargs: Any,
    ) -> list[SessionMessage]:
        """Return the messages of an agent in order.

        Args:
            session_id: The session.
            agent_id: The agent.
            limit: How many messages to return. By default, all.
            offset: How many messages to leave out at the beginning.

        Raises:
            SessionException: The agent does not exist.
        """
        head = self._head(self._ids(session_id).agent(agent_id))
        if head is None:
            raise _missing_agent(agent_id, session_id)
        stored = log.messages(self._lines, head)
        end = None if limit is None else offset + limit
        return [one.message for one in stored[offset:end]]

    # Multi-agents.

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Store the state of a multi-agent in a session.

        Raises:
            SessionException: The session does not exist.
        """
        with self._lock:
            ids = self._ids(session_id)
            self._existing_session(ids)
            state = {"id": multi_agent.id, "state": encode_bytes_values(multi_agent.serialize_state())}
            self._append(ids.root, [log.record(MULTI_AGENT, state)])

    def read_multi_agent(
        self, session_id: str, multi_agent_id: str, **kwargs: Any
    ) -> dict[str, Any] | None:
        """Return the state of a multi-agent, or ``None`` if it does not exist."""
        found = self._record(self._ids(session_id).root, MULTI_AGENT, multi_agent_id)
        return None if found is None else cast("dict[str, Any]", decode_bytes_values(found["state"]))

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Replace the state of a multi-agent.

        Raises:
            SessionException: It does not exist.
        """
        with self._lock:
            if self.read_multi_agent(session_id, multi_agent.id) is None:
                missing = f"MultiAgent {multi_agent.id} does not exist in session {session_id}"
                raise SessionException(missing)
            self.create_multi_agent(session_id, multi_agent)

    # What the methods share.

    def _ids(self, session_id: str) -> Ids:
        """Return the ids of a session. An id that another session has, or had, is passed over."""
        return next(ids for ids in map(self._own, Ids.candidates(session_id)) if ids)

    def _own(self, ids: Ids) -> Ids | None:
        """Return the ids with what the stored session adds to them, ``None`` if it is another's."""
        try:
            header = self.store.show(ids.root)["session"]
        except NotFoundError as error:
            return None if is_deleted(error) else ids
        named = object_of(object_of(header.get("metadata")).get(METADATA))
        if named:
            is_own = named.get("session") == ids.session_id
            return replace(ids, fork=str(named.get("fork") or "")) if is_own else None
        # A fork that somebody made with the program has the record, and no metadata.
        # Its log may begin with the event that records the fork.
        beginning = itertools.islice(self.store.log(ids.root), 2)
        return ids if any(event["type"] == SESSION for event in beginning) else None

    def _begun(self, session_id: str) -> Ids:
        """Return the ids of a session, whose first session of forklore exists."""
        attempted: set[str] = set()
        while True:
            ids = self._ids(session_id)
            if self._head(ids.root) is not None:
                return ids
            try:
                title, metadata = title_of(session_id), ids.metadata()
                self.store.new(self._workspace, id=ids.root, title=title, metadata=metadata)
                return ids
            except AlreadyExistsError as error:
                # Another writer was faster: with this session, or with one that has the same id.
                if ids.root in attempted:
                    raise _session_exists(session_id) from error
                attempted.add(ids.root)

    def _head(self, start: str) -> Head | None:
        with self._lock:
            seen = self._heads.pop(start, None)
            head = self._lines.refresh(seen) if seen else None
            try:
                head = head or self._lines.find(start)
            except HeadDeletedError as error:
                raise SessionException(error.message) from error
            if head is not None:
                self._heads[start] = head
            return head

    def _change(self, start: str, change: Callable[[Head], Head], missing: SessionException) -> None:
        """Change the line that began in a session. Repeat it if another writer was faster."""
        head = self._heads.get(start) or self._head(start)
        while True:
            if head is None:
                raise missing
            try:
                self._heads[start] = change(head)
                return
            except NotFoundError:
                head = self._head(start)
            except ConflictError as error:
                check_lost_race(error)
                head = self._head(start)

    def _append(self, start: str, events: Sequence[types.NewEvent]) -> None:
        missing = SessionException("The session does not exist")
        self._change(start, lambda head: self._lines.append(head, events), missing)

    def _record(self, start: str, kind: str, record_id: str | None = None) -> dict[str, Any] | None:
        head = self._head(start)
        return log.last_record(self._lines, head, kind, record_id) if head else None

    def _has_record(self, head: Head, kind: str) -> bool:
        """Return whether there is a record that can be read. A redacted one may be created again."""
        try:
            return log.last_record(self._lines, head, kind) is not None
        except log.RedactedError:
            return False

    def _existing_session(self, ids: Ids) -> Head:
        head = self._head(ids.root)
        if head is None:
            raise SessionException(f"Session {ids.session_id} does not exist")
        return head

    def _fork_agent(self, ids: Ids, agent_id: str, root: Head) -> None:
        """Create the session of an agent, with no history, unless another writer was faster."""
        with contextlib.suppress(AlreadyExistsError):
            options = ids.options(agent_id, ids.agent(agent_id))
            self._lines.fork_at(root.session_id, "start", **options)

    def _fork_agents(self, new: Ids, agents: dict[str, Head], cuts: dict[str, str]) -> list[Head]:
        """Fork the agents of a session for another: all, or none if that fails."""
        made: list[Head] = []
        try:
            for agent, head in agents.items():
                # Labels are unique in a family, and the agent of the source has this one.
                options: dict[str, Any] = {**new.options(agent, new.agent(agent)), "label": None}
                made.append(self._lines.fork_at(head.session_id, cuts[agent], **options))
        except BaseException:
            self._discard(made)
            raise
        return made

    def _discard(self, forks: list[Head]) -> None:
        for fork in forks:
            self._lines.discard(fork)

    def _delete(self, sessions: list[str]) -> None:
        for one in sessions:
            self.store.delete(one, mode="detach_children")
            self._heads.pop(one, None)

    def _family(self, ids: Ids) -> list[str]:
        """Return the sessions of forklore that are parts of a session."""
        family = self.store.branches(ids.root)["branches"]
        return [one["session_id"] for one in family if ids.belongs(one["session_id"])]

    def _agents(self, ids: Ids) -> dict[str, Head]:
        """Return the heads of the agents of a session."""
        agents: dict[str, Head] = {}
        for one in self._family(ids):
            if ids.is_agent(one):
                metadata = object_of(self.store.show(one)["session"].get("metadata"))
                head = self._head(one)
                if head is not None:
                    agents[metadata[METADATA]["agent"]] = head
        return agents

    def _cuts(
        self, ids: Ids, agents: dict[str, Head], agent_id: str | None, message_id: int | None
    ) -> dict[str, str]:
        """Return at which position each agent is forked."""
        cuts = dict.fromkeys(agents, "end")
        if message_id is not None:
            if agent_id not in agents:
                raise _missing_agent(str(agent_id), ids.session_id)
            stored = log.find(self._lines, agents[agent_id], message_id)
            if stored is None:
                raise SessionException(f"Message {message_id} of agent {agent_id} does not exist")
            cuts[agent_id] = before(stored.seq)
        return cuts


def _check_id(name: str, value: str) -> None:
    if not value:
        raise ValueError(f"{name} cannot be empty")


def _encoded(value: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", encode_bytes_values(value))


def _state(agent: SessionAgent) -> types.NewEvent:
    return log.record(AGENT, agent.to_dict())


def _session_exists(session_id: str) -> SessionException:
    return SessionException(f"Session {session_id} already exists")


def _exists(agent_id: str, session_id: str) -> SessionException:
    return SessionException(f"Agent {agent_id} already exists in session {session_id}")


def _missing_agent(agent_id: str, session_id: str) -> SessionException:
    return SessionException(f"Agent {agent_id} does not exist in session {session_id}")
