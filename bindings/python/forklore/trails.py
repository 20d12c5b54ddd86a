"""Sessions as ADR-0018a of Trails defines them: forks that share, branches, and replay that only reads.

::

    import forklore
    from forklore.trails import Session

    with forklore.open("sqlite:sessions.db") as ctx:
        plan = Session(principal="did:key:z6Mk")
        plan.append("user", "plan A or plan B?")
        plan.persist(ctx)
        other = plan.fork(ctx, 1)
        other.append("assistant", "plan B")
        other.persist(ctx)
        print(Session.load(ctx, other.session_id).turns)

A turn is one message, as in Trails. Its index is the index of an event of the conversation, so a turn of
Trails is ``message:N`` in forklore.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import uuid
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, cast

from . import types
from ._lines import object_of
from ._store import Store
from .errors import ConflictError, ForkloreError, HasChildrenError

MAX_FORK_DEPTH = 32
"""How many links there may be between a session and the nearest one that needs no ancestor."""

MAIN = "main"
"""The branch of a session that is no fork."""

FIELD = "trails"
"""The field of a payload that has the turn."""

_TYPES = {
    "user": "user_message",
    "assistant": "assistant_message",
    "system": "system_message",
}
_OTHER = "x.trails.turn"


class TrailsError(Exception):
    """A session cannot be read, forked or deleted. The cause is the :class:`ForkloreError`, if any."""


@dataclass(frozen=True)
class SessionTurn:
    """A message of a session."""

    index: int
    role: str
    content: Any
    branch: str = MAIN
    """The branch of the session that wrote the turn."""


class Session:
    """A session that can be edited in memory. Only :meth:`persist` and :meth:`fork` write."""

    def __init__(
        self,
        session_id: str | None = None,
        *,
        principal: str | None = None,
        workspace: str | None = None,
    ) -> None:
        """Begin a session without turns.

        Args:
            session_id: The id. By default, a new one.
            principal: On whose behalf the session acts: opaque text.
            workspace: The folder that the session belongs to. By default, the current folder.
        """
        self.session_id = session_id or uuid.uuid4().hex
        self.principal = principal
        self.parent_session_id: str | None = None
        """The session from which this one was forked; ``None`` for a root."""
        self.forked_at_index: int | None = None
        """The first index that belongs to the fork; ``None`` for a root."""
        self.branch = MAIN
        """The label of the fork; ``main`` for a root."""
        self._workspace = os.path.abspath(workspace or os.getcwd())
        self._turns: builtins.list[SessionTurn] = []
        self._persisted = 0
        self._head: int | None = None

    @property
    def turns(self) -> builtins.list[SessionTurn]:
        """All turns, those of the ancestors first."""
        return builtins.list(self._turns)

    def append(self, role: str, content: Any) -> SessionTurn:
        """Add a turn in memory."""
        turn = SessionTurn(len(self._turns), role, content, self.branch)
        self._turns.append(turn)
        return turn

    def persist(self, ctx: Store) -> None:
        """Store the turns that are not stored yet: all of them, or none.

        Raises:
            TrailsError: Another process added turns since this session was read, or it is deleted.
        """
        with _explained(f"session {self.session_id} cannot be stored"):
            if self._head is None:
                made = ctx.new(self._workspace, id=self.session_id, principal=self.principal)
                self._head = made["session"]["head_seq"]
            events = [_event(turn) for turn in self._turns[self._persisted :]]
            if events:
                stored = ctx.append(self.session_id, events, expect=self._head)
                self._head, self._persisted = stored["to_seq"], len(self._turns)

    @classmethod
    def load(cls, ctx: Store, session_id: str) -> Session:
        """Return a stored session, with the turns of its ancestors before its own.

        Raises:
            TrailsError: It does not exist, or an ancestor that it needs is lost.
        """
        with _explained(f"session {session_id} cannot be loaded"):
            header = ctx.show(session_id)["session"]
            session = cls(session_id, principal=header.get("principal"), workspace=header["workspace"])
            session._describe(header)
            session._turns = [_turn(record) for record in _records(ctx, session_id, None)]
            session._persisted, session._head = len(session._turns), header["head_seq"]
            return session

    @staticmethod
    def list(ctx: Store) -> builtins.list[dict[str, Any]]:
        """Return a description of each session, the one that was written to last first."""
        return [
            {
                "session_id": header["id"],
                "parent_session_id": header.get("parent_id"),
                "forked_at_index": _forked_at(header),
                "branch": _branch(header),
                "principal": header.get("principal"),
                "turns": header["head_index"],
            }
            for header in ctx.list()["sessions"]
        ]

    @staticmethod
    def delete(ctx: Store, session_id: str, *, children: str = "refuse") -> None:
        """Move a session to the trash.

        Args:
            ctx: The store.
            session_id: The session.
            children: What happens to forks of it: ``refuse`` refuses the call if there are any,
                ``cascade`` deletes them too, and with ``detach_children`` they remain, with their
                history.

        Raises:
            TrailsError: It does not exist, or has forks.
        """
        with _explained(f"session {session_id} cannot be deleted"):
            ctx.delete(session_id, mode=cast(Any, children))

    def fork(
        self,
        ctx: Store,
        at_index: int | None = None,
        *,
        principal: str | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Return a fork that owns the turns from an index on. It shares those before.

        The turns of this session are stored first, if they are not. The cost does not depend on them.

        Args:
            ctx: The store.
            at_index: The first index that belongs to the fork. By default, the end.
            principal: On whose behalf the fork acts. By default, as this session.
            session_id: The id of the fork. By default, a new one.

        Raises:
            TrailsError: There is no such index, or the fork would be too deep.
        """
        self.persist(ctx)
        index = len(self._turns) if at_index is None else at_index
        if not 0 <= index <= len(self._turns):
            raise TrailsError(f"session {self.session_id} has no index {index} to fork at")
        if _depth(ctx, self.session_id) >= MAX_FORK_DEPTH:
            deep = f"session {self.session_id} already has {MAX_FORK_DEPTH} ancestors"
            raise TrailsError(f"{deep}; detach it, or fork one of them")
        with _explained(f"session {self.session_id} cannot be forked"):
            made = ctx.fork(
                self.session_id,
                at=f"index:{index}",
                id=session_id or uuid.uuid4().hex,
                label=f"fork-{uuid.uuid4().hex[:8]}",
                principal=principal,
                must_be_new=True,
                tool_calls="verbatim",
            )
        return Session.load(ctx, made["child_session_id"])

    def branches(self, ctx: Store) -> builtins.list[dict[str, Any]]:
        """Return the branches of this session's family, each after its parent."""
        with _explained(f"the branches of session {self.session_id} cannot be read"):
            return [
                {
                    "branch": one["label"] if one.get("parent_session_id") else MAIN,
                    "session_id": one["session_id"],
                    "parent_session_id": one.get("parent_session_id"),
                    "forked_at_index": _index(one.get("cut")),
                    "turns": one["head_index"],
                }
                for one in ctx.branches(self.session_id)["branches"]
            ]

    def replay(self, ctx: Store, up_to_index: int | None = None) -> builtins.list[dict[str, Any]]:
        """Return the stored turns as plain dictionaries. Nothing changes, here or in the store.

        Args:
            ctx: The store.
            up_to_index: The index before which to end. By default, all turns.

        Raises:
            TrailsError: There is no such index.
        """
        with _explained(f"session {self.session_id} cannot be replayed"):
            turns = [_turn(record) for record in _records(ctx, self.session_id, up_to_index)]
        fields = ("role", "content", "index", "branch")
        return [{name: getattr(turn, name) for name in fields} for turn in turns]

    def detach(self, ctx: Store) -> None:
        """Give this session a copy of the turns that it shares, so that it needs no ancestor."""
        with _explained(f"session {self.session_id} cannot be detached"):
            ctx.detach(self.session_id)

    def _describe(self, header: types.Session) -> None:
        self.parent_session_id, self.forked_at_index = header.get("parent_id"), _forked_at(header)
        self.branch = _branch(header)


def _branch(header: types.Session) -> str:
    return header["label"] if header.get("parent_id") else MAIN


def _forked_at(header: types.Session) -> int | None:
    return _index(header.get("cut"))


def _index(cut: types.Cut | None) -> int | None:
    return cut["index"] if cut else None


def _depth(ctx: Store, session_id: str) -> int:
    """Return the number of links to the nearest session that needs no ancestor."""
    header = ctx.show(session_id)["session"]
    if header["depth"] < MAX_FORK_DEPTH or header.get("detached"):
        return 0 if header.get("detached") else header["depth"]
    links = 1
    for ancestor in ctx.lineage(session_id)["ancestors"]:
        with contextlib.suppress(ForkloreError):
            if ctx.show(ancestor["session_id"])["session"].get("detached"):
                return links
        links += 1
    return links - 1


def _event(turn: SessionTurn) -> types.NewEvent:
    stored = {"role": turn.role, "content": turn.content}
    content: object = turn.content
    kind = _TYPES.get(turn.role) if isinstance(content, (str, list)) else None
    event: dict[str, Any] = {"type": kind or _OTHER, "data": {"content": turn.content, FIELD: stored}}
    if kind is None:
        event["class"] = "conversation"
    return cast(types.NewEvent, event)


def _records(ctx: Store, session_id: str, up_to: int | None) -> Iterator[tuple[types.Record, Any]]:
    """Return the messages of a session, each with the payload of its event."""
    end = None if up_to is None else f"index:{up_to}"
    payloads = ((event["seq"], event["data"]) for event in ctx.log(session_id))
    seq, data = -1, None
    for record in ctx.replay(session_id, up_to=end):
        while seq < record["seq"]:
            seq, data = next(payloads)
        yield record, data


def _turn(found: tuple[types.Record, Any]) -> SessionTurn:
    record, data = found
    plain: dict[str, Any] = {"role": record["role"], "content": record["content"]}
    stored = object_of(object_of(data).get(FIELD)) or plain
    # Nobody knows the label of a session that is lost. Its turns are there all the same.
    branch = record.get("branch") or record["origin"]["session_id"]
    return SessionTurn(record["index"], stored["role"], stored["content"], branch)


@contextlib.contextmanager
def _explained(what: str) -> Generator[None, None, None]:
    try:
        yield
    except HasChildrenError as error:
        raise TrailsError(f"{what}: it has forks; detach them first") from error
    except ConflictError as error:
        raise TrailsError(f"{what}: another writer was faster; load it again") from error
    except ForkloreError as error:
        raise TrailsError(f"{what}: {error.message}") from error
