"""What forklore sees of a thread: sessions, conversations and forks."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph_graphs import graph, put, thread, user, values
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from forklore import AlreadyExistsError, NotFoundError
from forklore.langgraph import ForkloreSaver


def texts(saver: ForkloreSaver, session: str) -> list[Any]:
    return [record["content"] for record in saver.store.replay(session)]


def session(saver: ForkloreSaver, config: Any) -> str:
    position = saver.position(config)
    assert position is not None
    return position.session_id


def test_a_thread_is_one_session_with_its_messages(saver: ForkloreSaver) -> None:
    app = graph(saver)
    app.invoke(user("one"), thread())
    app.invoke(user("two"), thread())
    found = saver.store.list(workspace=None)["sessions"]
    assert [it["title"] for it in found] == ["t"]
    assert texts(saver, found[0]["id"]) == ["one", "re: one", "two", "re: two"]
    assert [it["role"] for it in saver.store.replay(found[0]["id"])] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]


def test_equal_messages_are_events_of_their_own(saver: ForkloreSaver) -> None:
    app = graph(saver)
    for _ in range(3):
        app.invoke(user("yes"), thread())
    assert texts(saver, session(saver, thread())) == ["yes", "re: yes"] * 3
    assert len(app.get_state(thread()).values["messages"]) == 6


def test_a_branch_from_an_old_checkpoint_is_a_fork(saver: ForkloreSaver) -> None:
    app = graph(saver)
    app.invoke(user("one"), thread())
    old = app.get_state(thread()).config
    app.invoke(user("two"), thread())
    main = session(saver, thread())
    app.invoke(user("other"), old)
    branch = session(saver, thread())
    assert branch != main
    difference = saver.store.diff(main, branch)
    assert difference["common"] == 2
    assert [it["content"] for it in difference["only_a"]] == ["two", "re: two"]
    assert [it["content"] for it in difference["only_b"]] == ["other", "re: other"]
    node = saver.store.tree(session_id=main)["trees"][0]
    assert [child["session_id"] for child in node["children"]] == [branch]
    hits = saver.store.search(query="other")["hits"]
    assert {hit["session_id"] for hit in hits} == {branch}
    history = [state.values["messages"][-1]["content"] for state in app.get_state_history(thread()) if state.values.get("messages")]
    assert {"re: one", "re: two", "re: other"} <= set(history)


def test_a_copy_is_independent(saver: ForkloreSaver) -> None:
    app = graph(saver)
    app.invoke(user("one"), thread())
    app.invoke(user("other"), app.get_state(thread()).parent_config)
    saver.copy_thread("t", "copy")
    assert app.get_state(thread("copy")).values == app.get_state(thread()).values
    assert [it.config["configurable"]["checkpoint_id"] for it in saver.list(thread("copy"))] == [
        it.config["configurable"]["checkpoint_id"] for it in saver.list(thread())
    ]
    app.invoke(user("two"), thread("copy"))
    assert len(app.get_state(thread("copy")).values["messages"]) == len(app.get_state(thread()).values["messages"]) + 2
    saver.delete_thread("t")
    assert saver.get_tuple(thread()) is None
    assert app.get_state(thread("copy")).values["messages"][-1]["content"] == "re: two"
    with pytest.raises(AlreadyExistsError):
        saver.copy_thread("copy", "copy")
    with pytest.raises(NotFoundError):
        saver.copy_thread("t", "again")


def test_a_deleted_thread_begins_anew(saver: ForkloreSaver) -> None:
    app = graph(saver)
    for text in ("one", "two", "three"):
        app.invoke(user(text), thread())
        assert app.get_state(thread()).values["messages"][0]["content"] == text
        saver.delete_thread("t")
        assert list(saver.list(thread())) == []


def test_tool_calls_and_results_are_understood(saver: ForkloreSaver) -> None:
    call = {"name": "ls", "args": {"path": "a.txt"}, "id": "c1", "type": "tool_call"}
    messages = [
        HumanMessage("look", id="h"),
        AIMessage("I look", tool_calls=[call], id="a"),
        ToolMessage("a.txt", tool_call_id="c1", name="ls", id="r"),
    ]
    config = put(saver, thread(), messages=messages)
    assert values(saver, config)["messages"] == messages
    roles = [it["role"] for it in saver.store.replay(session(saver, config))]
    assert roles == ["user", "assistant", "tool"]
    inspected = saver.store.inspect(session(saver, config))
    assert (inspected["balanced"], inspected["open_results"], inspected["synthetic_results"]) == (True, 0, 0)


def test_pruned_checkpoints_are_gone_and_the_newest_is_whole(saver: ForkloreSaver) -> None:
    app = graph(saver)
    for text in ("one", "two"):
        app.invoke(user(text), thread())
    before = app.get_state(thread()).values
    saver.prune(["t"])
    assert len(list(saver.list(thread()))) == 1
    assert app.get_state(thread()).values == before
    app.invoke(user("three"), thread())
    assert len(app.get_state(thread()).values["messages"]) == 6


def test_a_redacted_message_is_left_out(saver: ForkloreSaver) -> None:
    app = graph(saver)
    app.invoke(user("my password is hunter2"), thread())
    app.invoke(user("thanks"), thread())
    main = session(saver, thread())
    saver.store.redact(match="hunter2", session_ids=[main], reason="secret")
    contents = [it["content"] for it in app.get_state(thread()).values["messages"]]
    assert contents == ["thanks", "re: thanks"]
    app.invoke(user("more"), thread())
    contents = [it["content"] for it in app.get_state(thread()).values["messages"]]
    assert contents == ["thanks", "re: thanks", "more", "re: more"]
    assert "hunter2" not in repr(list(saver.list(thread())))
