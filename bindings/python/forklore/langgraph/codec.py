"""Values and elements as text, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ..errors import InvalidArgsError
from .messages import TAGS, event_of, is_message, message_of
from .text import key_of, text_of
from .tree import MARK, is_exactly, no_message, tree_of, typed, untyped

_REFERENCE = re.compile(r'\{"lg":"@([A-Za-z0-9_-]{22})"\}')

REDACTED = "[redacted]"
"""What a value has in the stead of a message that was redacted."""

GONE = object()
"""What is read in the stead of an element that was redacted."""


class Element(NamedTuple):
    """A part of a value that is stored once."""

    kind: str | None
    """The type of the event, if the element is a message."""
    text: str


class Encoded(NamedTuple):
    """A value as text, and the elements to which it refers."""

    text: str
    elements: dict[str, Element]


class Codec:
    """Writes values as text that the core stores, and reads them.

    With the serializer ``JsonPlusSerializer``, messages and plain values are readable in the store. With
    another one, which may encrypt, everything is what it writes.
    """

    def __init__(self, serde: SerializerProtocol) -> None:
        """Use a serializer for what JSON does not have."""
        self.serde = serde
        self._is_open = type(serde) is JsonPlusSerializer

    def encode(self, value: Any) -> Encoded:
        """Return a value as text."""
        elements: dict[str, Element] = {}
        if not self._is_open:
            return Encoded(text_of(typed(self.serde, value)), elements)

        def refer(one: Any) -> dict[str, Any] | None:
            if not is_message(one):
                return None
            key, element = self.element(one)
            elements[key] = element
            return {MARK: "@" + key}

        try:
            return Encoded(text_of(tree_of(value, self.serde, refer)), elements)
        except RecursionError as error:
            raise InvalidArgsError("a value is nested too deeply") from error

    def encode_open(self, value: Mapping[str, Any]) -> str:
        """Return the fields or the metadata of a checkpoint as text, which is always readable."""
        trees = {name: tree_of(one, self.serde, no_message) for name, one in value.items()}
        return text_of(trees)

    def element(self, value: Any) -> tuple[str, Element]:
        """Return the key and the text of an element of a list."""
        kind, tree = None, None
        if not self._is_open:
            tree = typed(self.serde, value)
        elif is_message(value):
            kind, tree = event_of(value, self.serde)
        else:
            tree = tree_of(value, self.serde, no_message)
        text = text_of(tree)
        return key_of(text), Element(kind, text)

    def decode(self, text: str, fetch: Callable[[list[str]], Iterable[Any]]) -> Any:
        """Return what a text says. ``fetch`` returns the trees of elements by their keys."""
        keys = list(dict.fromkeys(_REFERENCE.findall(text)))
        trees = fetch(keys) if keys else ()
        # Each reference becomes an object of its own.
        found = {key: text_of(tree) for key, tree in zip(keys, trees, strict=True)}

        def hook(tree: dict[str, Any]) -> Any:
            mark = tree.get(MARK)
            if type(mark) is not str:
                return tree
            if mark.startswith("@"):
                one = json.loads(found[mark[1:]], object_hook=hook)
                return REDACTED if one is GONE else one
            if mark == "gone":
                return GONE
            if mark == "tuple":
                return tuple(tree["items"])
            if mark == "typed":
                return untyped(self.serde, tree)
            return message_of(tree) if mark in TAGS else tree

        return json.loads(text, object_hook=hook)


def is_list(value: Any) -> bool:
    """Return whether a value is stored as a list of elements.

    A list of numbers is stored as a whole: an event for each would be larger than the list.
    """
    if not is_exactly(value, list):
        return False
    return not any(one is None or type(one) in (int, float, bool) for one in value[:1])
