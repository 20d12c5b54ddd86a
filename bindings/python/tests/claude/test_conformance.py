"""The contracts that the SDK requires of every session store."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from claude_agent_sdk.testing import run_session_store_conformance

from forklore.claude import SessionStore


@pytest.mark.parametrize("kind", ["memory", "sqlite", "files"])
async def test_all_contracts_hold(kind: str, tmp_path: Path) -> None:
    await run_session_store_conformance(stores(kind, tmp_path))


async def test_a_broken_store_is_found(tmp_path: Path) -> None:
    class Forgetful(SessionStore):
        async def append(self, key, entries):  # type: ignore[no-untyped-def]
            await super().append(key, entries[:1])

    with pytest.raises(AssertionError):
        await run_session_store_conformance(lambda: Forgetful("memory:"))


def stores(kind: str, folder: Path) -> Callable[[], SessionStore]:
    """Return a function that makes a new store for each contract."""
    numbers = count()

    def make() -> SessionStore:
        path = folder / f"store-{next(numbers)}"
        return SessionStore("memory:" if kind == "memory" else f"{kind}:{path}")

    return make
