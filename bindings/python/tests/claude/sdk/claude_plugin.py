"""Puts stores of forklore under the tests that the Claude Agent SDK has for its own store in memory.

A pytest plugin: it replaces the class before the SDK's test modules import it. The files of the SDK stay
as they are. What the replacement adds to :class:`SessionStore` is what the SDK's class offers to tests.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import claude_agent_sdk
from claude_agent_sdk._internal import session_store
from claude_agent_sdk.types import SessionKey

from forklore.claude import SessionStore

# One folder for all stores: tests count the folders that are removed while they run.
_FOLDER = TemporaryDirectory()
_NUMBERS = count()


class InMemorySessionStore(SessionStore):
    """A store of forklore with the constructor and the test helpers of the SDK's class."""

    def __init__(self) -> None:
        kind = os.environ["FORKLORE_CLAUDE_STORE"]
        path = Path(_FOLDER.name) / f"store-{next(_NUMBERS)}"
        super().__init__("memory:" if kind == "memory" else f"{kind}:{path}")

        self._projects: set[str] = set()

    async def append(self, key: SessionKey, entries: list[Any]) -> None:
        self._projects.add(key["project_key"])
        await super().append(key, entries)

    def get_entries(self, key: SessionKey) -> list[Any]:
        return self._load((key["project_key"], key["session_id"], key.get("subpath"))) or []

    @property
    def size(self) -> int:
        return len(self._sessions())

    def clear(self) -> None:
        for project, session in self._sessions():
            self._native.delete(project, session, None, True)

    def _sessions(self) -> list[tuple[str, str]]:
        return [(project, row[0]) for project in self._projects for row in self._native.sessions(project)]


claude_agent_sdk.InMemorySessionStore = InMemorySessionStore  # type: ignore[misc]
session_store.InMemorySessionStore = InMemorySessionStore  # type: ignore[misc]
