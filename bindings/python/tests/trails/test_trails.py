"""What ADR-0018a of Trails says, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import forklore
from forklore import Store
from forklore.trails import MAX_FORK_DEPTH, Session, SessionTurn, TrailsError


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[Store]:
    with forklore.open(tmp_path / "sessions.db") as store:
        yield store


def root(ctx: Store, turns: int = 4) -> Session:
    session = Session(principal="did:key:alice")
    for number in range(turns):
        session.append("assistant" if number % 2 else "user", f"turn {number}")
    session.persist(ctx)
    return session


def contents(session: Session) -> list[str]:
    return [turn.content for turn in session.turns]


def own_events(ctx: Store, session: Session) -> int:
    return ctx.show(session.session_id)["session"]["own_events"]


def test_persist_load_list_delete(ctx: Store) -> None:
    session = root(ctx)
    loaded = Session.load(ctx, session.session_id)
    assert (loaded.turns, loaded.principal) == (session.turns, "did:key:alice")
    assert [one["session_id"] for one in Session.list(ctx)] == [session.session_id]
    Session.delete(ctx, session.session_id)
    assert Session.list(ctx) == []
    with pytest.raises(TrailsError, match="was deleted"):
        Session.load(ctx, session.session_id)


def test_parent_and_index_are_none_for_roots_and_the_branch_is_main(ctx: Store) -> None:
    session = Session.load(ctx, root(ctx).session_id)
    assert (session.parent_session_id, session.forked_at_index, session.branch) == (None, None, "main")
    assert {turn.branch for turn in session.turns} == {"main"}


def test_a_fork_owns_the_turns_from_its_index_on(ctx: Store) -> None:
    parent = root(ctx)
    child = parent.fork(ctx, 2)
    assert (child.parent_session_id, child.forked_at_index) == (parent.session_id, 2)
    child.append("user", "another turn 2")
    child.persist(ctx)
    turns = Session.load(ctx, child.session_id).turns
    assert turns[:2] == parent.turns[:2]
    assert turns[2:] == [SessionTurn(2, "user", "another turn 2", child.branch)]
    assert Session.load(ctx, parent.session_id).turns == parent.turns


def test_forks_write_with_a_unique_label(ctx: Store) -> None:
    parent = root(ctx)
    labels = {parent.fork(ctx, 2).branch for _ in range(10)}
    assert len(labels) == 10
    assert all(len(label) == 13 and label.startswith("fork-") for label in labels)


def test_the_shared_prefix_is_not_copied(ctx: Store) -> None:
    parent = root(ctx, 5000)
    for _ in range(10):
        child = parent.fork(ctx)
        child.append("user", "one more")
        child.persist(ctx)
        # The record of the fork, and the one turn.
        assert own_events(ctx, child) == 2
        assert len(Session.load(ctx, child.session_id).turns) == 5001
    assert own_events(ctx, parent) == 5000


def test_a_parent_with_forks_is_not_deleted_unless_the_caller_says_how(ctx: Store) -> None:
    parent = root(ctx)
    child = parent.fork(ctx, 2)
    with pytest.raises(TrailsError, match="it has forks"):
        Session.delete(ctx, parent.session_id)
    Session.delete(ctx, parent.session_id, children="detach_children")
    assert contents(Session.load(ctx, child.session_id)) == ["turn 0", "turn 1"]
    other = root(ctx)
    grandchild = other.fork(ctx, 1)
    Session.delete(ctx, other.session_id, children="cascade")
    with pytest.raises(TrailsError):
        Session.load(ctx, grandchild.session_id)


def test_detach_materialises_the_prefix(ctx: Store) -> None:
    parent = root(ctx)
    child = parent.fork(ctx, 2)
    child.detach(ctx)
    Session.delete(ctx, parent.session_id)
    assert contents(Session.load(ctx, child.session_id)) == ["turn 0", "turn 1"]


def test_32_links_work_and_the_33rd_is_refused(ctx: Store) -> None:
    assert MAX_FORK_DEPTH == 32
    session = root(ctx, 1)
    for depth in range(MAX_FORK_DEPTH):
        session = session.fork(ctx)
        session.append("user", f"level {depth}")
        session.persist(ctx)
    assert len(Session.load(ctx, session.session_id).turns) == MAX_FORK_DEPTH + 1
    with pytest.raises(TrailsError, match="32 ancestors"):
        session.fork(ctx)
    session.detach(ctx)
    child = session.fork(ctx)
    grandchild = child.fork(ctx)
    assert contents(grandchild) == contents(session)


def test_links_count_from_a_detached_ancestor(ctx: Store) -> None:
    session = root(ctx, 1)
    for depth in range(MAX_FORK_DEPTH):
        session = session.fork(ctx)
        if depth == 9:
            session.detach(ctx)
    for _ in range(10):
        session = session.fork(ctx)
    with pytest.raises(TrailsError, match="32 ancestors"):
        session.fork(ctx)


def test_replay_returns_plain_dicts_and_changes_nothing(ctx: Store) -> None:
    parent = root(ctx)
    child = parent.fork(ctx, 2)
    child.append("user", "mine")
    child.persist(ctx)
    child.append("assistant", "not stored")
    before = (child.turns, ctx.show(child.session_id), list(ctx.log(child.session_id)))
    expected = [
        {"role": "user", "content": "turn 0", "index": 0, "branch": "main"},
        {"role": "assistant", "content": "turn 1", "index": 1, "branch": "main"},
        {"role": "user", "content": "mine", "index": 2, "branch": child.branch},
    ]
    assert child.replay(ctx) == expected
    assert child.replay(ctx, up_to_index=2) == expected[:2]
    assert child.replay(ctx, up_to_index=0) == []
    assert (child.turns, ctx.show(child.session_id), list(ctx.log(child.session_id))) == before
    with pytest.raises(TrailsError, match="out of range"):
        child.replay(ctx, up_to_index=4)


def test_branches_lists_the_family(ctx: Store) -> None:
    parent = root(ctx)
    child = parent.fork(ctx, 1)
    grandchild = child.fork(ctx, 0)
    for session in (parent, child, grandchild):
        assert session.branches(ctx) == [
            {
                "branch": one.branch,
                "session_id": one.session_id,
                "parent_session_id": one.parent_session_id,
                "forked_at_index": one.forked_at_index,
                "turns": len(one.turns),
            }
            for one in (parent, child, grandchild)
        ]


def test_a_fork_inherits_the_principal_or_overrides_it(ctx: Store) -> None:
    parent = root(ctx)
    assert parent.fork(ctx, 1).principal == "did:key:alice"
    child = parent.fork(ctx, 1, principal="did:key:bob")
    assert Session.load(ctx, child.session_id).principal == "did:key:bob"
    assert Session.load(ctx, parent.session_id).principal == "did:key:alice"


@pytest.mark.parametrize("content", ["", {"a": [1, None]}, 7, None, [{"type": "text", "text": "x"}]])
@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool", "critic"])
def test_any_role_and_content_comes_back(ctx: Store, role: str, content: object) -> None:
    session = Session()
    session.append(role, content)
    session.persist(ctx)
    assert Session.load(ctx, session.session_id).turns == [SessionTurn(0, role, content)]
    assert session.replay(ctx)[0]["content"] == content


def test_two_writers_never_interleave(ctx: Store) -> None:
    session = root(ctx)
    other = Session.load(ctx, session.session_id)
    other.append("user", "other")
    other.persist(ctx)
    session.append("user", "mine")
    with pytest.raises(TrailsError, match="load it again"):
        session.persist(ctx)
    assert contents(Session.load(ctx, session.session_id))[-1] == "other"


def test_bad_input_is_refused_and_writes_nothing(ctx: Store) -> None:
    session = root(ctx)
    for index in (-1, 5):
        with pytest.raises(TrailsError, match="no index"):
            session.fork(ctx, index)
    with pytest.raises(TrailsError, match="cannot be loaded"):
        Session.load(ctx, "nowhere")
    with pytest.raises(TrailsError, match="already exists"):
        session.fork(ctx, 1, session_id=session.session_id)
    assert len(Session.list(ctx)) == 1


def test_what_other_agents_wrote_is_there(ctx: Store) -> None:
    session = root(ctx, 1)
    ctx.append(session.session_id, [forklore.tool_call("c", "f", {}), forklore.assistant("done")])
    loaded = Session.load(ctx, session.session_id)
    assert [turn.role for turn in loaded.turns] == ["user", "assistant", "assistant"]
    assert loaded.turns[2].content == "done"
