"""Words of a metric's definition that advise or judge: in its name, its title, its limitations and its components.

A metric's own words are few and are all its author's, so the list is stricter than that of tools, and stands beside the
sentences that no evidence tool may say (`evidence.wording`). What a source calls its columns is the source's. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.wording import folding, names, prose

JUDGING = frozenset({
    "should", "must", "recommend", "recommended", "recommends", "recommendation", "prefer", "preferred", "prefers",
    "best", "worst", "better", "worse", "safe", "unsafe", "healthy", "unhealthy", "health", "acceptable",
    "unacceptable", "ok", "okay", "bad", "good", "pass", "passes", "fail", "fails", "priority", "severity", "urgency",
    "critical", "suspicious", "anomalous",
})  # fmt: skip
ACTING = names.ACTIONS | {"allow", "block", "page", "deny"}
PHRASES = ("risk score", "roll back", "health score")
LIGHTS = frozenset({"red", "amber", "yellow", "green", "critical", "warning", "alarm"})
DIRECTIONS = re.compile(r"\b(?:higher|lower|more|less|larger|smaller|fewer) (?:is|are) (?:worse|better|good|bad)\b")


def of_a_name(name: str) -> Iterator[str]:
    """The words of a name that no name may have: a judgment anywhere, an act where the name begins with it."""
    said = folding.words(name)
    yield from (word for word in said if word in JUDGING)
    yield from (word for word in said[:1] if word in ACTING)
    yield from (phrase for phrase in PHRASES if f" {phrase} " in f" {' '.join(said)} ")
    yield from (word for _, word in names.never(name))


def of_a_text(text: str) -> Iterator[str]:
    """The words of a sentence that no title and no limitation may have."""
    said = folding.folded(text)
    known = re.findall(r"[a-z]+", said)
    yield from (word for word in known if word in JUDGING or word in ("escalate", "rollback", "allow", "block", "page"))
    yield from (phrase for phrase in PHRASES if phrase in said)
    yield from (found for _, found in prose.flaws(text))
