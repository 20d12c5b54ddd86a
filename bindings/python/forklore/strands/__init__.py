"""Sessions for Strands agents, in a store of forklore.

::

    from strands import Agent
    from forklore.strands import ForkloreSessionManager

    agent = Agent(session_manager=ForkloreSessionManager("trip-42", "sqlite:sessions.db"))
    agent("Plan a trip to Oslo")

    other = ForkloreSessionManager.fork("trip-42", "trip-43", "sqlite:sessions.db")
    Agent(session_manager=other)("Cheaper, please")

The conversation of each agent is a session of forklore. A fork of a session shares all of it, and costs
the same whatever the history is.
"""

from __future__ import annotations

from .manager import ForkloreSessionManager
from .repository import ForkloreSessionRepository

__all__ = ["ForkloreSessionManager", "ForkloreSessionRepository"]
