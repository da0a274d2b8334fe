"""What an HTTP action would do, as far as anybody can tell before: the request, and what its read-back says now.

The read-back is kept as one row: under its address, the value at its pointer now and the value that it must have
afterwards. So it is shown, hashed and compared as the rows of a database are.
"""

from __future__ import annotations

import json
from typing import Any

from gate.writes import http_call
from gate.writes.effect import Row
from gate.writes.http_statement import Request, filled
from gate.writes.targets import WriteTarget


class NoEffect(Exception):
    """There is nothing that a person could approve; the sentence says why."""


def rows(target: WriteTarget, request: Request) -> list[Row]:
    """The read-back as a row; none for a target without one. Raises NoEffect when it cannot tell before from after."""
    if target.action is None or target.action.probe is None:
        return []
    try:
        row = read_back(target, request)
    except http_call.Unreadable as reason:
        raise NoEffect(f"{reason} Without it a lost answer could not be made up for.") from reason
    if is_done(row):
        raise NoEffect("The target already shows what this would bring about, so it could not be told whether it ran.")
    return [row]


def read_back(target: WriteTarget, request: Request) -> Row:
    """What the target says now, and what it must say once the action happened. Raises http_call.Unreadable."""
    assert target.action is not None
    assert target.action.probe is not None
    probe = target.action.probe
    url = filled(probe.url, request.fields)
    now = http_call.read(target, url, probe.pointer)
    return {
        "key": {"read-back": url}, "columns": [probe.pointer], "before": {probe.pointer: now},
        "after": {probe.pointer: expected(probe.equals, request)},
    }  # fmt: skip


def expected(equals: Any, request: Request) -> str:
    """The value that the read-back must have, as canonical JSON."""
    value = request.fields[equals["field"]] if isinstance(equals, dict) else equals
    return json.dumps(value, ensure_ascii=False)


def is_done(row: Row) -> bool:
    """Whether the read-back already has the value that it must have afterwards."""
    return bool(row["before"] == row["after"])
