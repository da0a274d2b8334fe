"""Which metrics an agent is told of before it asks, by a rule that has a version: every choice comes with its reason.

A list of diagnostics that somebody picked would decide for the agent what to look at. So the rule looks at nothing but
whether a metric can be asked about what the incident says of its subject, takes them by name, and records what it left
out. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evidence.metrics.definition import MetricVersion

RULE = "by_scope/v1"
MOST = 8
FITS, NOT_OF_SUBJECT, OVER_LIMIT = "fits", "not_of_subject", "over_limit"


@dataclass(frozen=True)
class Choice:
    """A metric that was available, whether it was selected, and why: a code, and the keys that the subject lacks."""

    metric_id: str
    version: int
    digest: str
    is_selected: bool
    why: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selection:
    """Every metric that was available, by name."""

    rule: str
    choices: tuple[Choice, ...]

    @property
    def selected(self) -> tuple[Choice, ...]:
        """Those that are told."""
        return tuple(choice for choice in self.choices if choice.is_selected)

    def said(self) -> dict[str, Any]:
        """As the briefing holds it: the rule, and of everything that was available whether it was selected, and why."""
        return {
            "rule": self.rule,
            "available": [
                {
                    "metric_id": one.metric_id, "version": one.version, "digest": one.digest,
                    "is_selected": one.is_selected, "why": one.why, "missing": list(one.missing),
                }
                for one in self.choices
            ],
        }  # fmt: skip


def select(available: Iterable[MetricVersion], subject: Mapping[str, object], most: int = MOST) -> Selection:
    """The choices for a subject. The order of the names is no order of importance; what is over the limit is said."""
    choices: list[Choice] = []
    told = 0
    for version in sorted(available, key=lambda version: (version.metric_id, version.version)):
        choice = _choice(version, subject, is_room=told < most)
        told += choice.is_selected
        choices.append(choice)
    return Selection(RULE, tuple(choices))


def _choice(version: MetricVersion, subject: Mapping[str, object], *, is_room: bool) -> Choice:
    missing = tuple(sorted(key for key in version.scope if subject.get(key) is None))
    why = NOT_OF_SUBJECT if missing else FITS if is_room else OVER_LIMIT
    return Choice(version.metric_id, version.version, version.digest, why == FITS, why, missing)
