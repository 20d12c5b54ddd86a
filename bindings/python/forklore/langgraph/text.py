"""Text of JSON, and the keys of elements."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

_LENGTH = 16


def text_of(tree: Any) -> str:
    """Return a tree of JSON as text, always the same for the same tree."""
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if text.isascii() or _is_unicode(text):
        return text
    # A lone surrogate is no Unicode, so only its escape can be stored.
    return json.dumps(tree, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def key_of(text: str) -> str:
    """Return the key of the element with this text: the core computes the same."""
    digest = hashlib.sha256(text.encode()).digest()[:_LENGTH]
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
