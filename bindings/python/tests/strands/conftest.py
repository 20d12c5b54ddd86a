"""What the tests of the Strands repository share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that does not exist yet."""
    return tmp_path / "sessions.db"
