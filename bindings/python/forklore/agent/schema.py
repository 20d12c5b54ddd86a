"""The JSON schema of a function's arguments, from its annotations and its docstring."""

from __future__ import annotations

import collections.abc
import enum
import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from ..errors import InvalidArgsError

Schema = dict[str, Any]
"""A JSON schema."""

_SIMPLE: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    dict: {"type": "object"},
    list: {"type": "array"},
    Any: {},
    inspect.Parameter.empty: {},
}

_LISTS = (list, set, frozenset, tuple, collections.abc.Sequence, collections.abc.Iterable)
_OBJECTS = (dict, collections.abc.Mapping)


def arguments(function: Callable[..., Any], without: str | None) -> Schema:
    """Return the schema of a function's arguments, except those of the parameter ``without``.

    Raises:
        InvalidArgsError: A parameter has no form in JSON, or no name.
    """
    hints = hints_of(function)
    texts = described_parameters(inspect.getdoc(function) or "")
    properties: Schema = {}
    required: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == without:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise InvalidArgsError(
                f"the parameter {parameter.name} of {function.__name__} has no name in a call",
                {"parameter": parameter.name},
                ["give the tool's schema with parameters={...}"],
            )
        schema = of(hints.get(parameter.name, parameter.empty), parameter.name)
        if parameter.name in texts:
            schema.setdefault("description", texts[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        properties[parameter.name] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function or of an object that is called, as types."""
    target: Any = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        raise InvalidArgsError(
            f"the annotations of {getattr(function, '__name__', function)!r} are no types: {error}",
            next_actions=["give the tool's schema with parameters={...}"],
        ) from error


def of(hint: Any, name: str) -> Schema:
    """Return the schema of a type. ``name`` is the parameter that has it.

    Raises:
        InvalidArgsError: The type has no form in JSON.
    """
    annotation: Any = hint
    if _is_simple(annotation):
        return dict(_SIMPLE[annotation])
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        schema = of(inner[0], name)
        texts = [text for text in inner[1:] if isinstance(text, str)]
        return {**schema, "description": texts[0]} if texts else schema
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [of(one, name) for one in inner]}
    if origin in _LISTS:
        # A tuple of a certain length is a list whose items have any of its types.
        kinds = [of(one, name) for one in inner if one is not ...]
        return {"type": "array", "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}
    if origin in _OBJECTS and len(inner) == 2:
        return {"type": "object", "additionalProperties": of(inner[1], name)}
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return {"enum": [member.value for member in annotation]}
    if typing.is_typeddict(hint):
        return _typed_dict(annotation)
    raise InvalidArgsError(
        f"the type {annotation!r} of the parameter {name} has no JSON schema here",
        {"parameter": name},
        ["give the tool's schema with parameters={...}"],
    )


def _is_simple(annotation: Any) -> bool:
    try:
        return annotation in _SIMPLE
    except TypeError:
        # It has no hash, like Annotated with a list.
        return False


def _typed_dict(annotation: Any) -> Schema:
    hints = typing.get_type_hints(annotation, include_extras=True)
    # The class counts a field as required if it cannot see a NotRequired in an annotation that is text.
    required = {
        name
        for name, hint in hints.items()
        if (name in annotation.__required_keys__ and _wrapper(hint) != "NotRequired")
        or _wrapper(hint) == "Required"
    }
    return {
        "type": "object",
        "properties": {name: of(_unwrapped(hint), name) for name, hint in hints.items()},
        "required": sorted(required),
    }


def _wrapper(hint: Any) -> str:
    """Return ``Required`` or ``NotRequired`` if that is around a field's type."""
    return getattr(get_origin(hint), "_name", None) or ""


def _unwrapped(hint: Any) -> Any:
    return get_args(hint)[0] if _wrapper(hint) in ("Required", "NotRequired") else hint


def summary(text: str) -> str:
    """Return what a docstring says before its sections."""
    return re.split(r"\n\s*\n?(?:Args|Arguments|Parameters|Returns|Raises|Yields):\n", text)[0].strip()


def described_parameters(text: str) -> dict[str, str]:
    """Return what the section ``Args:`` of a docstring says about each parameter."""
    section = re.search(r"^(?:Args|Arguments):\n((?:[ \t]+.*\n?|\n)*)", text, re.MULTILINE)
    found: dict[str, str] = {}
    last = ""
    for line in section[1].splitlines() if section else []:
        begins = re.match(r"^[ \t]{1,4}(\w+)(?: \([^)]*\))?:\s*(.*)$", line)
        if begins:
            last = begins[1]
            found[last] = begins[2].strip()
        elif last and line.strip():
            found[last] = f"{found[last]} {line.strip()}".strip()
    return found
