"""Try two continuations of a conversation with Claude Code, and compare them.

Runs without a model: the records below are those that the Claude Agent SDK passes on to its session store
while Claude Code works. Run it with ``python claude_fork.py``.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import claude_agent_sdk as sdk

from forklore.claude import SessionStore

DIRECTORY = "/work/demo"
SESSION = "5a1d0000-0000-4000-8000-000000000000"


def message(role: str, text: str, after: dict[str, Any] | None, session: str = SESSION) -> Any:
    """Return a record as Claude Code writes it."""
    return {
        "type": role,
        "uuid": str(uuid.uuid4()),
        "parentUuid": after and after["uuid"],
        "sessionId": session,
        "cwd": DIRECTORY,
        "timestamp": "2026-11-29T06:00:00.000Z",
        "message": {"role": role, "content": [{"type": "text", "text": text}]},
    }


async def main() -> None:
    """Append a conversation, fork it, go on in both, and compare."""
    sessions = SessionStore("memory:")
    project = sdk.project_key_for_directory(DIRECTORY)
    key: Any = {"project_key": project, "session_id": SESSION}
    question = message("user", "Plan A or plan B?", None)
    answer = message("assistant", "Both are possible.", question)
    await sessions.append(key, [question, answer])

    fork = (await sessions.fork_session(SESSION, DIRECTORY, title="Plan B")).session_id
    await sessions.append(key, [message("user", "Then plan A.", answer)])
    fork_key: Any = {"project_key": project, "session_id": fork}
    await sessions.append(fork_key, [message("user", "Then plan B.", answer, fork)])

    # The same sessions, through the verbs of forklore.
    difference = sessions.store.diff(SESSION, fork)
    print(f"{difference['common']} messages in common")
    for name, events in (("plan A", difference["only_a"]), ("plan B", difference["only_b"])):
        for event in events:
            print(f"only {name}: {event['content']}")

    # What the SDK resumes from.
    for resumed in (SESSION, fork):
        messages = await sdk.get_session_messages_from_store(sessions, resumed, directory=DIRECTORY)
        texts = [it.message["content"][0]["text"] for it in messages]
        print(" / ".join(texts))


if __name__ == "__main__":
    asyncio.run(main())
