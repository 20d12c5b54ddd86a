"""The saver for coroutines."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from langgraph.checkpoint.serde.base import SerializerProtocol

from .._aio import AsyncStore, open_async
from .saver import ForkloreSaver

Answer = TypeVar("Answer")


class AsyncForkloreSaver(ForkloreSaver):
    """Stores the checkpoints of LangGraph in a store of forklore, for graphs that run as coroutines.

    It has the methods of :class:`ForkloreSaver`, those that block as well. The coroutines run in the
    threads of the store, so they block no event loop.
    """

    def __init__(
        self,
        store: AsyncStore,
        *,
        serde: SerializerProtocol | None = None,
        workspace: str | os.PathLike[str] | None = None,
    ) -> None:
        """Use a store. The arguments are those of :class:`ForkloreSaver`."""
        super().__init__(store.store, serde=serde, workspace=workspace)
        self.async_store = store
        """The store with the sessions of all threads."""

    @classmethod
    @asynccontextmanager
    async def from_url(  # type: ignore[override]
        cls, url: str | os.PathLike[str] | None = None, *, serde: SerializerProtocol | None = None
    ) -> AsyncGenerator[AsyncForkloreSaver, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Open a store, and close it at the end. The arguments are those of :class:`ForkloreSaver`."""
        async with await open_async(url) as store:
            yield cls(store, serde=serde)

    async def _run(self, call: Callable[[], Answer]) -> Answer:
        return await self.async_store.run(call)
