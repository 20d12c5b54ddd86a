"""Resume a session of Strands, fork it at a message, and compare the two.

Runs without a network: the model of this example answers from a list.

    python examples/strands_resume.py
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from strands import Agent
from strands.models import Model

from forklore.strands import ForkloreSessionManager


class ListModel(Model):
    """A model that answers from a list."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)

    def get_config(self) -> dict[str, Any]:
        """Return no configuration."""
        return {}

    def update_config(self, **model_config: Any) -> None:
        """Ignore a configuration."""

    async def structured_output(self, *_: Any, **__: Any) -> AsyncGenerator[dict[str, Any], None]:
        """Return nothing."""
        return
        yield {}

    async def stream(self, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        """Answer."""
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": self._answers.pop(0)}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def agent(manager: ForkloreSessionManager, *answers: str) -> Agent:
    """Return an agent whose conversation the manager stores."""
    model = ListModel(*answers)
    return Agent(model, agent_id="planner", session_manager=manager, callback_handler=None)


def main(store: Path) -> None:
    """Plan a trip, resume it, and fork it."""
    first = agent(ForkloreSessionManager("trip-42", store), "Take the night train.", "Fly.")
    first("How do I get to Oslo?")
    first("And faster?")

    manager = ForkloreSessionManager("trip-42", store)
    resumed = agent(manager, "From Hamburg.")
    print(f"resumed with {len(resumed.messages)} messages")
    resumed("From where?")

    forked = ForkloreSessionManager.fork(
        "trip-42", "trip-43", store, agent_id="planner", message_id=2
    )
    other = agent(forked, "Ferry via Kiel.")
    print(f"forked with {len(other.messages)} messages")
    other("And by sea?")

    repository = manager.session_repository
    sessions = [repository.forklore_session_id(name, "planner") for name in ("trip-42", "trip-43")]
    difference = repository.store.diff(*sessions)
    print(f"{difference['common']} messages in common")
    for name, records in (("trip-42", difference["only_a"]), ("trip-43", difference["only_b"])):
        for record in records:
            print(f"only {name}: {record['content'][0]['text']}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder) / "sessions.db")
