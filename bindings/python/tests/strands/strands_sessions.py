"""Sessions of Strands that several tests use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from forklore import Store
from forklore.strands import ForkloreSessionRepository

AGENT = "planner"


def user(number: int, text: str) -> SessionMessage:
    return SessionMessage(message={"role": "user", "content": [{"text": text}]}, message_id=number)


def opened(path: Path | Store, session_id: str = "trip", messages: int = 0) -> ForkloreSessionRepository:
    """Return a repository with a session, an agent and messages."""
    repository = ForkloreSessionRepository(path)
    repository.create_session(Session(session_id, SessionType.AGENT))
    repository.create_agent(session_id, SessionAgent(AGENT, {"turn": 0}, {}))
    for number in range(messages):
        repository.create_message(session_id, AGENT, user(number, f"message {number}"))
    return repository


def texts(repository: ForkloreSessionRepository, session_id: str = "trip") -> list[str]:
    messages: list[Any] = [one.to_message() for one in repository.list_messages(session_id, AGENT)]
    return [message["content"][0]["text"] for message in messages]
