"""The session manager that an agent of Strands gets."""

from __future__ import annotations

import os
from typing import Any

from strands.session.repository_session_manager import RepositorySessionManager

from .._store import Store
from .repository import ForkloreSessionRepository


class ForkloreSessionManager(RepositorySessionManager):
    """Stores the agents of a session in a store of forklore, and restores them from it."""

    session_repository: ForkloreSessionRepository

    def __init__(
        self,
        session_id: str,
        store: Store | str | os.PathLike[str] | None = None,
        *,
        workspace: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a session; create it if it does not exist.

        Args:
            session_id: The id of the session: any text.
            store: The store or its URL, such as ``sqlite:sessions.db``. Without it, the store of the
                program ``forklore``.
            workspace: The folder that the session belongs to. By default, the current folder.
            kwargs: Further arguments of the framework's session manager.
        """
        repository = ForkloreSessionRepository(store, workspace=workspace)
        super().__init__(session_id=session_id, session_repository=repository, **kwargs)

    @classmethod
    def fork(
        cls,
        session_id: str,
        new_session_id: str,
        store: Store | str | os.PathLike[str] | None = None,
        *,
        agent_id: str | None = None,
        message_id: int | None = None,
    ) -> ForkloreSessionManager:
        """Fork a session, and open the new one.

        See :meth:`ForkloreSessionRepository.fork_session`.
        """
        repository = ForkloreSessionRepository(store)
        repository.fork_session(
            session_id, new_session_id, agent_id=agent_id, message_id=message_id
        )
        return cls(new_session_id, repository.store)
