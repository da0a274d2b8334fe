"""Which incidents have a rule, and what those without one cost: the list of rules worth writing next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils import timezone

from gate.triage.models import Draft

WINDOW = timedelta(days=90)
MOST_UNRULED = 20


@dataclass(frozen=True)
class Passed:
    """What a rule decided in the window."""

    passes: int
    decided: int
    overruled_passes: int = 0
    overruled_fails: int = 0


@dataclass(frozen=True)
class Unruled:
    """A hypothesis without a rule: how often it was handed in, and what people made of it."""

    hypothesis: str
    number: int
    harmless: int
    took: timedelta  # from the draft to the decision, of the harmless ones

    @property
    def seconds(self) -> int:
        return int(self.took.total_seconds())


@dataclass(frozen=True)
class Coverage:
    """The drafts of the window, with and without a rule."""

    by_rule: dict[str, Passed]
    unruled: Sequence[Unruled]

    @property
    def with_rule(self) -> int:
        return sum(passed.decided for passed in self.by_rule.values())

    @property
    def number(self) -> int:
        return self.with_rule + sum(one.number for one in self.unruled)

    @property
    def share(self) -> str:
        """How many of the drafts had a rule, in percent, cut."""
        return f"{self.with_rule * 100 // self.number} %" if self.number else "–"

    @property
    def harmless(self) -> int:
        return sum(one.harmless for one in self.unruled)

    @property
    def took(self) -> int:
        """Seconds that people let pass over the harmless ones."""
        return int(sum((one.took for one in self.unruled), timedelta()).total_seconds())


def now() -> Coverage:
    """The drafts of the last 90 days, in two queries."""
    recent = Draft.objects.filter(rendered_at__gte=timezone.now() - WINDOW)
    ruled = recent.exclude(rule_version=None).values("rule")
    passed, overruled = Q(outcome=Draft.Outcome.PASS), Q(status=Draft.Status.OVERRULED)
    by_rule = ruled.annotate(
        decided=Count("pk"), passes=Count("pk", filter=passed), wrong=Count("pk", filter=passed & overruled),
        harmless=Count("pk", filter=~passed & overruled),
    )  # fmt: skip
    found = {row["rule"]: Passed(row["passes"], row["decided"], row["wrong"], row["harmless"]) for row in by_rule}
    return Coverage(found, _unruled(recent.filter(rule_version=None)))


def _unruled(drafts: QuerySet[Draft]) -> Sequence[Unruled]:
    harmless = Q(status=Draft.Status.OVERRULED)  # the person closed what nothing could pass
    rows = (
        drafts.values("rule")
        .annotate(
            number=Count("pk"),
            harmless=Count("pk", filter=harmless),
            took=Sum(F("review__at") - F("rendered_at"), filter=harmless),
        )
        .order_by("-harmless", "-number", "rule")[:MOST_UNRULED]
    )
    return [Unruled(row["rule"], row["number"], row["harmless"], row["took"] or timedelta()) for row in rows]
