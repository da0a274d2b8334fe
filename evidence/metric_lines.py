"""Parts of a metric as people write them: one thing per line, in words. Pure.

Each way of writing is read back as exactly what was written, so that a change of one thing is a change of one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

DECOMPOSER = re.compile(
    r"(?P<name>\w+)\s*:\s*(?P<type>\w+)(?:\s+of\s+(?P<kinds>[^;]+?)|\s+by\s+(?P<key>\w+))?"
    r"(?:\s*;\s*without reason\s+(?P<idle>.+?))?\s*",
    re.ASCII,
)
WITH_IDLE = "time_cover"  # the type that says which of its kinds nothing accounts for


def lines(text: str) -> list[str]:
    """The lines that say something."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def pairs(text: str) -> dict[str, str]:
    """A name and what it is per line. Raises ValueError with a sentence that shows the line."""
    found: dict[str, str] = {}
    for line in lines(text):
        name, colon, what = (part.strip() for part in line.partition(":"))
        if not (name and colon and what):
            raise ValueError(f"Write a name, a colon and what it is: {line[:80]} is neither.")
        _once(found, name)
        found[name] = what
    return found


def of_pairs(said: Mapping[str, str]) -> str:
    """Pairs as they are written."""
    return "\n".join(f"{name}: {what}" for name, what in said.items())


def values(text: str) -> dict[str, Any]:
    """A key and its value per line: job_kind = payout. Raises ValueError with a sentence.

    What JSON reads as a number, a truth value or a quoted text is that; anything else is a text.
    """
    found: dict[str, Any] = {}
    for line in lines(text):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not (name and equals):
            raise ValueError(f"Write a key, an equals sign and its value: {line[:80]} is neither.")
        _once(found, name)
        found[name] = _value(value)
    return found


def _once(found: Mapping[str, Any], name: str) -> None:
    if name in found:
        raise ValueError(f"{name[:80]} stands twice.")


def _value(text: str) -> Any:
    try:
        found = json.loads(text, parse_float=_no_float, parse_constant=_no_float)
    except ValueError:
        return text
    return text if isinstance(found, dict | list) or found is None else found


def _no_float(text: str) -> Any:
    """A number with a point stays the text that it is: a float would lose digits."""
    raise ValueError(text)


def of_values(said: Mapping[str, Any]) -> str:
    """Values as they are written."""
    return "\n".join(f"{name} = {_written(value)}" for name, value in said.items())


def _written(value: Any) -> str:
    if isinstance(value, str) and value.isprintable() and value == value.strip() and _value(value) == value:
        return value
    return json.dumps(value)


def decomposer(line: str) -> dict[str, Any]:
    """One way to take the value apart, as `by_kind: additive of a, b`. Raises ValueError with a sentence."""
    found = DECOMPOSER.fullmatch(line)
    if found is None:
        raise ValueError(
            f"Write it as by_kind: additive of one, another, or by_job: partition by entity; not {line[:80]}."
        )
    said: dict[str, Any] = {"name": found["name"], "type": found["type"]}
    if found["key"]:
        said["key"] = found["key"]
    if found["kinds"]:
        said["kinds"] = _names(found["kinds"])
    if found["idle"] or found["type"] == WITH_IDLE:
        said["without_reason"] = _names(found["idle"] or "")
    return said


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def of_decomposers(said: Iterable[Mapping[str, Any]]) -> str:
    """Decomposers as they are written."""
    return "\n".join(map(_of_decomposer, said))


def _of_decomposer(one: Mapping[str, Any]) -> str:
    kinds = f" of {', '.join(one['kinds'])}" if one.get("kinds") else ""
    key = f" by {one['key']}" if one.get("key") else ""
    idle = f"; without reason {', '.join(one['without_reason'])}" if one.get("without_reason") else ""
    return f"{one['name']}: {one['type']}{kinds}{key}{idle}"
