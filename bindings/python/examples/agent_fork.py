"""Run an agent whose session forks: two continuations at once, with a tool and a hook in Python.

Run it with ``python agent_fork.py``. It needs no network: its model is a function.
"""

from __future__ import annotations

import asyncio
from typing import Any

import forklore
from forklore import agent


@agent.tool
async def price(plan: str) -> str:
    """Look up what a plan costs.

    Args:
        plan: The name of the plan.
    """
    return {"A": "7 days", "B": "3 days"}[plan]


class NoSecrets(agent.Hook):
    """Keeps a password out of the log."""

    async def prompt(
        self, input: agent.PromptInput, session: agent.Identity
    ) -> agent.ChangeVerdict:
        """Replace the password in a prompt."""
        return agent.modify(input["text"].replace("hunter2", "[password]"))


async def model(request: agent.Request) -> Any:
    """Answer as a model might. Another model is ``agent.HttpModel("openai", "qwen3", base_url=...)``."""
    content = request["messages"][-1]["content"]
    if not isinstance(content, str):
        yield "It takes "
        yield str(content[0].get("content"))
    elif content.startswith("take"):
        yield agent.ToolCall("price", {"plan": content[-1]})
        yield agent.Usage(input=40, output=9)
    else:
        yield f"You said: {content}"


calls: list[str] = []
"""The calls of tools, each with where it ran."""


def listener(event: dict[str, Any]) -> None:
    """Note what the tools do, in the session or in its fork."""
    if event["event"] == "tool:post":
        where = "session" if event["parent_id"] is None else "fork"
        calls.append(f"{event['data']['tool_name']} in the {where}")


async def main() -> None:
    """Begin a conversation, fork it, and go on in both at once."""
    with forklore.open("memory:") as store:
        async with agent.Kernel(store, hooks=[NoSecrets()], listener=listener) as kernel:
            session = await kernel.create(model=model, tools=[price], system="Be brief.")
            first = await session.execute("plan A or plan B? My password is hunter2.")
            print(first.text)
            fork = await session.fork(at="turn:1", title="Plan B")
            a, b = await asyncio.gather(session.execute("take A"), fork.execute("take B"))
            print(a.text, "|", b.text)
            # Both ran at once, so the order of their calls is another one each time.
            print("calls:", ", ".join(sorted(calls)))
            print("in common:", store.diff(session.id, fork.id)["common"], "messages")


if __name__ == "__main__":
    asyncio.run(main())
