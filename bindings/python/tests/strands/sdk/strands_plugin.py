"""Puts the repository of forklore under the tests that Strands has for its own repositories.

A pytest plugin: it replaces two classes before the test modules import them. The files of Strands stay as
they are.
"""

from __future__ import annotations

import os
from typing import Any

import strands.session
import strands.session.file_session_manager
import tests.fixtures.mock_session_repository as mocked

from forklore.strands import ForkloreSessionManager, ForkloreSessionRepository


class MockedSessionRepository(ForkloreSessionRepository):
    """A repository in a memory store, in place of the dictionaries of Strands' tests."""

    def __init__(self) -> None:
        super().__init__("memory:")


class FileSessionManager(ForkloreSessionManager):
    """A session manager with the constructor of Strands' FileSessionManager.

    The tests of FileSessionManager call it as a repository, too, because it is both.
    """

    def __init__(self, session_id: str, storage_dir: str, **kwargs: Any) -> None:
        super().__init__(session_id, f"sqlite:{os.path.join(storage_dir, 'forklore.db')}", **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session_repository, name)


mocked.MockedSessionRepository = MockedSessionRepository  # type: ignore[misc]
strands.session.FileSessionManager = FileSessionManager  # type: ignore[misc]
strands.session.file_session_manager.FileSessionManager = FileSessionManager  # type: ignore[misc]
