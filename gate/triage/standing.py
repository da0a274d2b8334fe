"""How a rule has fared with people: passes that they confirmed, passes that they overruled, and what that shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from django.db.models import Count, Q

from gate.triage.models import Draft
from gate.triage.rule_models import ShadowResult

Z = 1.96  # two-sided 95 %
ENOUGH = 60  # confirmed passes without a fault show less than 5 %
AGREED, OVERRULED = Draft.Status.AGREED, Draft.Status.OVERRULED


@dataclass(frozen=True)
class Confirmed:
    """Passes that a person looked at, and how many of them should have been none."""

    right: int
    wrong: int

    @property
    def number(self) -> int:
        return self.right + self.wrong

    @property
    def bound(self) -> str:
        """The false passes that what was seen is compatible with, with 95 % certainty, in words."""
        if self.number == 0:
            return "nothing is shown yet"
        most = f"{upper(self.wrong, self.number) * 100:.1f} %"
        return f"between {lower(self.wrong, self.number) * 100:.1f} and {most}" if self.wrong else f"up to {most}"


def upper(wrong: int, number: int) -> float:
    """The upper end of a 95 % interval of a rate: 3/n while nothing was wrong, and Wilson's interval from then on."""
    if wrong == 0:
        return min(1.0, 3 / number)
    center, half = _wilson(wrong, number)
    return center + half


def lower(wrong: int, number: int) -> float:
    """The lower end of Wilson's 95 % interval of a rate; 0 while nothing was wrong."""
    center, half = _wilson(wrong, number)
    return max(0.0, center - half)


def _wilson(wrong: int, number: int) -> tuple[float, float]:
    """The middle of the interval and half its width."""
    rate, square = wrong / number, Z * Z / number
    half = Z * sqrt(rate * (1 - rate) / number + square / (4 * number)) / (1 + square)
    return (rate + square / 2) / (1 + square), half


def of_versions(hashes: Iterable[str]) -> dict[str, Confirmed]:
    """What people made of the passes of rule versions, by the rule's hash, in one query."""
    passes = Draft.objects.filter(outcome=Draft.Outcome.PASS, rule_hash__in=list(hashes)).values("rule_hash")
    counted = passes.annotate(
        right=Count("pk", filter=Q(status=AGREED, late_event=None)),
        wrong=Count("pk", filter=Q(status=OVERRULED) | Q(late_event__isnull=False)),
    )
    return {row["rule_hash"]: Confirmed(row["right"], row["wrong"]) for row in counted}


@dataclass(frozen=True)
class Shadow:
    """What a version in shadow said, beside what people decided about the same incidents."""

    results: int
    passes: int
    confirmed: Confirmed
    differ: int  # from the draft


def of_shadows(definitions: Iterable[int]) -> dict[int, Shadow]:
    """What versions in shadow made of live investigations, in one query."""
    passes = Q(outcome="pass")
    # A person says that it was fine by agreeing with a pass, or by overruling a fail.
    late = Q(investigation__draft__late_event__isnull=False)
    fine = (_decided("pass", AGREED) & ~late) | _decided("fail", OVERRULED)
    not_fine = _decided("pass", OVERRULED) | _decided("fail", AGREED) | late
    other = (passes & Q(investigation__draft__outcome="fail")) | (~passes & Q(investigation__draft__outcome="pass"))
    found = ShadowResult.objects.filter(definition__in=list(definitions)).values("definition").annotate(
        results=Count("pk"), passes=Count("pk", filter=passes), right=Count("pk", filter=passes & fine),
        wrong=Count("pk", filter=passes & not_fine), differ=Count("pk", filter=other),
    )  # fmt: skip
    return {
        row["definition"]: Shadow(row["results"], row["passes"], Confirmed(row["right"], row["wrong"]), row["differ"])
        for row in found
    }


def _decided(outcome: str, status: str) -> Q:
    return Q(investigation__draft__outcome=outcome, investigation__draft__status=status)
