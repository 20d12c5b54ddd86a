"""The savers that the tests use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forklore.langgraph import ForkloreSaver


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The address of a store that does not exist yet."""
    return f"sqlite:{tmp_path / 'sessions.db'}"


@pytest.fixture
def saver(url: str) -> Iterator[ForkloreSaver]:
    """A saver over a new store."""
    with ForkloreSaver.from_url(url) as saver:
        yield saver
