"""The session store for the Claude Agent SDK.

The SDK passes each record that Claude Code writes on to a session store, and resumes sessions from it.
With :class:`SessionStore`, such a session is at once a session of forklore: a tree whose branches and
sub-agents can be searched, compared and forked with every verb of :class:`forklore.Store`::

    from claude_agent_sdk import ClaudeAgentOptions, query
    from forklore.claude import SessionStore

    store = SessionStore("sqlite:sessions.db")
    options = ClaudeAgentOptions(session_store=store)

This module needs the package ``claude-agent-sdk``.
"""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar, cast

import claude_agent_sdk as sdk
from anyio import to_thread
from claude_agent_sdk.types import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

from ._native import ClaudeSessions
from ._store import Store
from .errors import InvalidArgsError

Answer = TypeVar("Answer")

__all__ = ["SessionStore"]


class SessionStore(sdk.SessionStore):
    """A session store of the Claude Agent SDK over a store of forklore.

    Processes may share the store. All methods run in threads and work with asyncio and trio. An append
    is stored completely or not at all, in the order of the calls. A record with the ``uuid`` and the
    content of a stored one is not stored again.
    """

    def __init__(
        self,
        store: Store | str | os.PathLike[str] | None = None,
        *,
        erase: bool = False,
        workspace: str | os.PathLike[str] | None = None,
    ) -> None:
        """Use an open store, or open the one that a URL names.

        Args:
            store: The store, or its URL, as :class:`forklore.Store` opens it.
            erase: Whether :meth:`delete` erases sessions at once. Otherwise they go into the trash, from
                which ``undelete`` brings them back for 30 days.
            workspace: The folder of sessions whose records name none. By default the current one.

        Raises:
            ForkloreError: The store cannot be opened.
        """
        self.store = store if isinstance(store, Store) else Store(store)
        """The store, for all other verbs."""
        self._erase = erase
        connection = self.store._connection  # pyright: ignore[reportPrivateUsage]
        self._native = ClaudeSessions(connection, os.fspath(workspace or os.getcwd()))
        self._waiting: dict[_Key, _Queue] = {}
        self._lock = threading.Lock()

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Add records to a transcript.

        Raises:
            InvalidArgsError: A record is no JSON object. No record is stored.
            ForkloreError: The store failed. The records can be appended again.
        """
        if not entries:
            return
        # The entries are the caller's again when this call returns or is cancelled.
        entries = list(entries)
        lines = [_line(entry) for entry in entries]
        work = _Append(_named(key), lines, self._fold_of(key, entries), Future())
        with self._lock:
            queue = self._waiting.setdefault(work.key, _Queue())
            queue.calls += 1
            queue.works.append(work)
        try:
            await to_thread.run_sync(self._append_all, queue, work)
        finally:
            queue.remove(work)
            with self._lock:
                queue.calls -= 1
                if queue.calls == 0:
                    self._waiting.pop(work.key, None)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return the records of a transcript as they were appended, or ``None`` if there is none.

        The records of a fork begin with the history that it inherits.
        """
        return await to_thread.run_sync(self._load, _named(key))

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """List the sessions of a project, and when each was last changed."""
        rows = await to_thread.run_sync(self._native.sessions, project_key)
        return [{"session_id": name, "mtime": modified} for name, modified, _ in rows]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the summaries of all sessions of a project."""
        return await to_thread.run_sync(self._summaries, project_key)

    async def delete(self, key: SessionKey) -> None:
        """Delete a transcript; that of a session together with those of its sub-agents.

        Forks of the session remain.
        """
        await to_thread.run_sync(self._native.delete, *_named(key), self._erase)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """List the transcripts of the sub-agents of a session."""
        project, session = key["project_key"], key["session_id"]
        rows = await to_thread.run_sync(self._native.sub_agents, project, session)
        return [name for name, _, _ in rows]

    async def fork_session(
        self,
        session_id: str,
        directory: str | os.PathLike[str] | None = None,
        up_to_message_id: str | None = None,
        title: str | None = None,
    ) -> sdk.ForkSessionResult:
        """Fork a session. The fork shares the history, so the time does not depend on its length.

        Like the SDK's ``fork_session_via_store``, which copies each message, but the messages retain
        their ``uuid``, and the fork is a branch of its original in the store.

        Args:
            session_id: The session to fork.
            directory: The project's directory. By default the current one.
            up_to_message_id: The last message that the fork inherits. By default the last of the session.
            title: The title of the fork. By default that of the session, with ``(fork)`` behind it.

        Raises:
            NotFoundError: There is no such session.
            InvalidArgsError: The session has no messages, or no such message.
        """
        project = sdk.project_key_for_directory(None if directory is None else os.fspath(directory))
        return await to_thread.run_sync(self._fork, project, session_id, up_to_message_id, title)

    async def forklore_session(self, key: SessionKey) -> str | None:
        """Return the id of a transcript's session, for the verbs of :attr:`store`.

        If the transcript has branches, it is the one that Claude Code would resume. It is ``None`` if
        there is no such transcript, or if it has no messages.
        """
        return await to_thread.run_sync(self._native.session, *_named(key))

    def _append_all(self, queue: _Queue, work: _Append) -> None:
        """Append what was passed on earlier and is not stored yet, and then the own records.

        A cancelled call may have no thread that appends its records, so each thread appends all before
        its own.
        """
        with queue.lock:
            while not work.done.done():
                first = queue.first()
                if first is None:
                    # The call was cancelled, which took its records out of the queue.
                    return
                try:
                    self._native.append(*first.key, first.lines, first.fold)
                    first.done.set_result(None)
                except BaseException as error:
                    first.done.set_exception(error)
        work.done.result()

    def _load(self, key: _Key) -> list[SessionStoreEntry] | None:
        text = self._native.load(*key)
        return None if text is None else cast("list[SessionStoreEntry]", json.loads(text))

    def _fold_of(self, key: SessionKey, entries: list[SessionStoreEntry]) -> _Fold | None:
        """Return the function that makes the summary of a session with these further records."""
        name = _named(key)
        if name[2] is not None:
            return None

        def fold(before: str | None, is_new: bool, fresh: list[int]) -> str:
            added = [entries[at] for at in fresh]
            if before is None and not is_new:
                added = (self._load(name) or []) + added
            return _folded(name, before, added)

        return fold

    def _summaries(self, project: str) -> list[SessionSummaryEntry]:
        return [
            self._summary((project, name, None), modified, text)
            for name, modified, text in self._native.sessions(project)
        ]

    def _summary(self, key: _Key, modified: int, text: str | None) -> SessionSummaryEntry:
        if text is None:
            # An import, or a program in another language, added records without a summary.
            text = _folded(key, None, self._load(key) or [])
        return {"session_id": key[1], "mtime": modified, "data": json.loads(text)}

    def _fork(
        self, project: str, session: str, record: str | None, title: str | None
    ) -> sdk.ForkSessionResult:
        fork = str(uuid.uuid4())
        before = self._native.summary(project, session)
        named = title.strip() if title else ""
        if not named:
            named = f"{_title(json.loads(before or '{}')) or 'Forked session'} (fork)"
        marks: list[Any] = [{"type": "custom-title", "customTitle": named}, {"type": "tag", "tag": ""}]
        # Without a summary of the original, that of the fork is made when it is listed.
        summary = before and _folded((project, fork, None), before, marks)
        self._native.fork(project, session, fork, record, (named, summary))
        return sdk.ForkSessionResult(session_id=fork)


_Key = tuple[str, str, "str | None"]
_Fold = Callable[["str | None", bool, "list[int]"], str]


class _Append:
    """Records that wait to be stored."""

    def __init__(
        self, key: _Key, lines: list[str], fold: _Fold | None, done: Future[None]
    ) -> None:
        self.key = key
        self.lines = lines
        self.fold = fold
        self.done = done


class _Queue:
    """The records that wait for one transcript, in the order of the calls."""

    def __init__(self) -> None:
        self.works: deque[_Append] = deque()
        self.calls = 0
        """How many calls use the queue."""
        self.lock = threading.Lock()

    def first(self) -> _Append | None:
        """Return the first records that are not stored, and remove them."""
        try:
            return self.works.popleft()
        except IndexError:
            return None

    def remove(self, work: _Append) -> None:
        """Remove records of a call that was cancelled before a thread began it."""
        try:
            self.works.remove(work)
        except ValueError:
            pass


def _named(key: SessionKey) -> _Key:
    for name, text in key.items():
        try:
            str(text or "").encode()
        except UnicodeEncodeError as error:
            raise InvalidArgsError(f"{name} has no form in UTF-8: {error}") from error
    return (key["project_key"], key["session_id"], key.get("subpath") or None)


def _line(entry: SessionStoreEntry) -> str:
    """Return a record as Claude Code writes it: one line, without escapes that JSON does not need."""
    if not isinstance(entry, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgsError(f"a record is a JSON object, not {type(entry).__name__}")
    try:
        line = json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            line.encode()
        except UnicodeEncodeError:
            # A lone surrogate has no other form.
            line = json.dumps(entry, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgsError(f"a record is not JSON: {error}") from error
    return line


def _folded(key: _Key, before: str | None, added: list[SessionStoreEntry]) -> str:
    """Return the data of a summary after further records, as JSON."""
    project, session, _ = key
    previous: SessionSummaryEntry | None = None
    if before is not None:
        previous = {"session_id": session, "mtime": 0, "data": json.loads(before)}
    named: SessionKey = {"project_key": project, "session_id": session}
    return json.dumps(sdk.fold_session_summary(previous, named, added)["data"])


def _title(data: dict[str, Any]) -> str | None:
    """Return the title from which the title of a fork is made, in the order of the SDK."""
    names = ("custom_title", "ai_title", "first_prompt", "command_fallback")
    return next((data[name] for name in names if data.get(name)), None)
