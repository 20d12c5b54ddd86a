"""Why a call failed: one class for each kind of error.

The kinds are those of the program's ``--json``. Catch :class:`ForkloreError` for all of them.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar


class ForkloreError(Exception):
    """A call failed. It changed no session."""

    kind: ClassVar[str] = "error"
    """The kind of the error. The names of kinds do not change between versions."""

    def __init__(
        self,
        message: str,
        details: dict[str, Any] | None = None,
        next_actions: list[str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """What is wrong, in one sentence."""
        self.details: dict[str, Any] = details or {}
        """The details of the error. Which fields it has depends on the error."""
        self.next_actions: list[str] = next_actions or []
        """What can be done about it."""

    def __reduce__(self) -> tuple[type[ForkloreError], tuple[str, dict[str, Any], list[str]]]:
        return type(self), (self.message, self.details, self.next_actions)


class NotFoundError(ForkloreError):
    """What the call names does not exist."""

    kind = "not_found"


class InvalidArgsError(ForkloreError, ValueError):
    """An argument is wrong in itself."""

    kind = "invalid_args"


class ConflictError(ForkloreError):
    """Another writer was faster, or the state does not permit the call."""

    kind = "conflict"


class AlreadyExistsError(ForkloreError):
    """An id or a label is in use."""

    kind = "already_exists"


class HasChildrenError(ForkloreError):
    """Other sessions inherit from the session."""

    kind = "has_children"


class BusyError(ForkloreError):
    """Another process has the session or the store."""

    kind = "busy"


class PermissionDeniedError(ForkloreError):
    """The caller may not do this."""

    kind = "permission_denied"


class UnsupportedError(ForkloreError):
    """The store cannot do this."""

    kind = "unsupported"


class InterruptedCallError(ForkloreError):
    """The call was interrupted before it ended."""

    kind = "interrupted"


class BudgetExceededError(ForkloreError):
    """A budget is used up."""

    kind = "budget_exceeded"


class CorruptError(ForkloreError):
    """Stored data is damaged."""

    kind = "corrupt"


class MissingAncestorError(ForkloreError):
    """A session from which events are inherited is missing."""

    kind = "missing_ancestor"


class LineageCycleError(ForkloreError):
    """The ancestors of a session run in a circle."""

    kind = "lineage_cycle"


class InternalError(ForkloreError):
    """The store or the operating system failed."""

    kind = "internal"


_CLASSES: dict[str, type[ForkloreError]] = {
    error.kind: error
    for error in (
        NotFoundError,
        InvalidArgsError,
        ConflictError,
        AlreadyExistsError,
        HasChildrenError,
        BusyError,
        PermissionDeniedError,
        UnsupportedError,
        InterruptedCallError,
        BudgetExceededError,
        CorruptError,
        MissingAncestorError,
        LineageCycleError,
        InternalError,
    )
}


def of_kind(kind: str, message: str, details: str, next_actions: list[str]) -> ForkloreError:
    """Return the exception of a kind. ``details`` is a JSON object."""
    error = _CLASSES.get(kind, ForkloreError)(message, json.loads(details), next_actions)
    if kind != error.kind:
        error.details.setdefault("kind", kind)
    return error
