"""A store with verbs as coroutines."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from ._json import decode, encode
from ._store import PAGE, Store
from ._verbs import AsyncVerbs

Answer = TypeVar("Answer")

_THREADS = 16
"""How many calls of one store run at the same time. Further calls wait."""


class AsyncStore(AsyncVerbs):
    """An open store, whose verbs are coroutines.

    Each call runs in a thread, so it blocks no event loop, and coroutines of several event loops may use
    one store. A call that has begun runs to its end, also if its task is cancelled: its events are then
    stored completely or not at all. Give the events ids, and repeat the call to find out.
    """

    def __init__(self, store: Store) -> None:
        """Give a store verbs as coroutines. :func:`open_async` opens one.

        Raises:
            TypeError: It is no store, but for example the URL of one.
        """
        if not isinstance(store, Store):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a store, not {type(store).__name__}: forklore.open_async(URL) opens one")
        self.store = store
        """The same store with verbs that block."""
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="forklore")

    @property
    def location(self) -> str:
        """The kind and the location of the store, without a password."""
        return self.store.location

    async def close(self) -> None:
        """Close the store. Running calls end first, and later ones fail."""
        # Not in the store's own threads, which end here.
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._threads.shutdown(wait=True)
        self.store.close()

    async def __aenter__(self) -> AsyncStore:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncStore({self.location!r})"

    async def run(self, call: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a function that blocks in one of the store's threads, and return its result."""
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)
        except RuntimeError:
            # The threads have ended. The closed store has the right error.
            return call(*arguments)
        return await running

    async def _call(self, verb: str, request: dict[str, Any]) -> Any:
        return await self.run(self.store._call, verb, request)  # pyright: ignore[reportPrivateUsage]

    def _rows(self, verb: str, request: dict[str, Any]) -> AsyncIterator[Any]:
        return self._items(encode(verb, request))

    async def _items(self, request: str) -> AsyncIterator[Any]:
        connection = self.store._connection  # pyright: ignore[reportPrivateUsage]
        rows = await self.run(connection.rows, request)
        while items := decode(await self.run(rows.page, PAGE)):
            for item in items:
                yield item

    async def _send(self, verb: str, request: dict[str, Any], content: bytes) -> Any:
        return await self.run(self.store._send, verb, request, content)  # pyright: ignore[reportPrivateUsage]

    async def _receive(self, verb: str, request: dict[str, Any]) -> bytes:
        return await self.run(self.store._receive, verb, request)  # pyright: ignore[reportPrivateUsage]


async def open_async(url: str | os.PathLike[str] | None = None) -> AsyncStore:
    """Open a store, and create it if it does not exist. See :class:`AsyncStore`."""
    return AsyncStore(await asyncio.to_thread(Store, url))
