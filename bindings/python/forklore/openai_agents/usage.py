"""What the model calls of each turn consumed.

A branch records it as ``provider_usage``, so `stats` counts it. An event of usage names the first event
of its turn. If that event is no longer in the branch, because it was popped or cleared, the usage does
not belong to the branch any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from agents.usage import Usage

from .. import types
from .._lines import Head, object_of
from .family import Family
from .items import FIELD
from .reading import entries
from .turns import first_of_turn

KIND = "provider_usage"
_TOTALS = ("requests", "input_tokens", "output_tokens", "total_tokens")


def event_of(usage: Usage, branch: str, turn: int, anchor: str) -> types.NewEvent:
    """Return the event of the usage of a turn. ``anchor`` is the id of the turn's first event."""
    details = {
        "input_tokens_details": _details(usage.input_tokens_details),
        "output_tokens_details": _details(usage.output_tokens_details),
    }
    totals = {name: getattr(usage, name) or 0 for name in _TOTALS}
    data: dict[str, Any] = {"input": totals["input_tokens"], "output": totals["output_tokens"]}
    cached = (details["input_tokens_details"] or {}).get("cached_tokens")
    if isinstance(cached, int):
        data["cached"] = cached
    data[FIELD] = {"branch": branch, "turn": turn, "anchor": anchor, **totals, **details}
    return cast(types.NewEvent, {"type": KIND, "data": data})


def _details(details: object) -> dict[str, Any] | None:
    if not details:
        return None
    # A newer client has further fields. Without a value, they say nothing.
    fields = {name: value for name, value in vars(details).items() if value is not None}
    try:
        json.dumps(fields)
    except (TypeError, ValueError):
        return None
    return fields


def of_branch(family: Family, branch: str, head: Head) -> list[dict[str, Any]]:
    """Return the usage of each turn of a branch, in order."""
    anchors = first_of_turn(entries(family.store, head))
    found: dict[int, dict[str, Any]] = {}
    for session_id in reversed(family.line(head, branch)):
        for event in family.store.log(session_id, own=True):
            recorded = object_of(object_of(event["data"]).get(FIELD)) if event["type"] == KIND else {}
            if recorded.get("branch") == branch:
                if anchors.get(recorded["turn"]) == recorded["anchor"]:
                    found[recorded["turn"]] = recorded
    return [_row(found[turn]) for turn in sorted(found)]


def _row(recorded: dict[str, Any]) -> dict[str, Any]:
    details = ("input_tokens_details", "output_tokens_details")
    row = {name: recorded[name] for name in (*_TOTALS, *details)}
    return {"user_turn_number": recorded["turn"], **row}


def total(rows: Iterable[dict[str, Any]]) -> dict[str, int] | None:
    """Return the sum of the usage of turns, or ``None`` without any."""
    counted = list(rows)
    if not counted:
        return None
    sums = {name: sum(int(row[name]) for row in counted) for name in _TOTALS}
    return {**sums, "total_turns": len(counted)}
