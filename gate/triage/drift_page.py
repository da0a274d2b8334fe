"""What the page of drift shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from gate.triage.presenting import dotted
from gate.triage.rule_models import Drift, SeenField

MOST_NOTICES, MOST_FIELDS = 100, 300


class Field:
    """A field of a tool's answers, with its rates."""

    def __init__(self, seen: SeenField) -> None:
        self.seen = seen

    @property
    def name(self) -> str:
        return dotted(self.seen.path)

    @property
    def null_share(self) -> str:
        return _share(self.seen.nulls, self.seen.there)

    @property
    def absent_share(self) -> str:
        return _share(self.seen.answers - self.seen.there, self.seen.answers)


def _share(part: int, whole: int) -> str:
    return f"{part * 1000 // whole / 10:.1f} %" if whole else "–"


class DriftPage:
    """The notices that wait, those that were settled, and the fields that checks read."""

    @cached_property
    def open(self) -> Sequence[tuple[Drift, str]]:
        found = Drift.objects.filter(settled_at=None).order_by("-pk")[:MOST_NOTICES]
        return [(one, dotted(one.path)) for one in found]

    @cached_property
    def settled(self) -> Sequence[tuple[Drift, str]]:
        found = Drift.objects.exclude(settled_at=None).select_related("settled_by").order_by("-settled_at")[:20]
        return [(one, dotted(one.path)) for one in found]

    @cached_property
    def fields(self) -> Sequence[Field]:
        found = SeenField.objects.filter(is_read=True).order_by("tool", "path")[:MOST_FIELDS]
        return [Field(one) for one in found]
