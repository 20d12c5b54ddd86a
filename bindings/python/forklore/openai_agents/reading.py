"""The items of a session, read from its log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .. import types
from .._lines import Head, object_of
from .._store import Store
from ..events import CONVERSATION
from .items import FIELD, OTHER, Item, items_of

_TYPES = CONVERSATION | {OTHER}

_MARGIN = 16
"""How many more events than items are read from the end of a log at first."""


@dataclass(frozen=True)
class Entry:
    """An event of the conversation, as items."""

    seq: int
    event_id: str
    ts: str
    items: list[Item]
    """One item, or those of what another agent wrote: none, one or several."""

    is_user: bool
    """Whether the event begins a turn."""


def entries(store: Store, head: Head) -> list[Entry]:
    """Return the conversation of a branch."""
    return _entries(store, head, store.log(head.session_id, to=head.seq)) if head.seq >= 0 else []


def last_entries(store: Store, head: Head, count: int) -> list[Entry]:
    """Return the end of the conversation of a branch, which has this many items if there are so many."""
    window = count + _MARGIN
    while head.seq >= 0:
        first = max(0, head.seq - window + 1)
        lines = store.log(head.session_id, from_=first, to=head.seq)
        found = [entry for entry in _entries(store, head, lines) if entry.items]
        if first == 0 or sum(len(entry.items) for entry in found) >= count:
            return found
        window *= 4
    return []


def _entries(store: Store, head: Head, lines: Iterable[types.EventLine]) -> list[Entry]:
    found = [line for line in lines if line["type"] in _TYPES]
    foreign = [line["seq"] for line in found if not _is_ours(line)]
    records = {record["seq"]: record for record in _replayed(store, head, foreign)}
    return [_entry(line, records) for line in found]


def _entry(line: types.EventLine, records: dict[int, types.Record]) -> Entry:
    data = object_of(line["data"])
    if _is_ours(line):
        items, is_user = [data[FIELD]], line["type"] == "user_message"
    else:
        record = records.get(line["seq"])
        items = items_of(record) if record else []
        is_user = line["type"] == "user_message" and not data.get("injected")
    return Entry(line["seq"], line["id"], line["ts"], items, is_user)


def _is_ours(line: types.EventLine) -> bool:
    return FIELD in object_of(line["data"])


def _replayed(store: Store, head: Head, foreign: list[int]) -> Iterator[types.Record]:
    """Return the messages that another agent wrote, in the form that all agents share."""
    if foreign:
        first, last = f"seq:{foreign[0]}", f"seq:{foreign[-1]}"
        yield from store.replay(head.session_id, from_=first, up_to=last)
