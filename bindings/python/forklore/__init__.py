"""Sessions of AI agents that fork.

A session is an append-only log of events. A fork is another continuation of a session: it shares the
history, so it costs the same whatever the history is. Open a store, and call its verbs::

    import forklore

    with forklore.open("sqlite:sessions.db") as store:
        plan = store.new(workspace="/work/demo")["session"]["id"]
        store.append(plan, [forklore.user("plan A or plan B?")])
        fork = store.fork(plan)["child_session_id"]
        store.append(fork, [forklore.assistant("plan B")])
        print(store.diff(plan, fork)["only_b"])

:class:`Store` blocks, :class:`AsyncStore` has the same verbs as coroutines. Both give plain
dictionaries, whose types are in :mod:`forklore.types`. A call that fails raises a
:class:`ForkloreError`. Faces for agent frameworks are in modules of their own, such as
``forklore.langgraph``.
"""

from __future__ import annotations

from . import types
from ._aio import AsyncStore, open_async
from ._native import __version__
from ._store import Store, open
from .errors import (
    AlreadyExistsError,
    BudgetExceededError,
    BusyError,
    ConflictError,
    CorruptError,
    ForkloreError,
    HasChildrenError,
    InternalError,
    InterruptedCallError,
    InvalidArgsError,
    LineageCycleError,
    MissingAncestorError,
    NotFoundError,
    PermissionDeniedError,
    UnsupportedError,
)
from .events import assistant, event, system, tool_call, tool_result, user

__all__ = [
    "AlreadyExistsError",
    "AsyncStore",
    "BudgetExceededError",
    "BusyError",
    "ConflictError",
    "CorruptError",
    "ForkloreError",
    "HasChildrenError",
    "InternalError",
    "InterruptedCallError",
    "InvalidArgsError",
    "LineageCycleError",
    "MissingAncestorError",
    "NotFoundError",
    "PermissionDeniedError",
    "Store",
    "UnsupportedError",
    "__version__",
    "assistant",
    "event",
    "open",
    "open_async",
    "system",
    "tool_call",
    "tool_result",
    "types",
    "user",
]
