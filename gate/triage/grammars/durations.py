"""Durations as tools take a step: seconds as a number or as text, or with a unit such as 1m."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

from gate.triage.grammars.tokens import Refused, milliseconds

_SECONDS = re.compile(r"\d{1,7}(?:\.0{1,9})?", re.ASCII)


def parse(value: object) -> timedelta | None:
    """The duration, longer than nothing; None when it is of doubtful unit or none at all."""
    if isinstance(value, Decimal | int) and not isinstance(value, bool):
        value = f"{value:f}" if isinstance(value, Decimal) else str(value)
    if not isinstance(value, str):
        return None
    try:
        millis = int(Decimal(value)) * 1000 if _SECONDS.fullmatch(value) is not None else milliseconds(value)
    except Refused:
        return None
    return timedelta(milliseconds=millis) if millis > 0 else None
