"""What boto3 gives, as the JSON that the service's own tools write: moments as text, numbers with all their digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from evidence.errors import Refused
from evidence.kinds import moments

OF_BOTO = "ResponseMetadata"  # about the exchange; no part of the service's answer


def answer(found: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a call. Raises Refused for what JSON cannot say, such as an infinite number."""
    return {key: value(item) for key, item in found.items() if key != OF_BOTO}


def value(item: Any) -> Any:
    """One value of an answer. Raises Refused."""
    if isinstance(item, dict):
        return {str(key): value(inner) for key, inner in item.items()}
    if isinstance(item, list | tuple):
        return [value(inner) for inner in item]
    if isinstance(item, datetime):
        return moments.spelled(item)
    if isinstance(item, float) and math.isfinite(item):
        # The shortest digits that are this very number: what the service wrote, or as much of it as a double holds.
        return Decimal(repr(item))
    if item is None or isinstance(item, str | int | bool | Decimal):
        return item
    raise Refused("unreadable", "The answer holds a value that JSON cannot say, so it is kept out.")
