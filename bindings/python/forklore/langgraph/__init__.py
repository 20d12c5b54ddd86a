"""LangGraph checkpoints as sessions that fork.

A thread is a session, a checkpoint an event of it, and a branch a fork: messages are events of the
conversation, so ``tree``, ``diff`` and ``search`` understand them, and every content is stored once::

    from forklore.langgraph import ForkloreSaver

    with ForkloreSaver.from_url("sqlite:sessions.db") as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"messages": [("user", "hi")]}, {"configurable": {"thread_id": "1"}})

Coroutines use :class:`AsyncForkloreSaver`. It needs the package ``langgraph-checkpoint``.
"""

from __future__ import annotations

from .aio import AsyncForkloreSaver
from .saver import ForkloreSaver, Position

__all__ = ["AsyncForkloreSaver", "ForkloreSaver", "Position"]
