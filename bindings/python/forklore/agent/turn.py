"""The result of a turn."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypedDict


class TurnUsage(TypedDict):
    """The tokens and the cost of a turn's model calls."""

    input: int
    output: int
    cached: int
    cost: float | None


@dataclass(frozen=True)
class Turn:
    """The result of a turn."""

    session_id: str
    """The session in which the turn ended."""
    status: Literal["success", "cancelled", "incomplete"]
    """How the turn ended: the model finished, the turn was interrupted, or it ended early."""
    text: str
    """The model's last text."""
    model_calls: int
    """How often a model answered completely."""
    tool_calls: int
    """How many calls of tools the answers contain."""
    usage: TurnUsage
    """The tokens and the cost."""
    head_seq: int
    """The last position of the log at the end of the turn."""
    reason: str | None = None
    """Why the turn ended early."""
    moved_from: str | None = None
    """The session in which the turn began, if another process took that over and the turn went on in a
    fork."""


def turn_of(text: str) -> Turn:
    """Return the turn that the kernel wrote."""
    return Turn(**json.loads(text))
