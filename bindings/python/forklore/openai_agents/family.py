"""The branches of a session of the SDK in a store of forklore. Everything here blocks."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from .. import types
from .._lines import (
    BATCH,
    Head,
    HeadDeletedError,
    Lines,
    before,
    check_lost_race,
    is_deleted,
    object_of,
    title_of,
)
from .._store import Store
from ..errors import AlreadyExistsError, ConflictError, InvalidArgsError, NotFoundError
from .ids import MAIN, METADATA, Ids
from .items import FIELD, Item, event_of
from .reading import last_entries


class NameTakenError(ValueError):
    """A branch had the name before, though it may be deleted."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Branch ID {name!r} has already been used. Choose a new branch ID.")


class Family:
    """The branches of one session of the SDK. Several threads may use it at once."""

    def __init__(self, store: Store, session_id: str, workspace: str) -> None:
        self.store = store
        self.ids = Ids(session_id)
        self._lines = Lines(store, FIELD)
        self._workspace = workspace
        self._heads: dict[str, Head] = {}
        self._lock = threading.RLock()

    def generation(self) -> int:
        """Return how often the session was cleared."""
        try:
            main = self._head(MAIN)
        except HeadDeletedError as error:
            # The pointer to it says it, so the other branches can still be used.
            return cast(int, error.details["generation"])
        return main.generation if main else 0

    def head(self, branch: str) -> Head | None:
        """Return where a branch goes on, or ``None`` if it does not exist or was cleared.

        Raises:
            NotFoundError: The session in which it goes on was deleted.
        """
        with self._lock:
            head = self._head(branch)
            if head is None or branch == MAIN:
                return head
            return head if head.generation == self.generation() else None

    def append(self, branch: str, events: Sequence[types.NewEvent]) -> None:
        """Append events to a branch, all or none, after whatever is there.

        Raises:
            NotFoundError: The branch was deleted.
        """
        with self._lock:
            head = self._heads.get(branch) if branch == MAIN else self.head(branch)
            while True:
                head = head or self._begun(branch)
                try:
                    if len(events) > BATCH:
                        self._move(branch, head, "end", events, head.generation)
                    else:
                        self._heads[branch] = self._lines.append(head, events)
                    return
                except NotFoundError:
                    # The line may have left the session before it was deleted.
                    head = self.head(branch)
                except ConflictError as error:
                    check_lost_race(error)
                    head = self.head(branch)

    def pop(self, branch: str) -> Item | None:
        """Let a branch go on before its last item, and return that item."""
        with self._lock:
            while True:
                head = self.head(branch)
                last = last_entries(self.store, head, 1) if head else []
                if head is None or not last:
                    return None
                entry, at = last[-1], before(last[-1].seq)
                rest = [event_of(item) for item in entry.items[:-1]]
                try:
                    self._move(branch, head, at, rest, head.generation)
                    return entry.items[-1]
                except ConflictError as error:
                    check_lost_race(error)

    def clear(self) -> int:
        """Let the session go on without history and without other branches; return its generation."""
        with self._lock:
            while True:
                head = self.head(MAIN)
                if head is None:
                    return 0
                try:
                    generation = head.generation + 1
                    self._move(MAIN, head, "start", [], generation)
                    return generation
                except ConflictError as error:
                    check_lost_race(error)

    def fork(self, branch: str, turn: int, name: str) -> int:
        """Create a branch that has what is before a turn; return its generation.

        Raises:
            NameTakenError: The name was used before.
            ValueError: The branch has no such turn.
        """
        with self._lock:
            head = self.head(branch)
            seq = self._beginning(head, turn) if head else None
            if head is None or seq is None:
                missing = f"Turn {turn} does not contain a user message in branch {branch!r}"
                raise ValueError(missing)
            start = self.ids.start(name)
            try:
                if name == MAIN:
                    raise AlreadyExistsError("every session has this branch")
                self._fork(head, before(seq), name, start, head.generation)
            except AlreadyExistsError as error:
                raise NameTakenError(name) from error
            return head.generation

    def delete(self, branch: str) -> None:
        """Move the sessions of a branch to the trash. What was forked from them remains.

        Raises:
            ValueError: The branch does not exist.
        """
        with self._lock:
            last, start = self._last_session(branch), self.ids.start(branch)
            # Another writer may let the branch go on in a further session meanwhile.
            while mine := self._sessions(branch):
                others = [one for one in mine if one != start]
                # First the head, which another runtime may have leased; last the start, which names it.
                for one in sorted(others, key=lambda one: one != last) or [start]:
                    self.store.delete(one, mode="detach_children")
            self._heads.pop(branch, None)

    def _sessions(self, branch: str) -> list[str]:
        """Return the sessions in which a branch went on and that are not deleted."""
        related = [one["session_id"] for one in self._family()]
        return [one for one in related if self.ids.belongs(one, branch)]

    def _last_session(self, branch: str) -> str:
        """Return the session in which a branch with items goes on, also if it was deleted."""
        try:
            head = self.head(branch)
        except HeadDeletedError as error:
            return str(error.details["session_id"])
        if head is None or not self.store.show(head.session_id)["session"]["head_index"]:
            raise ValueError(f"Branch {branch!r} does not exist")
        return head.session_id

    def branches(self) -> list[tuple[str, types.Session, types.Session]]:
        """Return each branch that has items: its name, where it began and where it goes on."""
        found: list[tuple[str, types.Session, types.Session]] = []
        for one in self._family():
            if not self.ids.is_start(one["session_id"]):
                continue
            start = self.store.show(one["session_id"])["session"]
            name = MAIN if start["id"] == self.ids.root else _named(start)["branch"]
            head = self.head(name)
            if head is not None:
                header = self.store.show(head.session_id)["session"]
                if header["head_index"]:
                    found.append((name, start, header))
        # A time has no zeros at its end: 12:00:01.5Z is before 12:00:01.51Z.
        return sorted(found, key=lambda branch: branch[1]["created"].removesuffix("Z"))

    def line(self, head: Head, branch: str) -> list[str]:
        """Return the sessions in which a branch went on, the newest first.

        Those before it was cleared are left out.
        """
        header = self.store.show(head.session_id)["session"]
        line, cut = [head.session_id], header.get("cut")
        for ancestor in self.store.lineage(head.session_id)["ancestors"]:
            if not cut or not cut["index"] or not self.ids.belongs(ancestor["session_id"], branch):
                break
            line.append(ancestor["session_id"])
            cut = ancestor.get("cut")
        return line

    def _head(self, branch: str) -> Head | None:
        with self._lock:
            seen = self._heads.pop(branch, None)
            head = self._lines.refresh(seen) if seen else None
            if head is None:
                head = self._found(branch)
                if head and branch != MAIN:
                    start = self.store.show(self.ids.start(branch))["session"]
                    head = replace(head, generation=_named(start)["generation"])
            if head is not None:
                self._heads[branch] = head
            return head

    def _found(self, branch: str) -> Head | None:
        start = self.ids.start(branch)
        try:
            return self._lines.find(start)
        except HeadDeletedError as error:
            if branch != MAIN and error.details["session_id"] == start:
                return None  # The branch itself was deleted, which a branch may be.
            raise

    def _begun(self, branch: str) -> Head:
        """Return the head of a branch; create the session if it has none."""
        head = self.head(branch)
        if head is not None:
            return head
        if branch != MAIN:
            raise NotFoundError(f"branch {branch!r} was deleted", {"branch": branch})
        metadata = self.ids.metadata(MAIN, 0)
        root, title = self.ids.root, title_of(self.ids.session_id)
        # If another writer was faster, its session is the one.
        with contextlib.suppress(AlreadyExistsError):
            self.store.new(self._workspace, id=root, title=title, metadata=metadata)
        head = self.head(branch)
        if head is None:
            raise NotFoundError(f"session {root} was deleted", {"session_id": root})
        return head

    def _move(
        self, branch: str, head: Head, at: str, events: Sequence[types.NewEvent], generation: int
    ) -> None:
        """Let a branch go on in a fork of its head at an earlier position, with further events."""

        def fork() -> Head:
            return self._fork(head, at, branch, self.ids.next(branch), generation)

        self._heads[branch] = self._lines.move(self.ids.start(branch), head, fork, events)

    def _fork(self, head: Head, at: str, branch: str, new_id: str, generation: int) -> Head:
        title = self.ids.session_id if branch == MAIN else f"{self.ids.session_id}: {branch}"
        label, metadata = self.ids.label(branch, new_id), self.ids.metadata(branch, generation)
        options = {"id": new_id, "label": label, "title": title_of(title), "metadata": metadata}
        return self._lines.fork_at(head.session_id, at, generation, **options)

    def _beginning(self, head: Head, turn: int) -> int | None:
        """Return the position of the message with which a turn begins."""
        selector = f"turn:{turn}"
        if turn < 1:
            return None
        try:
            part = self.store.replay(head.session_id, from_=selector, up_to=selector)
            return next((record["seq"] for record in part), None)
        except InvalidArgsError:
            return None

    def _family(self) -> Iterator[types.Branch]:
        try:
            yield from self.store.branches(self.ids.root)["branches"]
        except NotFoundError as error:
            if is_deleted(error):
                raise


def _named(header: types.Session) -> dict[str, Any]:
    return object_of(object_of(header.get("metadata")).get(METADATA))
