"""Which indexes a source exposes: names and patterns that its definition lists, and nothing that reaches further."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

# Elasticsearch's names of indexes are in lower case. Left out besides: what begins with a dot (indexes of the system),
# with _ (_all) or with a sign (-name takes away); what lists several (a,b); what lies in another cluster (b:name); and
# names that are calculated (<logs-{now/d}>).
NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(?:\*[a-z0-9._-]*)*", re.ASCII)
LONGEST = 200
MOST = 50
LITERAL_BEFORE_STAR = 3  # `*` and `a*` would be most of what there is


def check(indexes: Any) -> None:
    """Raise ValueError with a sentence unless this is a list of names and patterns of indexes."""
    if not isinstance(indexes, list) or not 0 < len(indexes) <= MOST:
        raise ValueError(f"indexes lists the indexes that tools may read, at most {MOST} of them.")
    for index in indexes:
        if not isinstance(index, str) or len(index) > LONGEST or NAME.fullmatch(index) is None:
            raise ValueError(
                f"indexes: {str(index)[:60]} is no name of one, or a pattern that reaches further than one."
            )
        if len(index.partition("*")[0]) < LITERAL_BEFORE_STAR:
            raise ValueError(
                f"indexes: {index[:60]} matches too much; begin it with {LITERAL_BEFORE_STAR} characters or more."
            )


def check_one(index: Any, allowed: Collection[str]) -> None:
    """Raise ValueError unless the index is one of those, letter for letter: a narrower pattern is another question."""
    if not isinstance(index, str) or index not in allowed:
        raise ValueError(f"The index is one of {', '.join(sorted(allowed))}.")
