"""A LangGraph thread whose state is the list of messages: `sqlite` is SqliteSaver, `postgres` is PostgresSaver.

Its fork is `update_state` from a checkpoint that is named, with no message of its own.
"""

import operator
import sqlite3
import sys
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from service import Peer, serve


class State(TypedDict):
    messages: Annotated[list, operator.add]


def on_sqlite(path):
    return SqliteSaver(sqlite3.connect(path, check_same_thread=False))


def on_postgres(url):
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg import Connection
    from psycopg.rows import dict_row

    # As `PostgresSaver.from_conn_string` connects.
    saver = PostgresSaver(Connection.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row))
    saver.setup()
    return saver


class Thread(Peer):
    def __init__(self, path):
        super().__init__(path)
        saver = on_postgres(path) if sys.argv[1] == "postgres" else on_sqlite(path)
        builder = StateGraph(State)
        builder.add_node("agent", lambda state: {"messages": []})
        builder.add_edge(START, "agent")
        builder.add_edge("agent", END)
        self.graph = builder.compile(checkpointer=saver)
        self.head = {"configurable": {"thread_id": "main"}}

    async def add(self, messages):
        self.head = self.graph.update_state(self.head, {"messages": messages}, as_node="agent")

    async def load(self):
        return self.graph.get_state(self.head).values["messages"]

    async def fork(self):
        return self.graph.update_state(self.head, {"messages": []}, as_node="agent")

    async def enter(self, fork):
        self.head = fork


serve(Thread)
