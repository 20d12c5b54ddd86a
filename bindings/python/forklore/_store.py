"""A store with blocking verbs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from ._json import decode, encode
from ._native import Connection
from ._verbs import Verbs
from .errors import InvalidArgsError

PAGE = 256
"""How many items of a long answer are read at once."""


class Store(Verbs):
    """An open store, whose verbs block until their work is done.

    Several threads may use one store at once: a call releases the interpreter's lock. Other processes
    may open the same store. A process that was forked from this one must open it again.
    """

    def __init__(self, url: str | os.PathLike[str] | None = None) -> None:
        """Open a store, and create it if it does not exist.

        Args:
            url: ``sqlite:PATH``, ``files:DIR``, ``postgres://...``, ``https://...`` or ``memory:``. A path
                without a scheme is an SQLite file. Without a URL, the store of the program ``forklore``.

        Raises:
            InvalidArgsError: The URL names no store.
            ForkloreError: The store is damaged, locked, or of another version.
        """
        try:
            self._connection = Connection(None if url is None else os.fspath(url))
        except UnicodeEncodeError as error:
            raise InvalidArgsError(f"the URL of a store is UTF-8: {error}") from error

    @property
    def location(self) -> str:
        """The kind and the location of the store, without a password."""
        return self._connection.location

    def close(self) -> None:
        """Close the store. Calls of other threads end first, and later ones fail."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.location!r})"

    def _call(self, verb: str, request: dict[str, Any]) -> Any:
        return decode(self._connection.call(encode(verb, request)))

    def _rows(self, verb: str, request: dict[str, Any]) -> Iterator[Any]:
        # The request is checked at the call, not at the first item.
        rows = self._connection.rows(encode(verb, request))
        return iter(_items(rows.page))

    def _send(self, verb: str, request: dict[str, Any], content: bytes) -> Any:
        return decode(self._connection.send(encode(verb, request), content))

    def _receive(self, verb: str, request: dict[str, Any]) -> bytes:
        return self._connection.receive(encode(verb, request))


def _items(page: Any) -> Iterator[Any]:
    while items := decode(page(PAGE)):
        yield from items


def open(url: str | os.PathLike[str] | None = None) -> Store:
    """Open a store, and create it if it does not exist. See :class:`Store`."""
    return Store(url)
