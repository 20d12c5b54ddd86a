"""Go back to an old checkpoint of a LangGraph thread, go on differently, and compare the two.

Run it with ``python langgraph_time_travel.py``. It needs no model and no network.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from forklore.langgraph import ForkloreSaver


class State(TypedDict):
    """What the graph remembers."""

    messages: Annotated[list[Any], operator.add]


def model(state: State) -> dict[str, Any]:
    """Answer as a model would, but always the same."""
    question = state["messages"][-1]["content"]
    return {"messages": [{"role": "assistant", "content": f"I would do this: {question}"}]}


def ask(text: str) -> Any:
    """Return the input of a turn."""
    return {"messages": [{"role": "user", "content": text}]}


def main() -> None:
    """Ask twice, go back to the first answer, and ask something else."""
    builder = StateGraph(State)
    builder.add_node("model", model)
    builder.add_edge(START, "model")
    builder.add_edge("model", END)
    with ForkloreSaver.from_url("memory:") as saver:
        graph = builder.compile(checkpointer=saver)
        thread: RunnableConfig = {"configurable": {"thread_id": "plans"}}
        graph.invoke(ask("plan a trip"), thread)
        first = graph.get_state(thread).config
        graph.invoke(ask("by train"), thread)
        by_train = graph.get_state(thread).config

        # The same thread from its first answer on. This is a fork: it shares what came before.
        graph.invoke(ask("by boat"), first)
        by_boat = graph.get_state(thread).config

        one, other = saver.position(by_train), saver.position(by_boat)
        assert one is not None and other is not None
        difference = saver.store.diff(one.session_id, other.session_id)
        print("in common:", difference["common"], "messages")
        for record in difference["only_a"]:
            print("by train: ", record["role"], "-", record["content"])
        for record in difference["only_b"]:
            print("by boat:  ", record["role"], "-", record["content"])

        # Resume the first branch: its newest checkpoint is still there.
        graph.invoke(ask("and by night"), by_train)
        print("resumed:  ", len(graph.get_state(thread).values["messages"]), "messages")

        # A copy of the thread is a fork as well.
        saver.copy_thread("plans", "for somebody else")
        copy: RunnableConfig = {"configurable": {"thread_id": "for somebody else"}}
        print("copied:   ", len(graph.get_state(copy).values["messages"]), "messages")


if __name__ == "__main__":
    main()
