"""Conversations whose session moves on to a fork, for the faces of frameworks.

A framework may take messages back or replace them. A log of forklore only grows, so the conversation
goes on in a fork at an earlier position, and everything before it stays where it is. The sessions
in which a conversation went on are its *line*. The last event of the session that it leaves is a
*pointer*, which names the fork:

- A pointer is appended with the head that its writer read, as messages are. So of two changes at the
  same moment, one is first; the other finds its result and repeats.
- It is stored before the call returns. Every process and every later run finds it.
- The session in which the line began gets each later pointer too, so finding the head takes the
  same time after any number of moves. If a process dies before it writes that copy, the copy before
  leads to a session that ends with a pointer, which leads on.
- Pointers are not inherited, and no model sees them.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from . import types
from ._store import Store
from .errors import (
    AlreadyExistsError,
    ConflictError,
    ForkloreError,
    InterruptedCallError,
    InvalidArgsError,
    NotFoundError,
    PermissionDeniedError,
    UnsupportedError,
)

BATCH = 10_000
"""How many events the store appends at once."""

_WINDOW = 8
"""How many events at the end of a log are read first to find a pointer."""

_REPEATS = 3
"""How often a pointer is sent while it is uncertain whether it was stored."""

_REFUSALS = (
    ConflictError,
    InvalidArgsError,
    NotFoundError,
    PermissionDeniedError,
    UnsupportedError,
)
"""The errors that say that the store refused a call. After any other, it may still have stored it."""

_WORD = re.compile(r"[a-z0-9_][a-z0-9_-]{0,119}")


@dataclass(frozen=True)
class Head:
    """The session in which a line goes on, and its last position that was read."""

    session_id: str
    seq: int
    generation: int = 0
    """How often the conversation was cleared before this session began."""


class HeadDeletedError(NotFoundError):
    """The session in which a conversation goes on was deleted.

    The details have the session, the one before it, and how often the conversation was cleared before.
    """


class Lines:
    """Finds and moves the heads of lines in a store."""

    def __init__(self, store: Store, framework: str) -> None:
        """Name the lines of a framework.

        Args:
            store: The store.
            framework: The field of a payload by which the framework's events are recognised, and the
                middle part of the type of pointers.
        """
        self.store = store
        self.field = framework
        self.moved = f"x.{framework}.moved"

    def find(self, start: str, generation: int = 0) -> Head | None:
        """Return the head of the line that began in a session, or ``None`` if that never existed.

        Raises:
            HeadDeletedError: The line began in a session that was deleted, or leads to one.
        """
        at, previous = start, start
        while True:
            try:
                header = self.store.show(at)["session"]
                target = self._last_pointer(header)
            except NotFoundError as error:
                if at == start and not is_deleted(error):
                    return None
                raise self._deleted_head(at, previous, generation) from error
            if target is None:
                return Head(at, header["head_seq"], generation)
            previous, at, generation = at, target["to"], target["generation"]

    def refresh(self, head: Head) -> Head | None:
        """Return the present head of a line, of which an earlier one is given.

        ``None`` means that a session was deleted, which the line may have left before.
        """
        try:
            for event in self.store.log(head.session_id, from_=head.seq + 1):
                if event["type"] == self.moved:
                    target = object_of(event["data"])
                    return self.find(target["to"], target["generation"])
                head = replace(head, seq=event["seq"])
        except NotFoundError:
            return None
        return head

    def append(self, head: Head, events: Sequence[types.NewEvent]) -> Head:
        """Append events to a head.

        Raises:
            ConflictError: The line has another head by now.
        """
        answer = self.store.append(head.session_id, list(events), expect=head.seq)
        return replace(head, seq=answer["to_seq"])

    def move(
        self,
        start: str,
        head: Head,
        fork: Callable[[], Head],
        events: Sequence[types.NewEvent] = (),
    ) -> Head:
        """Let a line go on in a fork of its head, with further events. All of it happens, or nothing.

        Raises:
            ConflictError: The line has another head by now.
        """
        new = fork()
        data = {"to": new.session_id, "generation": new.generation}
        fields = {"type": self.moved, "id": str(uuid.uuid4()), "data": data}
        pointer = cast(types.NewEvent, fields)
        try:
            for first in range(0, len(events), BATCH):
                new = self.append(new, events[first : first + BATCH])
        except ForkloreError:
            self.discard(new)
            raise
        self._point(head, pointer, new)
        if head.session_id != start:
            # The line has moved without this copy: the pointers before it lead to the head.
            with contextlib.suppress(ForkloreError):
                self.store.append(start, [pointer])
        return new

    def _point(self, head: Head, pointer: types.NewEvent, new: Head) -> None:
        """End a session with the pointer to a fork.

        An answer may be lost after the pointer was stored. Then the line goes on in the fork, whose
        deletion would take the conversation away. So the same pointer is sent again: the store accepts
        it where it is already stored, and refuses it if another event follows the head, in which case
        it is never stored. A fork of which that stays uncertain remains.
        """
        for attempt in range(_REPEATS):
            try:
                self.append(head, [pointer])
                return
            except ForkloreError as error:
                if not attempt and isinstance(error, _REFUSALS) or _is_lost_race(error):
                    self.discard(new)
                    raise
                is_final = isinstance(error, (InterruptedCallError, *_REFUSALS))
                if is_final or attempt == _REPEATS - 1:
                    raise

    def discard(self, fork: Head) -> None:
        """Delete a fork to which no pointer leads."""
        with contextlib.suppress(ForkloreError):
            self.store.delete(fork.session_id)

    def fork_at(self, parent: str, at: str, generation: int = 0, **options: Any) -> Head:
        """Fork a session at a position. If nothing is before it, the fork begins with no history.

        A label that is in use is left out.

        Raises:
            AlreadyExistsError: The id is in use.
        """
        options = {"must_be_new": True, "tool_calls": "verbatim", **options}
        while True:
            try:
                forked = self.store.fork(parent, at=at, **options)
                return Head(forked["child_session_id"], forked["head_seq"], generation)
            except InvalidArgsError as error:
                if error.details.get("reason") != "nothing_to_fork" or at == "start":
                    raise
                at = "start"
            except AlreadyExistsError as error:
                if "label" not in error.details or options.get("label") is None:
                    raise
                options["label"] = None

    def backwards(self, session_id: str, oldest: int, last: int) -> Iterator[types.EventLine]:
        """Return the events of a log from one position back to another."""
        window = _WINDOW
        while last >= oldest:
            first = max(oldest, last - window + 1)
            yield from reversed(list(self.store.log(session_id, from_=first, to=last)))
            last, window = first - 1, window * 8

    def _deleted_head(self, session_id: str, previous: str, generation: int) -> HeadDeletedError:
        trash = self.store.list(deleted=True, limit=0)["sessions"]
        if any(one["id"] == session_id for one in trash):
            message = f"the conversation goes on in session {session_id}, which was deleted: undelete it"
            actions = ["undelete the session"]
        else:
            message = f"the conversation went on in session {session_id}, which was erased"
            actions = ["use another id"]
            if previous != session_id:
                message += f"; what was before is in session {previous}"
                actions = ["fork the session before, and go on in the fork"]
        details = {"session_id": session_id, "previous": previous, "generation": generation}
        return HeadDeletedError(message, details, actions)

    def _last_pointer(self, header: types.Session) -> dict[str, Any] | None:
        """Return the payload of the last pointer of a session.

        Nothing of ours follows a pointer except another. What somebody else appended is skipped.
        """
        oldest = header["head_seq"] - header["own_events"] + 1
        for event in self.backwards(header["id"], oldest, header["head_seq"]):
            data = object_of(event["data"])
            if event["type"] == self.moved:
                return data
            if self.field in data:
                return None
        return None


def is_deleted(error: NotFoundError) -> bool:
    """Return whether the session that an error is about was deleted, and its id remains in use.

    The message has the session's id, which is any word, so only the proposed action says it.
    """
    return "undelete the session" in error.next_actions


def check_lost_race(error: ConflictError) -> None:
    """Raise an error again, unless it says that another writer was faster."""
    if not _is_lost_race(error):
        raise error


def _is_lost_race(error: ForkloreError) -> bool:
    return isinstance(error, ConflictError) and "expected" in error.details


def before(seq: int) -> str:
    """Return the position before an event as a selector."""
    return f"seq:{seq - 1}" if seq else "start"


def root_id(text: str, prefix: str) -> str:
    """Return the id in forklore of a conversation whose framework's id is any text.

    A lower-case word is used as it is, so that the session is found under its own id. Ids of forklore
    have a grammar, and case does not distinguish them (docs/semantics.md, Envelope), so any other text
    is named by its hash.
    """
    if _WORD.fullmatch(text) and text != "last" and not text.startswith(prefix):
        return text
    return f"{prefix}{digest(text)}"


def title_of(text: str) -> str:
    """Return text as a title. A title has at most 500 bytes."""
    return text.encode("utf-8", "replace")[:500].decode("utf-8", "ignore")


def digest(text: str) -> str:
    """Return a part of an id that stands for any text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def object_of(value: object) -> dict[str, Any]:
    """Return a value that is an object, or else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def list_of(value: object) -> Sequence[Any]:
    """Return a value that is a list, or else an empty one."""
    return cast(Sequence[Any], value) if isinstance(value, list) else ()
