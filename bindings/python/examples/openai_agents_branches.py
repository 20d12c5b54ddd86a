"""Try two answers to one question, compare them, and go on in another process.

Runs without a network: the model of this example answers from a list.

    python examples/openai_agents_branches.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from agents import Agent, Runner, set_tracing_disabled
from agents.testing import ScriptedModel
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from forklore.openai_agents import ForkloreSession

ANSWERS = ["Take the night train.", "Fly.", "Ferry via Kiel, cabin 4.", "You chose the ferry."]


def message(text: str) -> ResponseOutputMessage:
    """Return an answer of the model."""
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[part]
    )


async def main(store: Path) -> None:
    """Plan a trip on two branches."""
    set_tracing_disabled(True)
    model = ScriptedModel()
    for answer in ANSWERS:
        model.enqueue([message(answer)])
    agent = Agent(name="planner", model=model)

    session = ForkloreSession("trip-42", store)
    for question in ("How do I get to Oslo?", "And faster?"):
        await Runner.run(agent, question, session=session)

    await session.create_branch_from_turn(2, "ferry")
    await Runner.run(agent, "And by sea?", session=session)

    for branch in await session.list_branches():
        print(f"{branch['branch_id']}: {branch['message_count']} messages")
    difference = await session.compare_branches("main", "ferry")
    print(f"{difference['common']} messages in common")
    for name, records in (("main", difference["only_a"]), ("ferry", difference["only_b"])):
        for record in records:
            content = record["content"]
            print(f"only {name}: {content if isinstance(content, str) else content[0]['text']}")
    session.close()

    later = ForkloreSession("trip-42", store)
    await later.switch_to_branch("ferry")
    result = await Runner.run(agent, "What did I choose?", session=later)
    print(f"{len(await later.get_items())} messages, the last: {result.final_output}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "sessions.db"))
