"""The logs of a session of Strands: what is in them, and how it is found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from strands.types.exceptions import SessionException
from strands.types.session import SessionMessage

from .. import types
from .._lines import Head, Lines, object_of
from ..errors import InvalidArgsError
from ..events import CONVERSATION
from .messages import FIELD, HIGHEST, message_of

SESSION = "x.strands.session"
"""The type of the event that has the record of a session."""

AGENT = "x.strands.agent"
"""The type of the event that has the state of an agent. The last one counts."""

MULTI_AGENT = "x.strands.multi_agent"
"""The type of the event that has the state of a multi-agent. The last one with its id counts."""


_INHERITED = frozenset({"conversation", "context", "evidence"})
"""The classes that a fork inherits, of events with a type of their own."""

_EVIDENCE = frozenset(
    {
        "history_compaction",
        "permission_decision",
        "skill_activation",
        "subagent_event",
        "workflow_event",
        "workspace_snapshot",
    }
)
"""The types of forklore that a fork inherits with the conversation."""


class RedactedError(SessionException):
    """A record was redacted, and none before it can be read."""


@dataclass(frozen=True)
class Stored:
    """A message, the position of its event, and the highest id of the messages up to it."""

    seq: int
    message: SessionMessage
    highest: int


def record(kind: str, data: dict[str, Any]) -> types.NewEvent:
    """Return the event of a record. Forks inherit it."""
    return cast(types.NewEvent, {"type": kind, "class": "evidence", "data": {FIELD: data}})


def last_record(lines: Lines, head: Head, kind: str, record_id: str | None = None) -> dict[str, Any] | None:
    """Return the last record of a type in a log that can be read, if there is one with the id.

    Raises:
        RedactedError: Records were redacted, and no other one was found.
    """
    is_redacted = False
    for event in lines.backwards(head.session_id, 0, head.seq):
        if event["type"] == kind:
            found = object_of(object_of(event["data"]).get(FIELD))
            is_redacted = is_redacted or not found
            if found and (record_id is None or found["id"] == record_id):
                return found
    if is_redacted:
        raise RedactedError(f"The record {kind} in session {head.session_id} was redacted")
    return None


def highest_id(lines: Lines, head: Head) -> int:
    """Return the highest id of the messages in a log, -1 without any."""
    for event in lines.backwards(head.session_id, 0, head.seq):
        if event["type"] in CONVERSATION:
            highest = object_of(event["data"]).get(HIGHEST)
            if highest is not None:
                return cast(int, highest)
            # Another agent wrote on. Its messages have no ids of their own.
            return max((stored.highest for stored in messages(lines, head)), default=-1)
    return -1


def find(lines: Lines, head: Head, message_id: int) -> Stored | None:
    """Return the message with an id."""
    if message_id < 0:
        return None
    try:
        # Usually the id is the message's index.
        record = next(lines.store.replay(head.session_id, from_=f"message:{message_id}"), None)
    except InvalidArgsError:
        record = None
    if record is not None and record["seq"] <= head.seq:
        event = next(lines.store.log(head.session_id, from_=record["seq"], to=record["seq"]))
        data = object_of(event["data"])
        if object_of(data.get(FIELD)).get("message_id") == message_id:
            return Stored(event["seq"], SessionMessage.from_dict(data[FIELD]), data[HIGHEST])
    found = [one for one in messages(lines, head) if one.message.message_id == message_id]
    return found[0] if found else None


def later(lines: Lines, head: Head, stored: Stored) -> list[types.NewEvent]:
    """Return the events after a message that a fork would inherit, to append them again."""
    again: list[types.NewEvent] = []
    for event in lines.store.log(head.session_id, from_=stored.seq + 1, to=head.seq):
        kind, own = event["type"], event.get("class")
        if kind in CONVERSATION or kind in _EVIDENCE or own in _INHERITED:
            fields = {"type": kind, "data": event["data"], "ts": event["ts"], "class": own}
            given = {name: value for name, value in fields.items() if value is not None}
            again.append(cast(types.NewEvent, given))
    return again


def messages(lines: Lines, head: Head) -> list[Stored]:
    """Return the messages of a log in the order of their ids.

    What another agent wrote has the ids that follow the highest one before it.
    """
    log = lines.store.log(head.session_id, to=head.seq) if head.seq >= 0 else iter(())
    events = [event for event in log if event["type"] in CONVERSATION]
    foreign = [event["seq"] for event in events if FIELD not in object_of(event["data"])]
    records = {found["seq"]: found for found in _replayed(lines, head, foreign)}
    return sorted(_stored(events, records), key=lambda stored: stored.message.message_id)


def _stored(events: Iterable[types.EventLine], records: dict[int, types.Record]) -> Iterator[Stored]:
    message_id = -1
    for event in events:
        verbatim = object_of(event["data"]).get(FIELD)
        if verbatim is not None:
            message = SessionMessage.from_dict(verbatim)
        elif event["seq"] in records:
            message = message_of(records[event["seq"]], message_id + 1, event["ts"])
        else:
            continue
        message_id = max(message_id, message.message_id)
        yield Stored(event["seq"], message, message_id)


def _replayed(lines: Lines, head: Head, foreign: list[int]) -> Iterator[types.Record]:
    """Return the messages that another agent wrote, in the form that all agents share."""
    if foreign:
        first, last = f"seq:{foreign[0]}", f"seq:{foreign[-1]}"
        yield from lines.store.replay(head.session_id, from_=first, up_to=last)
