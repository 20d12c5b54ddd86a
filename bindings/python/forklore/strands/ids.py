"""Which sessions of forklore have a session of Strands: one for itself, and one for each agent."""

from __future__ import annotations

import itertools
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .._lines import digest, root_id, title_of

METADATA = "strands"
"""The field of a session's metadata that says which agent of which session it has."""

_PREFIX = "st-"

_LABEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,47}")


@dataclass(frozen=True)
class Ids:
    """The ids of the sessions of forklore that have one session of Strands."""

    session_id: str
    """The id in Strands."""

    root: str
    """The session that has the session's record and the states of multi-agents."""

    fork: str = ""
    """What only one fork of a session has in the ids of its agents. Empty if no fork made the session."""

    @classmethod
    def candidates(cls, session_id: str) -> Iterator[Ids]:
        """Return the ids that a session may have. It has the first that nothing else has, or had.

        The order never depends on why an id cannot be used, so all processes find the same one.
        """
        first, derived = root_id(session_id, _PREFIX), f"{_PREFIX}{digest(session_id)}"
        yield cls(session_id, first)
        if first != derived:
            yield cls(session_id, derived)
        yield from (cls(session_id, f"{derived}.g{number}") for number in itertools.count(2))

    def of_new_fork(self) -> Ids:
        """Return the ids for a fork. Until its root names them, nobody else finds its agents."""
        return replace(self, fork=uuid.uuid4().hex[:16])

    def agent(self, agent_id: str) -> str:
        """Return the session in which the conversation of an agent began."""
        return f"{self._agents}{digest(agent_id)}"

    def next(self, agent_id: str) -> str:
        """Return a new id for the session in which the conversation of an agent goes on."""
        return f"{self.agent(agent_id)}.h-{uuid.uuid4().hex[:16]}"

    def belongs(self, forklore_id: str) -> bool:
        """Return whether a session of forklore is a part of this session of Strands."""
        # What forks of the same id left that were interrupted is deleted with the session.
        return forklore_id == self.root or forklore_id.startswith((f"{self.root}.a-", f"{self.root}.f-"))

    def is_agent(self, forklore_id: str) -> bool:
        """Return whether the conversation of an agent began in a session of forklore."""
        prefix = self._agents
        return forklore_id.startswith(prefix) and "." not in forklore_id[len(prefix) :]

    def metadata(self) -> dict[str, Any]:
        """Return the metadata of the session that has the session's record."""
        named = {"session": self.session_id}
        return {METADATA: {**named, "fork": self.fork} if self.fork else named}

    @property
    def _agents(self) -> str:
        return f"{self.root}.f-{self.fork}.a-" if self.fork else f"{self.root}.a-"

    def options(self, agent_id: str, new_id: str) -> dict[str, Any]:
        """Return what the fork for an agent is called."""
        named = {"session": self.session_id, "agent": agent_id}
        label = agent_id if _LABEL.fullmatch(agent_id) and agent_id.lower() not in ("last", "main") else None
        if label and new_id != self.agent(agent_id):
            label = f"{label}.{new_id[-8:]}"
        return {
            "id": new_id,
            "label": label,
            "title": title_of(f"{self.session_id}: {agent_id}"),
            "metadata": {METADATA: named},
        }
