"""JSON as lines for people, with the fields that a check read marked, and those it missed drawn where they belong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import simplejson

STEP = "  "
MOST_LEVELS = 60  # deeper values stand on one line, so that no nesting can exhaust the stack
# Characters that are invisible or turn the reading direction: shown as escapes, so that text cannot disguise itself.
DISGUISES = re.compile(
    "[\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)

Numbers = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Line:
    """One line: its indentation, the text that may be marked, the comma or nothing after it, and its checks."""

    indent: str
    text: str
    tail: str = ""
    marked: bool = False
    refs: tuple[int, ...] = ()
    absent: bool = False

    def __str__(self) -> str:
        return f"{self.indent}{self.text}{self.tail}"


def lines(value: Any, marks: Numbers | None = None, absent: Numbers | None = None) -> list[Line]:
    """The lines of `value` in pretty JSON. Keys of `marks` and `absent` are JSON pointers (RFC 6901).

    A pointer to something that is there is marked; one to something that is not is drawn as absent inside its nearest
    existing parent, whichever of the two mappings names it.
    """
    wanted = {**(marks or {})}
    for pointer, numbers in (absent or {}).items():
        wanted[pointer] = [*wanted.get(pointer, ()), *numbers]
    missing: dict[str, list[Line]] = {}
    present: dict[str, tuple[int, ...]] = {}
    for pointer, numbers in wanted.items():
        refs = tuple(sorted(set(numbers)))
        parent, rest = nearest(value, tokens(pointer))
        if rest:
            text = f"{_scalar('.'.join(rest))} is not in this result"
            missing.setdefault(parent, []).append(Line("", text, refs=refs, absent=True))
        else:
            present[pointer] = refs
    return list(_Drawing(present, missing).draw(value))


def tokens(pointer: str) -> list[str]:
    """The tokens of a JSON pointer: "/job/state" is ["job", "state"], "" is the whole. Raises ValueError."""
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a JSON pointer.")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def nearest(value: Any, path: list[str]) -> tuple[str, list[str]]:
    """The pointer of the deepest object or list on the way to `path`, and what is missing below it (empty: found)."""
    parent, parent_depth, here = "", 0, ""
    for depth, token in enumerate(path):
        if isinstance(value, dict | list):
            parent, parent_depth = here, depth
        found, value = _child(value, token)
        if not found:
            return parent, path[parent_depth:]
        here += _escaped(token)
    return here, []


def _child(value: Any, token: str) -> tuple[bool, Any]:
    if isinstance(value, dict):
        return token in value, value.get(token)
    if isinstance(value, list) and re.fullmatch("0|[1-9][0-9]{0,8}", token) and int(token) < len(value):
        return True, value[int(token)]
    return False, None


def _escaped(token: str) -> str:
    return "/" + token.replace("~", "~0").replace("/", "~1")


def undisguised(text: str) -> str:
    """Text with invisible and direction-turning characters as escapes."""
    return DISGUISES.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _scalar(value: Any) -> str:
    return undisguised(simplejson.dumps(value, use_decimal=True, ensure_ascii=False))


class _Drawing:
    """Walks a value and knows what to mark on the way."""

    def __init__(self, present: Mapping[str, tuple[int, ...]], missing: Mapping[str, list[Line]]) -> None:
        self.present = present
        self.missing = missing

    def draw(self, value: Any, at: str = "", name: str = "", tail: str = "", level: int = 0) -> Iterator[Line]:
        marked, refs, indent = at in self.present, self.present.get(at, ()), STEP * level
        missing = self.missing.get(at, []) if isinstance(value, dict | list) else []
        if not isinstance(value, dict | list) or level > MOST_LEVELS or not (value or missing):
            yield Line(indent, name + _scalar(value), tail, marked, refs)
            if not at:
                yield from self._absent(self.missing.get("", []) if not missing else [], "")
            return
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        yield Line(indent, name + opening, "", marked, refs)
        yield from self._inside(value, at, level + 1)
        yield from self._absent(missing, indent + STEP)
        yield Line(indent, closing, tail)

    def _inside(self, value: Any, at: str, level: int) -> Iterator[Line]:
        is_object = isinstance(value, dict)
        children = value.items() if is_object else enumerate(value)
        for position, (key, child) in enumerate(children, start=1):
            name = f"{_scalar(key)}: " if is_object else ""
            yield from self.draw(child, at + _escaped(str(key)), name, "," if position < len(value) else "", level)

    @staticmethod
    def _absent(missing: Sequence[Line], indent: str) -> Iterator[Line]:
        for line in missing:
            yield Line(indent, line.text, refs=line.refs, absent=True)
