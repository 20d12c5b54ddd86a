"""Stores that sessions open by a URL, each once in a process."""

from __future__ import annotations

import os
import threading
import weakref

from .._store import Store

_lock = threading.Lock()
_open: weakref.WeakValueDictionary[tuple[int, str], Store] = weakref.WeakValueDictionary()


def shared(url: str | os.PathLike[str] | None) -> Store:
    """Return the store of a URL. Sessions with the same URL share it, except for ``memory:``."""
    text = "" if url is None else os.fspath(url)
    if text == "memory:":
        return Store(text)
    # A process that was forked must not use the store of its parent.
    name = (os.getpid(), f"{text}\n{os.environ.get('FORKLORE_STORE', '') if not text else os.getcwd()}")
    with _lock:
        store = _open.get(name)
        if store is None:
            store = _open[name] = Store(text or None)
        return store
