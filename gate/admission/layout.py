"""A policy's JSON as people read and edit it: what belongs on one line stands there, and the program comes first."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 110
FIRST = (
    "title", "program", "questions", "rules", "otherwise", "id", "type", "by", "text", "options", "levels", "when",
    "then", "q", "op", "value", "confidence", "answers", "expect", "verdict", "rule",
)  # fmt: skip


def text(value: Any, indent: int = 0) -> str:
    """JSON text of the same value: a part that fits on a line is one."""
    ordered = _ordered(value)
    line = json.dumps(ordered, ensure_ascii=False)
    if indent + len(line) <= WIDTH or not isinstance(ordered, dict | list) or not ordered:
        return line
    pad = " " * (indent + 2)
    if isinstance(ordered, dict):
        members = [f"{json.dumps(name, ensure_ascii=False)}: {text(one, indent + 2)}" for name, one in ordered.items()]
        opening, closing = "{", "}"
    else:
        members = [text(one, indent + 2) for one in ordered]
        opening, closing = "[", "]"
    return f"{opening}\n{pad}" + f",\n{pad}".join(members) + f"\n{' ' * indent}{closing}"


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value, key=_place)}
    return [_ordered(one) for one in value] if isinstance(value, list) else value


def _place(name: str) -> tuple[int, str]:
    return (FIRST.index(name), "") if name in FIRST else (len(FIRST), name)
