"""The expression of an alert that fires on purpose: a PromQL vector of one number, and nothing else."""

from __future__ import annotations

import re
from decimal import Decimal

# As Prometheus prints it. What is calculated, compared or selected may change, so it is no constant.
_VECTOR = re.compile(r"vector\((-?\d{1,30}(?:\.\d{1,30})?)\)", re.ASCII)


def vector(query: str) -> Decimal | None:
    """The number in `vector(<number>)`; None when the query is anything else."""
    found = _VECTOR.fullmatch(query)
    return Decimal(found[1]) if found is not None else None
