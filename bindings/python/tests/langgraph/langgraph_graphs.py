"""Graphs, threads and checkpoints for the tests of the saver."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from forklore.langgraph import ForkloreSaver


class State(TypedDict):
    """A conversation of dictionaries."""

    messages: Annotated[list[Any], operator.add]


def answer(state: State) -> dict[str, Any]:
    """Answer the last message."""
    text = state["messages"][-1]["content"]
    return {"messages": [{"role": "assistant", "content": f"re: {text}"}]}


def graph(saver: ForkloreSaver) -> Any:
    """Return a graph that answers."""
    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def user(text: str) -> dict[str, Any]:
    """Return an input."""
    return {"messages": [{"role": "user", "content": text}]}


def thread(thread_id: str = "t") -> RunnableConfig:
    """Return the configuration of a thread."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def put(saver: ForkloreSaver, config: RunnableConfig, **values: Any) -> RunnableConfig:
    """Store a checkpoint with these values, each in a new version."""
    parent = saver.get_tuple(config)
    checkpoint: Checkpoint = empty_checkpoint()
    versions = dict(parent.checkpoint["channel_versions"]) if parent else {}
    new: dict[str, Any] = {name: int(versions.get(name, 0)) + 1 for name in values}
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = {**versions, **new}
    config = config if parent is None else parent.config
    return saver.put(config, checkpoint, {"source": "loop", "step": 1, "parents": {}}, new)


def values(saver: ForkloreSaver, config: RunnableConfig) -> dict[str, Any]:
    """Return the values of a checkpoint."""
    found = saver.get_tuple(config)
    assert found is not None
    return found.checkpoint["channel_values"]
