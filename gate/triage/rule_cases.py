"""What a trial says about the cases: how each came out, which check decided it, and what no check noticed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gate.triage.presenting import Part, dotted, parts
from gate.triage.provenance import BELONGS
from gate.triage.rule_marks import GLYPHS
from gate.triage.rule_models import PromotedCase, Trial
from gate.triage.sheet import PROVENANCE

MOST_SPOTS = 30


@dataclass(frozen=True)
class Tried:
    """A case in the newest trial, as its row shows it."""

    said: Mapping[str, Any]
    promoted: PromotedCase | None

    @property
    def expected(self) -> tuple[str, str, str]:
        return GLYPHS[self.said["expected"] or ""]

    @property
    def verdict(self) -> tuple[str, str, str]:
        return GLYPHS[self.said["verdict"]]

    @property
    def is_as_expected(self) -> bool:
        return self.said["expected"] in (None, self.said["verdict"])

    @property
    def decided_by(self) -> Sequence[Part]:
        """What failed it, in words."""
        if self.said["verdict"] == "pass":
            return parts(f"All {len(self.said['checks'])} checks hold.")
        return parts(self.said["reasons"][0]["sentence"]) if self.said["reasons"] else []


@dataclass(frozen=True)
class CheckUse:
    """How often a check was put to a case, and how often it decided alone. One that never does is untested."""

    title_parts: Sequence[Part]
    put: int
    alone: int


@dataclass
class Spot:
    """A change that leaves a pass a pass, and how many changes are like it."""

    said: Mapping[str, Any]
    alike: int = 0

    @property
    def field(self) -> str:
        return dotted(self.said["pointer"])


def of(trial: Trial, hypothesis: str) -> Sequence[Tried]:
    """The cases of a trial; those that came out otherwise than they ended first."""
    promoted = {one.name: one for one in PromotedCase.objects.filter(hypothesis=hypothesis).defer("document")}
    return sorted((Tried(said, promoted.get(said["name"])) for said in trial.cases), key=lambda one: one.is_as_expected)


def uses(trial: Trial) -> Sequence[CheckUse]:
    """Each check with the cases that it was put to, and those that it decided alone."""
    put: defaultdict[int, int] = defaultdict(int)
    alone: defaultdict[int, int] = defaultdict(int)
    titles: dict[int, str] = {}
    for case in trial.cases:
        for check in case["checks"]:
            titles.setdefault(check["number"], _title(check))
            put[check["number"]] += 1
        if len(case["failing"]) == 1:
            alone[case["failing"][0]] += 1
    return [CheckUse(parts(titles[number]), put[number], alone[number]) for number in sorted(titles)]


def _title(check: Mapping[str, Any]) -> str:
    """A check's title; where it names a case's incident, what it says of any: the number is of no incident here."""
    return BELONGS.format(ref="its incident") if check["fact"] == PROVENANCE else str(check["title"])


def blind_spots(trial: Trial) -> Sequence[Spot]:
    """The changes that leave a pass a pass, the alike ones once."""
    found: dict[tuple[str, str, str, str], Spot] = {}
    for said in trial.blind_spots:
        like = (said["tool"], said["part"], said["pointer"], said["change"])
        found.setdefault(like, Spot(said)).alike += 1
    return list(found.values())
