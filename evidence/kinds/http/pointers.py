"""JSON pointers (RFC 6901) into an answer: what stands at one, or that nothing does."""

from __future__ import annotations

import re
from typing import Any

POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*){0,20}")
ABSENT: Any = object()


def is_pointer(text: Any) -> bool:
    """Whether a text is a pointer of a length that a contract may hold. The empty one is the whole answer."""
    return isinstance(text, str) and len(text) <= 300 and POINTER.fullmatch(text) is not None


def at(value: Any, pointer: str) -> Any:
    """What stands there, or ABSENT."""
    for part in pointer.split("/")[1:]:
        value = _child(value, part.replace("~1", "/").replace("~0", "~"))
    return value


def _child(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name, ABSENT)
    if isinstance(value, list) and name.isascii() and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    return ABSENT
