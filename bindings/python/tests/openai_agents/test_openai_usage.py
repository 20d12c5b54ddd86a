"""Usage belongs to a turn of a branch, as long as the turn is there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agents.usage import Usage

from forklore.openai_agents import ForkloreSession

TURN: list[Any] = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]


def _run(tokens: int) -> Any:
    """A run that consumed tokens."""
    usage = Usage(requests=1, input_tokens=tokens, output_tokens=1, total_tokens=tokens + 1)
    return SimpleNamespace(context_wrapper=SimpleNamespace(usage=usage))


async def _turn(session: ForkloreSession, tokens: int) -> None:
    await session.add_items(TURN)
    await session.store_run_usage(_run(tokens))


async def _tokens(session: ForkloreSession, branch: str | None = None) -> list[tuple[int, int]]:
    rows: Any = await session.get_turn_usage(branch_id=branch)
    return [(row["user_turn_number"], row["input_tokens"]) for row in rows]


async def test_the_last_usage_of_a_turn_counts(path: Path) -> None:
    session = ForkloreSession("usage", path)
    await _turn(session, 10)
    await session.store_run_usage(_run(20))
    await _turn(session, 30)
    assert await _tokens(session) == [(1, 20), (2, 30)]
    assert await session.get_turn_usage(3) == {}
    total = await session.get_session_usage()
    assert total is not None and (total["input_tokens"], total["total_turns"]) == (50, 2)


async def test_usage_goes_with_its_turn_and_not_before(path: Path) -> None:
    session = ForkloreSession("usage", path)
    await _turn(session, 10)
    await _turn(session, 20)
    await session.pop_item()
    assert await _tokens(session) == [(1, 10), (2, 20)]
    await session.pop_item()
    assert await _tokens(session) == [(1, 10)]
    await session.add_items(TURN)
    assert await _tokens(session) == [(1, 10)]
    await session.clear_session()
    assert await session.get_session_usage() is None
    await session.add_items(TURN)
    assert await _tokens(session) == []


async def test_usage_that_comes_after_the_next_turn_survives_the_pop_of_that_turn(path: Path) -> None:
    session = ForkloreSession("usage", path)
    await session.add_items(TURN)
    capture = session._last_turn(("main", None))  # pyright: ignore[reportPrivateUsage]
    await session.add_items(TURN)
    await session._record_usage(_run(10).context_wrapper.usage, capture)  # pyright: ignore[reportPrivateUsage]
    await session.pop_item()
    await session.pop_item()
    assert await _tokens(session) == [(1, 10)]


async def test_a_branch_does_not_inherit_usage(path: Path) -> None:
    session = ForkloreSession("usage", path)
    await _turn(session, 10)
    await _turn(session, 20)
    await session.create_branch_from_turn(2, "cheap")
    assert await _tokens(session) == []
    await _turn(session, 5)
    assert await _tokens(session) == [(2, 5)]
    assert await _tokens(session, "main") == [(1, 10), (2, 20)]
    total = await session.get_session_usage()
    assert total is not None and total["input_tokens"] == 35
    await session.switch_to_branch("main")
    await session.delete_branch("cheap")
    total = await session.get_session_usage()
    assert total is not None and total["input_tokens"] == 30


async def test_the_store_counts_usage_once(path: Path) -> None:
    session = ForkloreSession("usage", path)
    await _turn(session, 10)
    await session.pop_item()
    await session.create_branch_from_turn(1, "again")
    await _turn(session, 5)
    usage = session.store.stats({"family": "usage"})["usage"]
    assert (usage["input"], usage["output"]) == (15, 2)


async def test_a_session_without_a_turn_has_no_usage(path: Path) -> None:
    session = ForkloreSession("usage", path)
    await session.store_run_usage(_run(10))
    assert await session.get_session_usage() is None
    await session.add_items(TURN[:1])
    await session.pop_item()
    await session.store_run_usage(_run(10))
    assert await _tokens(session) == []
