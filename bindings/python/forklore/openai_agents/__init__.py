"""Sessions for the OpenAI Agents SDK, whose branches are sessions of forklore.

::

    from agents import Agent, Runner
    from forklore.openai_agents import ForkloreSession

    session = ForkloreSession("trip-42", "sqlite:sessions.db")
    await Runner.run(agent, "Plan a trip to Oslo", session=session)
    await session.create_branch_from_turn(1, "cheaper")
    await Runner.run(agent, "Plan a cheap trip to Oslo", session=session)

:class:`ForkloreSession` implements the SDK's ``Session`` protocol and the calls of its
``AdvancedSQLiteSession``.
"""

from __future__ import annotations

from .session import ForkloreSession

__all__ = ["ForkloreSession"]
