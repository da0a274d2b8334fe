"""Values that could have stood where a check read one, made from the value itself. Pure.

Nothing here knows a tool or a field: what becomes of a value follows from what kind of value it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
NUMBER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)
SECONDS, MILLISECONDS = range(10**9, 4 * 10**9), range(10**12, 4 * 10**12)  # years that a stamp can mean
DAY = 86_400
SHIFTS = (
    ("a day earlier", timedelta(days=-1)), ("an hour earlier", timedelta(hours=-1)),
    ("an hour later", timedelta(hours=1)), ("a day later", timedelta(days=1)),
)  # fmt: skip

Step = str | int
Altered = tuple[str, Any]  # the kind of change, and the value


def alterations(value: Any) -> Iterator[Altered]:
    """Every way in which this value could have been another one."""
    if value is not None:
        yield "null", None
    yield "of another type", _retyped(value)
    if value is True or value is False:
        yield "the opposite", not value
    elif isinstance(value, int | float | Decimal):
        yield from _numbers(value)
    elif isinstance(value, str):
        yield from _texts(value)
    elif isinstance(value, list):
        yield from _lists(value)
    elif isinstance(value, dict) and value:
        yield "emptied", {}


def _retyped(value: Any) -> Any:
    if value is None:
        return "null"
    if isinstance(value, str):
        return Decimal(value) if NUMBER.fullmatch(value) else [value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return [value] if isinstance(value, list | dict) else str(value)


def _numbers(value: int | float | Decimal) -> Iterator[Altered]:
    if isinstance(value, int) and (value in SECONDS or value in MILLISECONDS):
        day = DAY if value in SECONDS else DAY * 1000
        yield from (("a day earlier", value - day), ("a day later", value + day))
        return
    yield from (("a neighbor", value + 1), ("a neighbor", value - 1))


def _texts(value: str) -> Iterator[Altered]:
    if MOMENT.fullmatch(value):
        yield from _moved(value)
    elif NUMBER.fullmatch(value):
        yield from (("a neighbor", str(Decimal(value) + step)) for step in (1, -1))
        return
    # A word that nobody listed, and one that differs in a single character.
    yield "off the list", f"{value}_unlisted"
    if value:
        yield "one character other", value[:-1] + ("x" if value[-1] != "x" else "y")


def _moved(value: str) -> Iterator[Altered]:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return
    for words, shift in SHIFTS:
        # In the spelling of the original: a reader that wants Z is to be met on its own ground.
        yield words, (moment + shift).isoformat().replace("+00:00", "Z" if value.endswith("Z") else "+00:00")


def _lists(value: list[Any]) -> Iterator[Altered]:
    if value:
        yield "emptied", []
    if len(value) > 1:
        yield "thinned", value[:1]


def steps_of(pointer: str, root: Any) -> tuple[Step, ...]:
    """The steps that a JSON pointer takes through a value. Raises LookupError where it leads nowhere."""
    here, steps = root, []
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        step: Step = int(key) if isinstance(here, list) else key
        here = here[step]
        steps.append(step)
    return tuple(steps)


def value_at(root: Any, steps: tuple[Step, ...]) -> Any:
    """The value at the end of the steps."""
    for step in steps:
        root = root[step]
    return root


def put(root: Any, steps: tuple[Step, ...], value: Any) -> Any:
    """The document with another value there. The original stays as it is, and is shared as far as it is the same."""
    return _rebuilt(root, steps, lambda holder, last: holder.__setitem__(last, value)) if steps else value


def without(root: Any, steps: tuple[Step, ...]) -> Any:
    """The document with nothing there."""
    return _rebuilt(root, steps, lambda holder, last: holder.__delitem__(last))


def _rebuilt(root: Any, steps: tuple[Step, ...], change: Callable[[Any, Any], None]) -> Any:
    copied = root.copy()
    if len(steps) == 1:
        change(copied, steps[0])
    else:
        copied[steps[0]] = _rebuilt(root[steps[0]], steps[1:], change)
    return copied
