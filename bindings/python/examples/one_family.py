"""One conversation in three frameworks: LangGraph begins it, two others go on in forks of it.

The OpenAI Agents SDK and forklore's own kernel read what LangGraph wrote. Forklore compares the answers.
Run it with ``python one_family.py``. It needs no network: its models are functions.
"""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import forklore
from forklore import agent
from forklore.langgraph import ForkloreSaver
from forklore.openai_agents import ForkloreSession


class State(TypedDict):
    """What the graph remembers."""

    messages: Annotated[list[Any], operator.add]


def answer(state: State) -> dict[str, Any]:
    """Answer as a model would, but always the same."""
    return {"messages": [{"role": "assistant", "content": "By train or by ship."}]}


def begin(store: forklore.Store) -> str:
    """Run one turn of a graph, and return the session of its thread."""
    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    saver = ForkloreSaver(store)
    graph = builder.compile(checkpointer=saver)
    thread: RunnableConfig = {"configurable": {"thread_id": "trip to Oslo"}}
    graph.invoke({"messages": [{"role": "user", "content": "How do I get to Oslo?"}]}, thread)
    position = saver.position(graph.get_state(thread).config)
    assert position is not None
    return position.session_id


async def with_the_openai_sdk(session_id: str, store: forklore.Store) -> None:
    """Go on as the runner of the OpenAI Agents SDK does."""
    session = ForkloreSession(session_id, store)
    print("OpenAI Agents SDK reads", len(await session.get_items()), "items")
    await session.add_items(
        [
            {"role": "user", "content": "And how long by train?"},
            {"role": "assistant", "content": "16 hours."},
        ]
    )


async def model(request: agent.Request) -> Any:
    """Answer as a model would, but always the same."""
    print("the kernel's model reads", len(request["messages"]), "messages")
    yield "20 hours."


async def with_the_kernel(session_id: str, store: forklore.Store) -> None:
    """Run a turn of an agent."""
    async with agent.Kernel(store) as kernel:
        session = await kernel.open(session_id, model=model)
        await session.execute("And how long by ship?")


async def main() -> None:
    """Begin in one framework, go on in two others, and compare."""
    with forklore.open("memory:") as store:
        plan = begin(store)
        by_train = store.fork(plan, label="by-train")["child_session_id"]
        by_ship = store.fork(plan, label="by-ship")["child_session_id"]
        await with_the_openai_sdk(by_train, store)
        await with_the_kernel(by_ship, store)

        (family,) = store.tree(session_id=plan)["trees"]
        print("forks:", ", ".join(child["label"] for child in family["children"]))
        difference = store.diff(by_train, by_ship)
        print(difference["common"], "messages in common")
        for name, records in (("by train", difference["only_a"]), ("by ship", difference["only_b"])):
            for record in records:
                print(f"only {name}: {record['content']}")


if __name__ == "__main__":
    asyncio.run(main())
