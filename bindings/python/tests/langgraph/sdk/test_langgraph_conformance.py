"""The conformance suite that LangGraph publishes for savers, unmodified."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate

from forklore.langgraph import AsyncForkloreSaver

COUNTS = {
    "put": 17,
    "put_writes": 10,
    "get_tuple": 10,
    "list": 16,
    "delete_thread": 5,
    "delete_for_runs": 7,
    "copy_thread": 8,
    "prune": 8,
}
"""How many tests each capability has: 81 in all."""


@pytest.mark.parametrize("url", ["sqlite:{}/s.db", "files:{}/s", "memory:"])
async def test_every_capability_conforms(url: str, tmp_path: Path) -> None:
    @checkpointer_test(name="forklore")
    async def ours() -> AsyncIterator[AsyncForkloreSaver]:
        async with AsyncForkloreSaver.from_url(url.format(tmp_path)) as saver:
            yield saver

    report = await validate(ours)
    results = report.results
    failures = [failure for result in results.values() for failure in result.failures or []]
    assert failures == []
    assert {name: result.tests_passed for name, result in results.items()} == COUNTS
