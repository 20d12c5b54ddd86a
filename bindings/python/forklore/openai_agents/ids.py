"""Which session of forklore has a branch of a session of the SDK.

The branch ``main`` begins in a session with the SDK's id, as far as that can be an id of forklore. All
others descend from it, and their ids begin with its id.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Any

from .._lines import digest, root_id

MAIN = "main"
"""The branch with which a session begins."""

METADATA = "openai_agents"
"""The field of a session's metadata that says which branch of which session it has."""

_LABEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,47}")


@dataclass(frozen=True)
class Ids:
    """The ids of the sessions that have the branches of one session of the SDK."""

    session_id: str
    """The id in the SDK."""

    @property
    def root(self) -> str:
        """The session in which the branch ``main`` began. All other sessions descend from it."""
        return root_id(self.session_id, "oa-")

    def start(self, branch: str) -> str:
        """Return the session in which a branch began."""
        return self.root if branch == MAIN else f"{self.root}.b-{digest(branch)}"

    def is_start(self, forklore_id: str) -> bool:
        """Return whether a branch began in this session of forklore."""
        prefix = f"{self.root}.b-"
        return forklore_id == self.root or (
            forklore_id.startswith(prefix) and "." not in forklore_id[len(prefix) :]
        )

    def belongs(self, forklore_id: str, branch: str) -> bool:
        """Return whether a session of forklore is one of those in which a branch went on."""
        start = self.start(branch)
        return forklore_id == start or forklore_id.startswith(f"{start}.h-")

    def next(self, branch: str) -> str:
        """Return a new id for the session in which a branch goes on."""
        return f"{self.start(branch)}.h-{uuid.uuid4().hex[:16]}"

    def label(self, branch: str, forklore_id: str) -> str | None:
        """Return the label of a session in which a branch begins or goes on, if it can have one."""
        if not _LABEL.fullmatch(branch) or branch.lower() == "last":
            return None
        return branch if forklore_id == self.start(branch) else f"{branch}.{forklore_id[-8:]}"

    def metadata(self, branch: str, generation: int) -> dict[str, Any]:
        """Return the metadata of a session that has a branch."""
        named = {"session": self.session_id, "branch": branch, "generation": generation}
        return {METADATA: named}
