"""Requests and answers as JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from .errors import InvalidArgsError, UnsupportedError


def given(request: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that the caller gave, also those of objects in it."""
    found: dict[str, Any] = {}
    for name, value in request.items():
        if isinstance(value, dict) and name in _GROUPS:
            found[name] = given(value)  # pyright: ignore[reportUnknownArgumentType]
        elif value is not None:
            found[name] = value
    return found


_GROUPS = frozenset({"batch", "attachment", "range", "to"})
"""Objects of requests whose fields are parameters of a method."""


def encode(verb: str, request: dict[str, Any]) -> str:
    """Return a request as JSON.

    Raises:
        InvalidArgsError: A value has no form in JSON.
    """
    try:
        return json.dumps({verb: given(request)}, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgsError(
            f"the request of {verb} has no form in JSON: {error}",
            {"reason": "not_json"},
            ["pass text, numbers, lists and dictionaries; encode other values first"],
        ) from error


def decode(text: str) -> Any:
    """Return the value that JSON text has.

    An integer with more digits than Python reads (:func:`sys.get_int_max_str_digits`) is a
    :class:`decimal.Decimal`.

    Raises:
        UnsupportedError: A value is nested more deeply than Python reads.
    """
    try:
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(text, parse_int=_integer)
    except RecursionError as error:
        raise UnsupportedError(
            "an answer is nested more deeply than Python reads",
            {"reason": "nested_too_deeply"},
            ["raise sys.setrecursionlimit, or read the session with the program: forklore log --json"],
        ) from error


def _integer(digits: str) -> int | Decimal:
    try:
        return int(digits)
    except ValueError:
        return Decimal(digits)
