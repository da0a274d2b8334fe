"""On which line of a JSON text something stands that a JSON pointer (RFC 6901) names. Pure."""

from __future__ import annotations

import json
import re

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def line_of(text: str, pointer: str) -> int | None:
    """The line, from 1, of the value's name, or of the item in a list; None where nothing of that name stands."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    place = _after_space(text, 0)
    try:
        for step in steps:
            found = _step(text, place, step)
            if found is None:
                return None
            shown, place = found
    except (ValueError, IndexError, RecursionError):
        return None
    return text.count("\n", 0, shown if steps else place) + 1


def _step(text: str, place: int, step: str) -> tuple[int, int] | None:
    """Where the child is shown and where its value starts. Raises ValueError where the text is no JSON."""
    if text[place] == "{":
        return _in_object(text, place, step)
    return _in_list(text, place, step) if text[place] == "[" else None


def _in_object(text: str, place: int, step: str) -> tuple[int, int] | None:
    place = _after_space(text, place + 1)
    while text[place] != "}":
        name, end = _DECODER.raw_decode(text, place)
        value = _after_space(text, _after(text, end, ":"))
        if name == step:
            return place, value
        place = _next(text, value)
    return None


def _in_list(text: str, place: int, step: str) -> tuple[int, int] | None:
    place, number = _after_space(text, place + 1), 0
    while text[place] != "]":
        if str(number) == step:
            return place, place
        place, number = _next(text, place), number + 1
    return None


def _next(text: str, value: int) -> int:
    """Where the next child starts, or the bracket that ends them."""
    end = _after_space(text, _DECODER.raw_decode(text, value)[1])
    return _after_space(text, end + 1) if text[end] == "," else end


def _after(text: str, place: int, sign: str) -> int:
    place = _after_space(text, place)
    if text[place] != sign:
        raise ValueError(f"{sign} is missing")
    return place + 1


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place
