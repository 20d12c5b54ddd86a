"""Delegate a task to a child of an Amplifier session, and see both under one family.

Run it with ``python amplifier_fork.py``. It needs no network: its orchestrator is a function.
"""

from __future__ import annotations

import asyncio
from typing import Any

import forklore
from forklore.amplifier import AmplifierSession, Event

CONFIG: dict[str, Any] = {"session": {"orchestrator": "loop-basic"}}


class Loader:
    """Loads the one module of this example."""

    async def load(self, module: str, config: dict[str, Any]) -> Any:
        """Return an orchestrator that answers without a model."""

        async def orchestrator(session: AmplifierSession, prompt: str, before: list[Any]) -> str:
            return f"{prompt} (after {len(before)} messages)"

        return orchestrator


def listen(event: Event) -> None:
    """Print what happens, and in which session."""
    print(f"{event['event']:16} {event['session_id']}")


async def main() -> None:
    """Run a parent and a child, as the session fork specification defines them."""
    with forklore.open("memory:") as store:
        parent = AmplifierSession(CONFIG, Loader(), "abc-123", store=store)
        parent.hooks.register("session:*", listen)
        await parent.initialize()
        print(await parent.execute("plan the trip"))

        child = AmplifierSession(CONFIG, Loader(), "abc-123-critic", "abc-123", store=store)
        child.hooks.register("session:*", listen)
        await child.initialize()
        print(await child.execute("find what is wrong with it"))
        await parent.cleanup(cascade_children=True)

        (family,) = store.tree(session_id="abc-123")["trees"]
        print("children:", [child["session_id"] for child in family["children"]])


if __name__ == "__main__":
    asyncio.run(main())
