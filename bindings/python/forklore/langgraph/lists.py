"""What is in memory of lists: their last state as it was stored, and their elements as objects."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

from .codec import GONE
from .snapshot import CHANGED, are_unchanged, is_unchanged, snapshot_of

_BLOCK = 1024
_MOST_LISTS = 256
_MOST_OBJECTS = 200_000
_MOST_GENERATIONS = 64

Channel = tuple[str, str, str]
"""A thread, a namespace and a channel."""

Run = tuple[int, int]
"""The first of successive numbers of elements, and how many there are."""


class StoredList(NamedTuple):
    """A list as it is stored with a checkpoint."""

    checkpoint_id: str
    snapshots: list[Any]


class Lists:
    """The last list of each channel. The lists of channels that were not used for long are dropped."""

    def __init__(self) -> None:
        """Begin without lists."""
        self._lists: OrderedDict[Channel, StoredList] = OrderedDict()
        self._lock = Lock()

    def get(self, channel: Channel) -> StoredList | None:
        """Return the last list of a channel."""
        return self._lists.get(channel)

    def set(self, channel: Channel, stored: StoredList) -> None:
        """Remember the last list of a channel."""
        with self._lock:
            self._lists[channel] = stored
            self._lists.move_to_end(channel)
            while len(self._lists) > _MOST_LISTS:
                self._lists.popitem(last=False)


def common_prefix(values: list[Any], snapshots: list[Any]) -> int:
    """Return how many values at the beginning are what the snapshots say."""
    most = min(len(values), len(snapshots))
    for start in range(0, most, _BLOCK):
        end = min(start + _BLOCK, most)
        if are_unchanged(values[start:end], snapshots[start:end]):
            continue
        for at in range(start, end):
            if not is_unchanged(values[at], snapshots[at]):
                return at
    return most


class Objects:
    """The elements of a thread as objects, so that many checkpoints share them.

    An object that was changed in place is not used again: the store has what it was.
    """

    def __init__(self) -> None:
        """Begin without objects."""
        self._objects: list[Any] = []
        self._snapshots: list[Any] = []
        self.has_gone = False
        """Whether an element was redacted."""
        self.lock = Lock()
        """To have while the objects are used."""

    def load(self, runs: list[Run], fetch: Callable[[list[int]], list[Any]]) -> None:
        """Have the objects of runs, as the store has them. ``fetch`` returns objects by their numbers."""
        if len(self._objects) > _MOST_OBJECTS:
            self._objects, self._snapshots = [], []
        missing: list[int] = []
        for first, count in runs:
            end = first + count
            if end > len(self._objects):
                more = end - len(self._objects)
                self._objects += [None] * more
                self._snapshots += [CHANGED] * more
            for start in range(first, end, _BLOCK):
                missing += self._changed(start, min(start + _BLOCK, end))
        missing = list(dict.fromkeys(missing))
        if missing:
            for number, one in zip(missing, fetch(missing), strict=True):
                self.has_gone |= one is GONE
                self._objects[number] = one
                self._snapshots[number] = snapshot_of(one)

    def _changed(self, start: int, end: int) -> list[int]:
        objects, snapshots = self._objects[start:end], self._snapshots[start:end]
        if are_unchanged(objects, snapshots):
            return []
        pairs = enumerate(zip(objects, snapshots, strict=True), start)
        return [number for number, (one, snapshot) in pairs if not is_unchanged(one, snapshot)]

    def objects(self, run: Run) -> list[Any]:
        """Return the objects of a run that was loaded."""
        return self._objects[run[0] : run[0] + run[1]]

    def snapshots(self, run: Run) -> list[Any]:
        """Return the snapshots of a run that was loaded."""
        return self._snapshots[run[0] : run[0] + run[1]]


class Shelf:
    """The objects of the threads that were used last, by the generation of the thread in memory."""

    def __init__(self) -> None:
        """Begin without objects."""
        self._generations: OrderedDict[int, Objects] = OrderedDict()
        self._lock = Lock()

    def of(self, generation: int) -> Objects:
        """Return the objects of a thread."""
        with self._lock:
            objects = self._generations.setdefault(generation, Objects())
            self._generations.move_to_end(generation)
            while len(self._generations) > _MOST_GENERATIONS:
                self._generations.popitem(last=False)
            return objects
