"""Puts sessions of forklore under the tests that the SDK has for its own SQLite sessions.

A pytest plugin: it replaces the two classes before the SDK's test modules import them. The files of the
SDK stay as they are. What the replacements add to :class:`ForkloreSession` is the constructor's
arguments, which are those of SQLite, and the names by which the tests refer to what is internal:
the functions that run in threads, which tests pause by name, and the current branch.
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import Any

import agents
import agents.extensions.memory
import agents.memory

from forklore.openai_agents import ForkloreSession

_WORKERS = {
    "_add": "_add_items_sync",
    "_pop": "_pop_item_sync",
    "_delete": "_delete_sync",
    "_create": "_copy_sync",
    "_point_to": "_commit_branch_pointer",
    "_last_turn": "_capture_current_turn",
    "_append_usage": "_update_sync",
}


def _named(worker: Any, name: str) -> Any:
    """Return a method under the name of the SDK's function for the same work."""

    def named(self: Any, *args: Any) -> Any:
        return worker(self, *args)

    named.__name__ = name
    return named


class SQLiteSession(ForkloreSession):
    """A session of forklore with the constructor of the SDK's SQLiteSession."""

    def __init__(
        self,
        session_id: str,
        db_path: str | Path = ":memory:",
        sessions_table: str = "agent_sessions",
        messages_table: str = "agent_messages",
        session_settings: Any = None,
        logger: Any = None,
    ) -> None:
        self.sessions_table, self.messages_table, self.db_path = sessions_table, messages_table, db_path
        store = "memory:" if str(db_path) == ":memory:" else f"sqlite:{os.fspath(db_path)}.forklore"
        super().__init__(session_id, store, session_settings=session_settings, logger=logger)


class AdvancedSQLiteSession(SQLiteSession):
    """A session of forklore with the constructor of the SDK's AdvancedSQLiteSession."""

    def __init__(self, *, create_tables: bool = False, **arguments: Any) -> None:
        super().__init__(**arguments)

    @property
    def _current_branch_id(self) -> str:
        return self.branch

    @property
    def _generation(self) -> int | None:
        return self._branch_state[1]

    def _insert_structure_metadata(
        self, conn: Any, items: list[Any], branch_id: str | None = None
    ) -> None:
        """A step of the SDK's add_items. Tests override it to let an append fail."""

    def _add(self, items: list[Any], state: Any) -> None:
        self._insert_structure_metadata(None, items, state[0])
        super()._add(items, state)

    async def _update_turn_usage_internal(self, consumed: Any, target: Any) -> None:
        await super()._record_usage(consumed, target)

    async def _record_usage(self, consumed: Any, target: Any) -> None:
        await self._update_turn_usage_internal(consumed, target)


for _method, _name in _WORKERS.items():
    setattr(AdvancedSQLiteSession, _method, _named(getattr(AdvancedSQLiteSession, _method), _name))

agents.SQLiteSession = SQLiteSession  # type: ignore[misc]
agents.memory.SQLiteSession = SQLiteSession  # type: ignore[misc]
agents.extensions.memory.AdvancedSQLiteSession = AdvancedSQLiteSession  # type: ignore[misc]

# Tests start further processes, which import the test module too.
multiprocessing.set_forkserver_preload([__name__])
