"""The saver with blocking methods."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .._native import LangGraph
from .._store import Store
from ..errors import ConflictError, InvalidArgsError
from .codec import Codec, Element, is_list
from .lists import Lists, StoredList, common_prefix
from .reader import Reader
from .snapshot import snapshot_of
from .text import text_of

Answer = TypeVar("Answer")

_PAGE = 64
"""How many checkpoints are read at once."""

_FIELDS = {"id", "channel_values", "channel_versions", "versions_seen"}
"""The fields of a checkpoint that the core interprets."""


class Position(NamedTuple):
    """An event of a session."""

    session_id: str
    seq: int


class ForkloreSaver(BaseCheckpointSaver[int]):
    """Stores the checkpoints of LangGraph in a store of forklore.

    Several threads and processes may use one store. The methods for coroutines run in threads. Treat the
    messages in the state as immutable: checkpoints that were read share them. A message that was changed
    in place is stored as it is now, and earlier checkpoints are read as they were.
    """

    def __init__(
        self,
        store: Store,
        *,
        serde: SerializerProtocol | None = None,
        workspace: str | os.PathLike[str] | None = None,
    ) -> None:
        """Use a store.

        Args:
            store: The store, which the saver does not close.
            serde: The serializer of what JSON does not have. With another one than ``JsonPlusSerializer``,
                such as one that encrypts, messages are no events of the conversation.
            workspace: The folder to which the sessions belong. The current one by default.
        """
        super().__init__(serde=serde)
        self.store = store
        """The store with the sessions of all threads."""
        folder = os.getcwd() if workspace is None else os.fspath(workspace)
        connection = store._connection  # pyright: ignore[reportPrivateUsage]
        self._core = LangGraph(connection, folder)
        self._lists = Lists()
        self._made_reader = Reader(self._core, Codec(self.serde), self._lists)

    @classmethod
    @contextmanager
    def from_url(
        cls, url: str | os.PathLike[str] | None = None, *, serde: SerializerProtocol | None = None
    ) -> Generator[ForkloreSaver, None, None]:
        """Open a store, and close it at the end.

        Args:
            url: The address of the store, as :func:`forklore.open` takes it.
            serde: The serializer, as the class takes it.
        """
        with Store(url) as store:
            yield cls(store, serde=serde)

    @property
    def _reader(self) -> Reader:
        # LangGraph and its users may give a saver another serializer, also in a shallow copy.
        if self._made_reader.codec.serde is not self.serde:
            self._made_reader = Reader(self._core, Codec(self.serde), self._lists)
        return self._made_reader

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the configuration names, or the newest one of its thread."""
        thread_id, namespace = _thread(config)
        checkpoint_id = get_checkpoint_id(config)
        ids = None if checkpoint_id is None else [checkpoint_id]
        found = self._reader.read(thread_id, namespace, ids)
        return found[0] if found else None

    def position(self, config: RunnableConfig) -> Position | None:
        """Return which session and which event of it is the checkpoint, for the verbs of the store.

        Args:
            config: The configuration of a checkpoint, or of a thread for its newest one.
        """
        thread_id, namespace = _thread(config)
        checkpoint_id = get_checkpoint_id(config)
        request = {
            "thread": {"thread_id": thread_id, "checkpoint_ns": namespace},
            "ids": None if checkpoint_id is None else [checkpoint_id],
        }
        found = json.loads(self._core.get(text_of(request)))["tuples"]
        return Position(found[0]["session"], found[0]["seq"]) if found else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Return the checkpoints that match, the newest first in each thread.

        The thread that was written to last comes first.

        Args:
            config: The thread, and the namespace if it is given. Without a configuration, all threads.
            filter: What the metadata must have.
            before: Return only checkpoints before this one.
            limit: How many checkpoints to return at most.
        """
        reader = self._reader
        left = limit
        for thread_id, namespace, ids in _listed(self._core, config, before, None if filter else limit):
            for start in range(0, len(ids), _PAGE):
                for found in reader.read(thread_id, namespace, ids[start : start + _PAGE]):
                    metadata = cast("dict[str, Any]", found.metadata)
                    if filter and any(metadata.get(name) != one for name, one in filter.items()):
                        continue
                    if left is not None:
                        if left <= 0:
                            return
                        left -= 1
                    yield found

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the writes from which the values of channels are computed, back to a stored value."""
        if not channels:
            return {}
        thread_id, namespace = _thread(config)
        checkpoint_id = get_checkpoint_id(config)
        return self._reader.history(thread_id, namespace, checkpoint_id, channels)

    # Writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint. If its parent is not the newest one, it begins a fork."""
        thread_id, namespace = _thread(config)
        codec = self._reader.codec
        head = [
            f'"thread":{_name(thread_id, namespace)}',
            f'"id":{text_of(checkpoint["id"])}',
            f'"parent":{text_of(get_checkpoint_id(config))}',
            f'"fields":{codec.encode_open({k: v for k, v in checkpoint.items() if k not in _FIELDS})}',
            f'"metadata":{codec.encode_open(get_checkpoint_metadata(config, metadata))}',
            f'"versions":{text_of(checkpoint["channel_versions"])}',
            f'"seen":{text_of(checkpoint["versions_seen"])}',
        ]
        given = {name for name in checkpoint["channel_values"] if name in new_versions}
        whole: set[str] = set()
        while True:
            values = _Values(codec, self._lists, thread_id, namespace)
            for name, value in checkpoint["channel_values"].items():
                values.add(name, value, is_given=name in given, is_whole=name in whole)
            answer = json.loads(self._core.put("{" + ",".join([*head, *values.fields()]) + "}"))
            needs: set[str] = set(answer.get("needs", ()))
            if not needs:
                values.remember(checkpoint["id"])
                return _config(thread_id, namespace, checkpoint["id"])
            if needs <= whole:
                raise ConflictError("the values of channels could not be stored")
            # What was given builds on a list that is not there any more.
            whole |= needs & given
            given |= needs

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote after a checkpoint."""
        thread_id, namespace = _thread(config)
        checkpoint_id = get_checkpoint_id(config)
        if checkpoint_id is None:
            raise InvalidArgsError("writes belong to a checkpoint, and the configuration names none")
        codec = self._reader.codec
        texts: list[str] = []
        elements: dict[str, Element] = {}
        for index, (channel, value) in enumerate(writes):
            encoded = codec.encode(value)
            elements.update(encoded.elements)
            index = WRITES_IDX_MAP.get(channel, index)
            texts.append(f'{{"index":{index},"channel":{text_of(channel)},"text":{encoded.text}}}')
        self._core.put_writes(
            f'{{"thread":{_name(thread_id, namespace)},"checkpoint":{text_of(checkpoint_id)},'
            f'"task":{text_of(task_id)},"path":{text_of(task_path)},"writes":[{",".join(texts)}],'
            f'"elements":{_elements(elements)}}}'
        )

    # Threads

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread: its sessions go into the trash. Copies of it remain."""
        self._core.delete_thread(str(thread_id))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread. The copy is a fork: it costs the same however long the thread is.

        Raises:
            NotFoundError: The thread does not exist.
            AlreadyExistsError: The target exists.
        """
        self._core.copy_thread(str(source_thread_id), str(target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove all checkpoints of threads but the newest ones, or with ``delete`` all.

        Raises:
            InvalidArgsError: The strategy is neither ``keep_latest`` nor ``delete``.
        """
        if strategy not in ("keep_latest", "delete"):
            raise InvalidArgsError("a strategy is keep_latest or delete")
        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
            else:
                self._core.prune(str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints of runs, by ``run_id`` in their metadata."""
        self._core.delete_for_runs([str(run_id) for run_id in run_ids])

    # Coroutines

    async def _run(self, call: Callable[[], Answer]) -> Answer:
        return await asyncio.to_thread(call)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the configuration names, or the newest one of its thread."""
        return await self._run(lambda: self.get_tuple(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Return the checkpoints that match, as :meth:`list` does."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (one := await self._run(lambda: next(found, None))) is not None:
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, as :meth:`put` does."""
        return await self._run(lambda: self.put(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote after a checkpoint."""
        await self._run(lambda: self.put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread, as :meth:`delete_thread` does."""
        await self._run(lambda: self.delete_thread(thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread, as :meth:`copy_thread` does."""
        await self._run(lambda: self.copy_thread(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove checkpoints of threads, as :meth:`prune` does."""
        await self._run(lambda: self.prune(thread_ids, strategy=strategy))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints of runs, as :meth:`delete_for_runs` does."""
        await self._run(lambda: self.delete_for_runs(run_ids))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the writes from which the values of channels are computed."""
        return await self._run(
            lambda: self.get_delta_channel_history(config=config, channels=channels)
        )


class _Values:
    """The values of a checkpoint as the core takes them."""

    def __init__(self, codec: Codec, lists: Lists, thread_id: str, namespace: str) -> None:
        self._codec = codec
        self._lists = lists
        self._thread = (thread_id, namespace)
        self._texts: list[str] = []
        self._elements: dict[str, Element] = {}
        self._snapshots: dict[str, list[Any]] = {}

    def add(self, name: str, value: Any, *, is_given: bool, is_whole: bool) -> None:
        """Add the value of a channel: as given, or as that of the parent."""
        text = "{}"
        if is_given and is_list(value):
            text = self._list(name, value, is_whole=is_whole)
        elif is_given:
            encoded = self._codec.encode(value)
            self._elements.update(encoded.elements)
            text = f'{{"text":{encoded.text}}}'
        self._texts.append(f"{text_of(name)}:{text}")

    def _list(self, name: str, value: list[Any], *, is_whole: bool) -> str:
        stored = None if is_whole else self._lists.get((*self._thread, name))
        same = 0 if stored is None else common_prefix(value, stored.snapshots)
        keys: list[str] = []
        for one in value[same:]:
            key, element = self._codec.element(one)
            self._elements[key] = element
            keys.append(key)
        snapshots = [] if stored is None else stored.snapshots[:same]
        self._snapshots[name] = snapshots + [snapshot_of(one) for one in value[same:]]
        base = "null" if stored is None else text_of([stored.checkpoint_id, same])
        return f'{{"list":{{"base":{base},"add":{text_of(keys)}}}}}'

    def fields(self) -> list[str]:
        """Return the fields of the request."""
        return [f'"values":{{{",".join(self._texts)}}}', f'"elements":{_elements(self._elements)}']

    def remember(self, checkpoint_id: str) -> None:
        """Remember the lists after they were stored."""
        for name, snapshots in self._snapshots.items():
            self._lists.set((*self._thread, name), StoredList(checkpoint_id, snapshots))


def _elements(elements: Mapping[str, Element]) -> str:
    texts = (
        f'{{"kind":{text_of(element.kind)},"text":{element.text}}}' for element in elements.values()
    )
    return f"[{','.join(texts)}]"


def _thread(config: RunnableConfig) -> tuple[str, str]:
    configurable = config.get("configurable", {})
    return str(configurable["thread_id"]), str(configurable.get("checkpoint_ns", ""))


def _name(thread_id: str, namespace: str) -> str:
    return text_of({"thread_id": thread_id, "checkpoint_ns": namespace})


def _config(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
        }
    }


def _listed(
    core: LangGraph, config: RunnableConfig | None, before: RunnableConfig | None, limit: int | None
) -> list[tuple[str, str, list[str]]]:
    """Return the ids of checkpoints, by their thread and namespace."""
    request: dict[str, Any] = {"limit": None if limit is None else max(limit, 0)}
    if config is not None:
        configurable = config.get("configurable", {})
        request["thread_id"] = str(configurable["thread_id"])
        request["namespace"] = configurable.get("checkpoint_ns")
        request["id"] = get_checkpoint_id(config)
    if before is not None:
        request["before"] = get_checkpoint_id(before)
    return cast("list[tuple[str, str, list[str]]]", json.loads(core.list(text_of(request))))
