"""Snapshots of values, to find out whether they were changed in place.

A snapshot equals the view of a value exactly if the value is what it was. It shares no list or
dictionary with the value. Values without a snapshot are compared by what they are stored as.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from langchain_core.messages import BaseMessage

from .tree import type_of


class _Changed:
    """Equals nothing, itself included."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


CHANGED: Any = _Changed()
"""The snapshot and the view of a value that has none."""


class _Exact:
    """A number that equals only numbers of its own type: ``1 == True == 1.0``, but they differ."""

    __slots__ = ("number",)

    def __init__(self, number: float) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Exact):
            other = other.number
        return type(other) is type(self.number) and repr(other) == repr(self.number)

    __hash__ = None  # type: ignore[assignment]


_MESSAGE = attrgetter("__class__", "__dict__", "__pydantic_extra__")
"""The view of a message of LangChain."""

_PLAIN = frozenset({str, int, float, bool, type(None), dict, list})


class _Unsupported(Exception):
    pass


def snapshot_of(value: Any) -> Any:
    """Return the snapshot of a value."""
    try:
        return _copy(view_of(value))
    except (_Unsupported, RecursionError):
        return CHANGED


def view_of(value: Any) -> Any:
    """Return what is compared with the snapshot of a value."""
    if isinstance(value, BaseMessage):
        return type(value), value.__dict__, value.__pydantic_extra__
    return value if type(value) in _PLAIN else _Changed()


def is_unchanged(value: Any, snapshot: Any) -> bool:
    """Return whether a value is what its snapshot says."""
    return _equal(view_of(value), snapshot)


def are_unchanged(values: list[Any], snapshots: list[Any]) -> bool:
    """Return whether all values are what their snapshots say. It is fast if the values are alike."""
    if list(map(type, values)) == list(map(type, snapshots)):
        return _equal(values, snapshots)
    try:
        views = list(map(_MESSAGE, values))
    except AttributeError:
        views = [view_of(value) for value in values]
    return _equal(views, snapshots)


def _equal(view: Any, snapshot: Any) -> bool:
    try:
        return bool(view == snapshot)
    except Exception:  # The comparison of an object that was put into the value.
        return False


def _copy(value: Any) -> Any:
    kind = type_of(value)
    if value is None or kind is str:
        return value
    if kind is int or kind is float or kind is bool:
        return _Exact(value)
    if kind is dict:
        return {_key(key): _copy(one) for key, one in value.items()}
    if kind is list:
        return [_copy(one) for one in value]
    if kind is tuple:
        return tuple(_copy(one) for one in value)
    if kind is type or issubclass(kind, type):
        return value
    raise _Unsupported


def _key(key: Any) -> str:
    if type(key) is not str:
        raise _Unsupported
    return key
