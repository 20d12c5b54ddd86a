"""Values as trees of JSON, and back.

What JSON has is written as it is. Everything else is an object with the field ``lg``: a message that is
stored once and referred to by its key, a tuple, or a value that the serializer of LangGraph wrote.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any, cast

from langgraph.checkpoint.serde.base import SerializerProtocol

MARK = "lg"
"""The field of an object that stands for something else."""


def typed(serde: SerializerProtocol, value: Any) -> dict[str, Any]:
    """Return a value as the serializer writes it."""
    kind, content = serde.dumps_typed(value)
    return {MARK: "typed", "type": kind, "data": base64.b64encode(content).decode()}


def untyped(serde: SerializerProtocol, tree: dict[str, Any]) -> Any:
    """Return the value that the serializer wrote."""
    return serde.loads_typed((tree["type"], base64.b64decode(tree["data"])))


def tree_of(
    value: Any, serde: SerializerProtocol, message: Callable[[Any], dict[str, Any] | None]
) -> Any:
    """Return a value as a tree. ``message`` returns what stands for a message, and ``None`` for others."""
    kind = type_of(value)
    if value is None or kind is str or kind is bool or kind is int:
        return value
    if kind is float:
        return value if math.isfinite(value) else typed(serde, value)
    found = message(value)
    if found is not None:
        return found
    if kind is list:
        return [tree_of(one, serde, message) for one in value]
    if kind is tuple:
        items = [tree_of(one, serde, message) for one in value]
        return {MARK: "tuple", "items": items}
    if kind is dict and is_plain(value):
        return {key: tree_of(one, serde, message) for key, one in value.items()}
    return typed(serde, value)


def type_of(value: Any) -> Any:
    """Return the type of a value."""
    return cast("Any", type(value))


def is_exactly(value: Any, kind: type) -> bool:
    """Return whether a value is of a type, and not of a derived one."""
    return type(value) is kind


def is_plain(value: dict[Any, Any]) -> bool:
    """Return whether a dictionary can be an object of JSON that stands for itself."""
    return MARK not in value and all(type(key) is str for key in value)


def no_message(value: Any) -> None:
    """Find no message in any value."""
    return None
