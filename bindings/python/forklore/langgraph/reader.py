"""Makes checkpoints of what the core answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, DeltaChannelHistory

from .._native import LangGraph
from ..errors import ConflictError
from .codec import GONE, Codec
from .lists import Lists, Run, Shelf, StoredList
from .text import text_of

_TRIES = 8


class Reader:
    """Reads checkpoints with one serializer."""

    def __init__(self, core: LangGraph, codec: Codec, lists: Lists) -> None:
        """Read from a core."""
        self._core = core
        self.codec = codec
        """Reads values."""
        self._lists = lists
        self._shelf = Shelf()

    def read(
        self, thread_id: str, namespace: str, ids: Sequence[str] | None
    ) -> list[CheckpointTuple]:
        """Return checkpoints of a thread by their ids, or the newest one."""
        thread = {"thread_id": thread_id, "checkpoint_ns": namespace}
        request = text_of({"thread": thread, "ids": None if ids is None else list(ids)})
        for attempt in range(_TRIES):
            answer = self._decode(thread, self._core.get(request))
            try:
                return self._tuples(thread, answer)
            except ConflictError:
                # The thread was dropped from memory between two calls.
                if attempt == _TRIES - 1:
                    raise
        return []

    def history(
        self, thread_id: str, namespace: str, checkpoint_id: str | None, channels: Sequence[str]
    ) -> dict[str, DeltaChannelHistory]:
        """Return the writes from which the values of channels are computed."""
        thread = {"thread_id": thread_id, "checkpoint_ns": namespace}
        request = {"thread": thread, "id": checkpoint_id, "channels": list(channels)}
        answer = self._decode(thread, self._core.history(text_of(request)))
        histories: dict[str, DeltaChannelHistory] = {}
        for channel in channels:
            found = answer.get("channels", {}).get(channel, {"writes": []})
            history: DeltaChannelHistory = {"writes": [_write(one) for one in found["writes"]]}
            seed = found.get("seed")
            if seed is not None:
                history["seed"] = seed["text"] if "text" in seed else self._seed(thread, answer, seed)
            histories[channel] = history
        return histories

    def _seed(self, thread: dict[str, str], answer: dict[str, Any], seed: dict[str, Any]) -> list[Any]:
        objects = self._shelf.of(answer["generation"])
        with objects.lock:
            runs: list[Run] = seed["runs"]
            objects.load(runs, self._fetch(thread, answer["generation"]))
            return [one for run in runs for one in objects.objects(run) if one is not GONE]

    def _decode(self, thread: dict[str, str], text: str) -> Any:
        return self.codec.decode(text, lambda keys: self._trees(thread, keys))

    def _trees(self, thread: dict[str, str], keys: list[str]) -> list[Any]:
        request = {"thread": thread, "generation": 0, "keys": keys}
        return cast("list[Any]", json.loads(self._core.elements(text_of(request)))[1])

    def _tuples(self, thread: dict[str, str], answer: dict[str, Any]) -> list[CheckpointTuple]:
        found: list[dict[str, Any]] = answer["tuples"]
        values = [value for one in found for value in one["values"].values()]
        runs: list[Run] = [run for value in values for run in value.get("runs", ())]
        objects = self._shelf.of(answer["generation"])
        tuples: list[CheckpointTuple] = []
        before: dict[str, list[Any]] = {}
        with objects.lock:
            objects.load(runs, self._fetch(thread, answer["generation"]))
            for one in found:
                before = _lists(one, objects.objects, before)
                tuples.append(_tuple(thread, one, before, has_gone=objects.has_gone))
            if len(found) == 1:
                self._remember(thread, found[0]["id"], _lists(found[0], objects.snapshots, {}))
        return tuples

    def _remember(
        self, thread: dict[str, str], checkpoint_id: str, lists: dict[str, list[Any]]
    ) -> None:
        """Remember the lists of a checkpoint, so that the next one is stored as what it adds."""
        for name, snapshots in lists.items():
            channel = (thread["thread_id"], thread["checkpoint_ns"], name)
            if self._lists.get(channel) is None:
                self._lists.set(channel, StoredList(checkpoint_id, snapshots))

    def _fetch(self, thread: dict[str, str], generation: int) -> Callable[[list[int]], list[Any]]:
        def fetch(numbers: list[int]) -> list[Any]:
            request = {"thread": thread, "generation": generation, "numbers": numbers}
            texts = self._core.elements(text_of(request))
            return cast("list[Any]", self._decode(thread, texts)[0])

        return fetch


def _lists(
    found: dict[str, Any], part: Callable[[Run], list[Any]], before: dict[str, list[Any]]
) -> dict[str, list[Any]]:
    """Return the lists of a checkpoint, with what they share with those of the one before."""
    lists: dict[str, list[Any]] = {}
    for name, value in found["values"].items():
        if "runs" in value:
            items = before[name][: value["prefix"]] if value["prefix"] else []
            for run in value["runs"]:
                items += part(run)
            lists[name] = items
    return lists


def _write(write: list[Any]) -> tuple[str, str, Any]:
    task, channel, value = write
    return task, channel, value


def _tuple(
    thread: dict[str, str], found: dict[str, Any], lists: dict[str, list[Any]], *, has_gone: bool
) -> CheckpointTuple:
    values: dict[str, Any] = {}
    for name, value in found["values"].items():
        if name in lists:
            # A copy, because the list of the next checkpoint begins with this one.
            items = lists[name]
            values[name] = [one for one in items if one is not GONE] if has_gone else items[:]
        else:
            values[name] = value["text"]
    checkpoint: Any = {
        **found["fields"],
        "id": found["id"],
        "channel_values": values,
        "channel_versions": found["versions"],
        "versions_seen": found["seen"],
    }
    parent = found.get("parent")
    return CheckpointTuple(
        config=_config(thread, found["id"]),
        checkpoint=checkpoint,
        metadata=found["metadata"],
        parent_config=None if parent is None else _config(thread, parent),
        pending_writes=[_write(one) for one in found["writes"]],
    )


def _config(thread: dict[str, str], checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {**thread, "checkpoint_id": checkpoint_id}}
