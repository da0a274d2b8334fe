"""What Grafana logs while it tests an alert rule, as far as it says whether the rule's query returned any series."""

from __future__ import annotations

import re

_RESULT = re.compile(r"Condition\[\d+\]: Query Result")
_NO_DATA = re.compile(r"NoData|\bno data\b", re.I)


def is_query_result(message: str) -> bool:
    """Whether an entry holds what the query of a condition returned."""
    return _RESULT.fullmatch(message) is not None


def says_no_data(message: str) -> bool:
    """Whether an entry says that a condition had nothing to look at."""
    return _NO_DATA.search(message) is not None
