"""The session that the OpenAI Agents SDK gets."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from typing import Any, cast

from agents import _debug
from agents.items import TResponseInputItem
from agents.logger import log_model_action_error, log_model_and_tool_action_error
from agents.memory.session_settings import (
    SessionSettings,
    coerce_session_settings,
    resolve_session_limit,
)
from agents.result import RunResultBase

from .. import types
from .._store import Store
from . import turns, usage
from .family import Family, NameTakenError
from .ids import MAIN
from .items import event_of
from .order import Order, settled
from .reading import Entry, entries, last_entries
from .stores import shared


class ForkloreSession:
    """A conversation of the OpenAI Agents SDK in a store of forklore, with branches.

    It has the methods of the SDK's ``AdvancedSQLiteSession``. Each branch is a session of forklore: it
    shares the history with its parent, and making it costs the same whatever the history is. Nothing is
    ever removed by :meth:`pop_item` and :meth:`clear_session`: the branch goes on in a fork at the
    earlier position.

    Several tasks, event loops, threads and processes may use sessions with the same id at once. Each
    object has its own current branch.
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        store: Store | str | os.PathLike[str] | None = None,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        workspace: str | os.PathLike[str] | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """Open a session. It is stored when the first item is added.

        Args:
            session_id: The id of the conversation: any text. If it is the id of a session of forklore,
                in lower case, the conversation goes on in that session, whichever agent wrote it.
            store: The store or its URL, such as ``sqlite:sessions.db``. Without it, the store of the
                program ``forklore``. ``memory:`` is a new store for each session.
            session_settings: The SDK's settings, such as how many items :meth:`get_items` returns.
            workspace: The folder that the conversation belongs to. By default, the current folder.
            logger: Where branches and failures are logged.

        Raises:
            ValueError: The id is empty, or the URL names no store.
        """
        if not session_id:
            raise ValueError("session_id cannot be empty")
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        opened = store if isinstance(store, Store) else shared(store)
        folder = os.getcwd() if workspace is None else os.path.abspath(workspace)
        self._family = Family(opened, session_id, folder)
        self._logger = logger or logging.getLogger(__name__)
        self._order = Order()
        self._is_closed = False
        # One tuple, so that a reader in another thread never sees a branch with the generation of
        # another. Without a generation, nothing was read yet. Changes hold the lock.
        self._branch_state: tuple[str, int | None] = (MAIN, None)
        self._branch_lock = threading.RLock()

    @property
    def branch(self) -> str:
        """The current branch of this object."""
        return self._branch_state[0]

    @property
    def store(self) -> Store:
        """The store, whose verbs work on the branches too, by :meth:`forklore_session_id`."""
        return self._family.store

    def close(self) -> None:
        """Refuse further calls. The store is closed when nothing else uses it."""
        self._is_closed = True

    # The SDK's protocol.

    async def get_items(
        self, limit: int | None = None, branch_id: str | None = None
    ) -> list[TResponseInputItem]:
        """Return the conversation of a branch, or its last ``limit`` items.

        Args:
            limit: How many items to return. Without it, the number in the settings. A negative number
                means all.
            branch_id: The branch to read. By default, the current one.
        """
        count = resolve_session_limit(limit, self.session_settings)
        return await asyncio.to_thread(self._items, count, branch_id)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items to the current branch: all of them, or none if the call fails.

        Raises:
            TypeError: An item has no form in JSON.
        """
        self._check_open()
        if not items:
            return
        try:
            await settled(self._order.run(self._add, list(items), self._branch_state))
        except Exception as error:
            log_model_and_tool_action_error(self._logger, "Failed to add session items", error)
            raise

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item of the current branch back, and return it."""
        self._check_open()
        return await settled(self._order.run(self._pop, self._branch_state))

    async def clear_session(self) -> None:
        """Let the session go on empty, on the branch ``main``.

        The other branches are no longer listed. Their names remain in use.
        """
        self._check_open()
        await settled(asyncio.to_thread(self._clear))

    # Branches.

    async def create_branch_from_turn(
        self, turn_number: int, branch_name: str | None = None
    ) -> str:
        """Create a branch that has what precedes a turn, and make it the current one.

        Returns:
            The name of the branch.

        Raises:
            ValueError: There is no such turn, or the name is blank or was used before.
        """
        self._check_open()
        if branch_name is not None and not branch_name.strip():
            raise ValueError("Branch name cannot be empty")

        async def create_and_switch() -> tuple[str, str]:
            source, name, generation = await asyncio.to_thread(
                self._create, turn_number, branch_name
            )
            await asyncio.to_thread(self._point_to, name, generation)
            return source, name

        source, name = await settled(create_and_switch())
        await self._log_branch(name, turn_number, source)
        return name

    async def create_branch_from_content(
        self, search_term: str, branch_name: str | None = None
    ) -> str:
        """Create a branch from the first turn whose user message contains a text.

        Raises:
            ValueError: There is no such turn, or the name is blank or was used before.
        """
        found = await self.find_turns_by_content(search_term)
        if not found:
            raise ValueError(f"No user turns found containing {search_term!r}")
        return await self.create_branch_from_turn(found[0]["turn"], branch_name)

    async def switch_to_branch(self, branch_id: str) -> None:
        """Make a branch the current one of this object.

        Raises:
            ValueError: The branch does not exist, or has no items.
        """
        self._check_open()
        generation = await settled(asyncio.to_thread(self._check_branch, branch_id))
        before = self.branch
        if await settled(asyncio.to_thread(self._point_to, branch_id, generation)):
            self._logger.info("Switched from branch %r to %r", before, branch_id)

    async def delete_branch(self, branch_id: str, force: bool = False) -> None:
        """Move a branch to the store's trash. Branches that were created from it remain.

        Args:
            branch_id: The branch. Its name remains in use.
            force: Whether the current branch may be deleted. ``main`` is the current one then.

        Raises:
            ValueError: The branch does not exist, is ``main``, or is the current one.
        """
        self._check_open()
        if not branch_id.strip():
            raise ValueError("Branch ID cannot be empty")
        if branch_id == MAIN:
            raise ValueError("Cannot delete the 'main' branch")
        if branch_id == self.branch:
            if not force:
                hint = "Use force=True or switch branches first"
                raise ValueError(f"Cannot delete current branch {branch_id!r}. {hint}")
            await asyncio.to_thread(self._check_branch, branch_id)
            await self.switch_to_branch(MAIN)
        await settled(self._order.run(self._delete, branch_id))
        self._logger.info("Deleted branch %r", branch_id)

    async def list_branches(self) -> list[dict[str, Any]]:
        """Return the branches that have items, the oldest first.

        Each has ``branch_id``, ``message_count``, ``user_turns``, ``is_current``, ``created_at`` and
        ``forklore_session_id``.
        """
        return await asyncio.to_thread(self._list)

    async def forklore_session_id(self, branch_id: str | None = None) -> str | None:
        """Return the session of forklore in which a branch goes on, for the verbs of :attr:`store`.

        Args:
            branch_id: The branch. By default, the current one.
        """
        return await asyncio.to_thread(self._session_of, branch_id)

    async def compare_branches(self, a: str, b: str) -> types.Difference:
        """Return what two branches have in common, and what only one of them has.

        Raises:
            ValueError: A branch does not exist.
        """
        return await asyncio.to_thread(self._compare, a, b)

    # What the turns say.

    async def get_conversation_turns(self, branch_id: str | None = None) -> list[dict[str, Any]]:
        """Return the user message of each turn of a branch."""
        read = await asyncio.to_thread(self._read, branch_id)
        return turns.questions(read, 100)

    async def find_turns_by_content(
        self, search_term: str, branch_id: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the turns whose user message contains a text."""
        read = await asyncio.to_thread(self._read, branch_id)
        return turns.matching(turns.questions(read, None), search_term)

    async def get_conversation_by_turns(
        self, branch_id: str | None = None
    ) -> dict[int, list[dict[str, str | None]]]:
        """Return the type and the tool of each item of a branch, by turn."""
        return turns.by_turns(await asyncio.to_thread(self._read, branch_id))

    async def get_tool_usage(self, branch_id: str | None = None) -> list[tuple[str, int, int]]:
        """Return how often each tool was called in each turn, as ``(tool, count, turn)``."""
        return turns.tool_usage(await self.get_conversation_by_turns(branch_id))

    async def store_run_usage(self, result: RunResultBase) -> None:
        """Record what a run consumed, for the last turn of the current branch.

        A failure is logged and not raised, so that it does not break the run.
        """
        consumed = result.context_wrapper.usage
        capture: asyncio.Task[tuple[str, int, str] | None] | None = None

        async def record() -> None:
            await self._record_usage(consumed, await cast(Any, capture))

        try:
            self._check_open()
            capture = self._order.run(self._last_turn, self._branch_state)
            await settled(record())
        except Exception as error:
            log_model_action_error(
                self._logger,
                "Failed to store session usage",
                error,
                diagnostic_extra=lambda: {"session_id": self.session_id},
            )

    async def get_session_usage(self, branch_id: str | None = None) -> dict[str, int] | None:
        """Return the sums of usage of a branch, or of all branches; ``None`` without any."""
        return usage.total(await asyncio.to_thread(self._session_usage, branch_id))

    async def get_turn_usage(
        self, user_turn_number: int | None = None, branch_id: str | None = None
    ) -> list[dict[str, Any]] | dict[str, Any]:
        """Return the usage of each turn of a branch; of one turn, without the turn's number."""
        rows = await asyncio.to_thread(self._usage, branch_id)
        if user_turn_number is None:
            return rows
        found = [row for row in rows if row["user_turn_number"] == user_turn_number]
        row = found[0] if found else {}
        return {name: value for name, value in row.items() if name != "user_turn_number"}

    # What runs in threads.

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(f"{type(self).__name__} is closed")

    def _current(self, state: tuple[str, int | None] | None = None) -> str:
        """Return the branch that a call is for, given the state when it was made.

        If the session was cleared since, by whomever, that is ``main``.
        """
        branch, seen = state or self._branch_state
        generation = self._family.generation()
        self._advance(generation)
        return branch if seen is None or seen == generation else MAIN

    def _advance(self, generation: int) -> None:
        """Make ``main`` the current branch if the generation is newer than what was read before."""
        with self._branch_lock:
            seen = self._branch_state[1]
            # Generations only grow: a lower one was read before another thread went on.
            if seen is None or seen < generation:
                self._branch_state = (MAIN, generation)

    def _entries(self, branch_id: str | None, count: int | None) -> list[Entry]:
        self._check_open()
        branch = self._current() if branch_id is None else branch_id
        head = self._family.head(branch)
        if head is None:
            return []
        store = self._family.store
        return entries(store, head) if count is None else last_entries(store, head, count)

    def _read(self, branch_id: str | None) -> list[Entry]:
        return self._entries(branch_id, None)

    def _items(self, count: int | None, branch_id: str | None) -> list[TResponseInputItem]:
        if count == 0:
            self._check_open()
            return []
        limit = None if count is None or count < 0 else count
        found = [item for entry in self._entries(branch_id, limit) for item in entry.items]
        return cast(list[TResponseInputItem], found[-limit:] if limit else found)

    def _add(self, items: list[TResponseInputItem], state: tuple[str, int | None]) -> None:
        events = [event_of(item) for item in items]
        branch = MAIN if state[0] == MAIN else self._current(state)
        self._family.append(branch, events)

    def _pop(self, state: tuple[str, int | None]) -> TResponseInputItem | None:
        return cast("TResponseInputItem | None", self._family.pop(self._current(state)))

    def _clear(self) -> None:
        self._advance(self._family.clear())

    def _create(self, turn: int, name: str | None) -> tuple[str, str, int]:
        source = self._current()
        if name is not None:
            return source, name, self._family.fork(source, turn, name)
        base, number = f"branch_from_turn_{turn}_{int(time.time())}", 1
        while True:
            name = base if number == 1 else f"{base}_{number}"
            try:
                return source, name, self._family.fork(source, turn, name)
            except NameTakenError:
                number += 1

    def _point_to(self, branch: str, generation: int) -> bool:
        """Make a branch the current one, unless the session was cleared since it was found."""
        now = self._family.generation()
        with self._branch_lock:
            self._advance(now)
            is_current = self._branch_state[1] == generation
            if is_current:
                self._branch_state = (branch, generation)
            return is_current

    def _check_branch(self, branch: str) -> int:
        """Return the generation of a branch that has items."""
        head = self._family.head(branch)
        if head is None or not self._family.store.show(head.session_id)["session"]["head_index"]:
            raise ValueError(f"Branch {branch!r} does not exist")
        return head.generation

    def _delete(self, branch: str) -> None:
        self._family.delete(branch)

    def _list(self) -> list[dict[str, Any]]:
        self._check_open()
        current = self._current()
        return [
            {
                "branch_id": name,
                "message_count": head["head_index"],
                "user_turns": head["turns"],
                "is_current": name == current,
                "created_at": start["created"],
                "forklore_session_id": head["id"],
            }
            for name, start, head in self._family.branches()
        ]

    def _session_of(self, branch_id: str | None) -> str | None:
        self._check_open()
        head = self._family.head(self._current() if branch_id is None else branch_id)
        return head.session_id if head else None

    def _compare(self, a: str, b: str) -> types.Difference:
        ids = [self._session_of(branch) for branch in (a, b)]
        for branch, found in zip((a, b), ids):
            if found is None:
                raise ValueError(f"Branch {branch!r} does not exist")
        return self._family.store.diff(cast(str, ids[0]), cast(str, ids[1]))

    def _last_turn(self, state: tuple[str, int | None]) -> tuple[str, int, str] | None:
        """Return the branch, the number of its last turn and the id of the turn's first event.

        If the session was cleared since the call, the usage is that of a history that is gone.
        """
        branch = state[0]
        if self._current(state) != branch:
            return None
        generation, head = self._family.generation(), self._family.head(branch)
        if head is None or state[1] not in (None, generation):
            return None
        firsts = turns.first_of_turn(entries(self._family.store, head))
        turn = max(firsts, default=None)
        return None if turn is None else (branch, turn, firsts[turn])

    async def _record_usage(self, consumed: Any, target: tuple[str, int, str] | None) -> None:
        if target is not None:
            await asyncio.to_thread(self._append_usage, consumed, *target)

    def _append_usage(self, consumed: Any, branch: str, turn: int, anchor: str) -> None:
        self._family.append(branch, [usage.event_of(consumed, branch, turn, anchor)])

    def _usage(self, branch_id: str | None) -> list[dict[str, Any]]:
        self._check_open()
        branch = self._current() if branch_id is None else branch_id
        head = self._family.head(branch)
        return usage.of_branch(self._family, branch, head) if head else []

    def _session_usage(self, branch_id: str | None) -> list[dict[str, Any]]:
        if branch_id:
            return self._usage(branch_id)
        names = [name for name, _, _ in self._family.branches()]
        return [row for name in names for row in self._usage(name)]

    async def _log_branch(self, name: str, turn: int, source: str) -> None:
        if _debug.DONT_LOG_MODEL_DATA or not self._logger.isEnabledFor(logging.DEBUG):
            self._logger.debug("Created branch %r from turn %s in %r", name, turn, source)
            return
        before = await self.get_conversation_turns(source)
        content = next((one["content"] for one in before if one["turn"] == turn), "")
        self._logger.debug(
            "Created branch %r from turn %s (%r) in %r", name, turn, content, source
        )
