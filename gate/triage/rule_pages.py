"""What the pages of rules show: how each stands, and what one has to show for itself."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit import definition_pages, marked_json
from audit.definition_pages import Version
from audit.models import Definition
from audit.refusing import why_not
from gate.people.models import Person
from gate.triage import coverage, rule_guards, standing
from gate.triage.models import Draft
from gate.triage.presenting import Part, dotted, parts
from gate.triage.rule_models import Drift, Flip, FlipSignature, PromotedCase, ShadowResult, Trial
from gate.triage.rules import registry
from gate.triage.rules.language import Rule

MOST_FLIPS, MOST_SPOTS, MOST_SHADOWS = 50, 30, 20
GLYPHS = {"pass": ("state--ok", "✓", "Pass"), "fail": ("state--bad", "✕", "Fail"), "": ("", "–", "not known")}


@dataclass(frozen=True)
class Line:
    """One rule in the list."""

    row: definition_pages.Row
    rule: Rule | None
    trial: Trial | None
    passed: coverage.Passed | None
    confirmed: standing.Confirmed
    shadows: Sequence[tuple[Definition, standing.Shadow | None]]

    @property
    def about(self) -> str:
        """What the rule says of itself: the first line of its file."""
        return about(self.rule) if self.rule is not None else ""

    @property
    def score(self) -> str:
        return rule_guards.score(self.trial) if self.trial is not None else "none"

    @property
    def closing(self) -> str:
        """Who closes on its passes."""
        return "a person confirms" if self.row.in_force else "decides nothing"


@dataclass(frozen=True)
class List:
    """The page of all rules."""

    lines: Sequence[Line]
    coverage: coverage.Coverage
    drift: int


def rules() -> List:
    """Every rule, in a number of queries that does not grow with them."""
    rows = definition_pages.rows("rule")
    shown = [row.shown for row in rows]
    trials = _newest_trials([version.pk for version in shown])
    confirmed = standing.of_versions(str(version.body["hash"]) for version in shown)
    shadows = standing.of_shadows(one.pk for row in rows for one in _in_shadow(row))
    covered = coverage.now()
    lines = [
        Line(
            row, registry.find(row.shown.body), trials.get(row.shown.pk), covered.by_rule.get(row.name),
            confirmed.get(str(row.shown.body["hash"]), standing.Confirmed(0, 0)),
            [(one, shadows.get(one.pk)) for one in _in_shadow(row)],
        )
        for row in rows
    ]  # fmt: skip
    return List(lines, covered, Drift.objects.filter(settled_at=None).count())


def _in_shadow(row: definition_pages.Row) -> list[Definition]:
    return [one for one in row.versions if one.status == Definition.Status.SHADOW]


def _newest_trials(definitions: Sequence[int]) -> Mapping[int, Trial]:
    found = Trial.objects.filter(definition__in=definitions).order_by("definition", "-pk").distinct("definition")
    return {trial.definition_id: trial for trial in found}


def about(rule: Rule) -> str:
    """The first line of a rule's file, which says what it is about."""
    first = registry.file_of(rule).read_text().split("\n", 1)[0]
    return first.strip('"').rstrip(".")


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


class VersionPage:
    """A version with its trial, as one person may act on it."""

    def __init__(self, version: Version, trial: Trial | None, person: Person, shadow: standing.Shadow | None) -> None:
        self.version, self.definition, self.trial, self.person = version, version.definition, trial, person
        self.shadow = shadow

    @property
    def rule(self) -> Rule | None:
        return registry.find(self.definition.body)

    @property
    def is_open(self) -> bool:
        """Whether it may still be put in force."""
        return self.definition.status in rule_guards.TRIABLE

    @property
    def is_trying(self) -> bool:
        return self.trial is not None and self.trial.status in rule_guards.OPEN

    @cached_property
    def why_not_try(self) -> str:
        return why_not(lambda: rule_guards.check_can_try(self.person, self.definition))

    @property
    def score(self) -> str:
        return rule_guards.score(self.trial) if self.trial is not None else "none"

    @property
    def changed(self) -> list[str]:
        """The change against the version that it is compared with: of the source, where both files are loaded."""
        before, base = self.rule, self.version.compared_with
        older = registry.find(base.body) if base is not None else None
        if before is None or older is None:
            return self.version.changed
        return source_diff(older, before)

    @cached_property
    def flips(self) -> Sequence[FlipRow]:
        if self.trial is None:
            return []
        found = self.trial.flips.exclude(kind=Flip.Kind.RECEIPT, is_known_false=False).order_by("-kind", "pk")
        signed = FlipSignature.objects.filter(definition=self.definition).select_related("by")
        by_key: defaultdict[tuple[str, str], list[FlipSignature]] = defaultdict(list)
        for one in signed:
            by_key[(one.subject, one.receipt_sha256)].append(one)
        return [FlipRow(flip, by_key[(flip.subject, flip.receipt_sha256)], self.person) for flip in found[:MOST_FLIPS]]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many flips of each kind the trial found so far."""
        if self.trial is None:
            return {}
        kinds = list(self.trial.flips.values_list("kind", "is_known_false"))
        return {
            **{kind.value: sum(found == kind for found, _ in kinds) for kind in Flip.Kind},
            "known_false": sum(is_false for _, is_false in kinds),
        }

    @property
    def to_sign(self) -> Sequence[FlipRow]:
        return [row for row in self.flips if row.is_to_sign]


class FlipRow:
    """A flip with its evidence and its signatures."""

    def __init__(self, flip: Flip, signatures: Sequence[FlipSignature], person: Person) -> None:
        self.flip, self.signatures, self.person = flip, signatures, person

    @property
    def is_to_sign(self) -> bool:
        is_mine = any(one.by_id == self.person.pk for one in self.signatures)
        return self.flip.kind == Flip.Kind.FAIL_TO_PASS and not self.flip.is_known_false and not is_mine

    @property
    def marks(self) -> Sequence[tuple[str, str, str]]:
        """What it was, and what it is with this version."""
        after = "pass" if self._is_pass else "fail"
        before = {"pass_to_fail": "pass", "fail_to_pass": "fail"}.get(self.flip.kind, after)
        return [GLYPHS[before], GLYPHS[after]]

    @property
    def _is_pass(self) -> bool:
        return self.flip.kind == Flip.Kind.FAIL_TO_PASS or self.flip.is_known_false

    @property
    def checks(self) -> Sequence[Mapping[str, Any]]:
        """The new verdict's checks, with what they read."""
        return [
            {
                "number": check["number"], "title_parts": parts(check["title"]), "seen": check["seen"],
                "outcome": check["outcome"], "why_parts": parts(check["why"]),
                "reads": [(ref, [dotted(one) for one in read]) for ref, read in check["paths"].items()],
            }
            for check in self.flip.checks
        ]  # fmt: skip

    @property
    def reasons(self) -> Sequence[Sequence[Part]]:
        return [parts(reason["sentence"]) for reason in self.flip.reasons[:3]]


def source_diff(older: Rule, newer: Rule) -> list[str]:
    """The lines of a unified diff between two rule files."""
    before, after = (registry.file_of(rule).read_text().split("\n") for rule in (older, newer))
    return [marked_json.undisguised(line) for line in difflib.unified_diff(before, after, lineterm="", n=3)][2:]


class RulePage:
    """One rule: its source, its versions, and what each has to show for itself."""

    def __init__(self, row: definition_pages.Row, versions: Sequence[Version], person: Person) -> None:
        self.row, self.person = row, person
        pks = [version.definition.pk for version in versions]
        trials, shadows = _newest_trials(pks), standing.of_shadows(pks)
        self.versions = [
            VersionPage(one, trials.get(one.definition.pk), person, shadows.get(one.definition.pk)) for one in versions
        ]

    @property
    def shown(self) -> VersionPage:
        """The version in force, or the newest when none is."""
        return next(one for one in self.versions if one.definition.pk == self.row.shown.pk)

    @property
    def open(self) -> Sequence[VersionPage]:
        """The versions that may still be put in force."""
        reached = self.row.in_force.version if self.row.in_force else 0
        return [one for one in self.versions if one.is_open and one.definition.version > reached]

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def title(self) -> str:
        """What it is about, where its file is loaded here."""
        rule = self.shown.rule
        return about(rule) if rule is not None else self.name

    @property
    def source(self) -> str:
        rule = self.shown.rule
        if rule is None:
            return ""
        return "\n".join(map(marked_json.undisguised, registry.file_of(rule).read_text().splitlines()))

    @cached_property
    def confirmed(self) -> standing.Confirmed:
        found = standing.of_versions([str(self.shown.definition.body["hash"])])
        return next(iter(found.values()), standing.Confirmed(0, 0))

    @property
    def enough(self) -> int:
        return standing.ENOUGH

    @cached_property
    def trial(self) -> Trial | None:
        """The newest trial of the version shown."""
        return self.shown.trial

    @property
    def blind_spots(self) -> Sequence[Mapping[str, Any]]:
        """The changes that leave a pass a pass, the alike ones once."""
        if self.trial is None:
            return []
        seen: dict[tuple[str, str, str, str], Mapping[str, Any]] = {}
        for spot in self.trial.blind_spots:
            seen.setdefault((spot["tool"], spot["part"], spot["pointer"], spot["change"]), spot)
        return [{**spot, "field": dotted(spot["pointer"])} for spot in list(seen.values())[:MOST_SPOTS]]

    @cached_property
    def cases(self) -> Sequence[Tried]:
        if self.trial is None:
            return []
        promoted = {one.name: one for one in PromotedCase.objects.filter(hypothesis=self.name).defer("document")}
        return [Tried(said, promoted.get(said["name"])) for said in self.trial.cases]

    @property
    def checks(self) -> Sequence[CheckUse]:
        """Each check with the cases that it was put to, and those that it decided alone."""
        put: defaultdict[int, int] = defaultdict(int)
        alone: defaultdict[int, int] = defaultdict(int)
        titles: dict[int, str] = {}
        for case in self.trial.cases if self.trial is not None else ():
            for check in case["checks"]:
                titles.setdefault(check["number"], check["title"])
                put[check["number"]] += 1
            if len(case["failing"]) == 1:
                alone[case["failing"][0]] += 1
        return [CheckUse(parts(titles[number]), put[number], alone[number]) for number in sorted(titles)]

    @cached_property
    def passed(self) -> coverage.Passed:
        return coverage.now().by_rule.get(self.name, coverage.Passed(0, 0))

    @cached_property
    def shadow_results(self) -> Sequence[tuple[ShadowResult, Draft | None]]:
        """The newest results of versions in shadow, each with the draft of the version in force."""
        found = ShadowResult.objects.filter(definition__kind="rule", definition__name=self.name).select_related(
            "definition", "investigation__incident", "investigation__draft"
        )
        return [(one, getattr(one.investigation, "draft", None)) for one in found.order_by("-pk")[:MOST_SHADOWS]]


def one(name: str, person: Person) -> RulePage | None:
    """The page of one rule, or None when there is none."""
    found = definition_pages.one("rule", name, person)
    return RulePage(*found, person) if found is not None else None
