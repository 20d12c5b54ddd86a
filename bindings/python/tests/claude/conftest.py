"""What the tests of the session store share."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklore.claude import SessionStore


@pytest.fixture(params=["memory", "sqlite", "files"])
def sessions(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    """A session store over each kind of store."""
    kind = request.param
    return SessionStore("memory:" if kind == "memory" else f"{kind}:{tmp_path / 'store'}")
