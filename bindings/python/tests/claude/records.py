"""Records as Claude Code writes them."""

from __future__ import annotations

import uuid
from typing import Any

import claude_agent_sdk as sdk

DIRECTORY = "/work/demo"
PROJECT = sdk.project_key_for_directory(DIRECTORY)
SESSION = "5a1d0000-0000-4000-8000-000000000000"
KEY: Any = {"project_key": PROJECT, "session_id": SESSION}


def message(text: str, after: Any = None, *, role: str = "user", session: str = SESSION) -> Any:
    """Return a message that continues another one."""
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "parentUuid": after["uuid"] if after else None,
        "isSidechain": False,
        "cwd": DIRECTORY,
        "sessionId": session,
        "type": role,
        "message": {"role": role, "content": content},
        "uuid": str(uuid.uuid4()),
        "timestamp": "2026-11-29T06:00:00.000Z",
    }


def conversation(*texts: str) -> list[Any]:
    """Return questions and answers, each after the one before."""
    records: list[Any] = []
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        records.append(message(text, records[-1] if records else None, role=role))
    return records
