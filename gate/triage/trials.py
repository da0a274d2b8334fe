"""A trial of a rule version: every case and every recorded investigation, decided by it and by the version in force.

It runs in the trial worker, a second at a time, so that examinations of drafts come in between.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.db import transaction
from django.utils import timezone

from gate.triage import comparison, history, known_cases, mutation
from gate.triage.models import Draft, Investigation, LateEvent, Review
from gate.triage.outcomes import ActiveRule, Fail, Pass
from gate.triage.recorded_cases import CaseError, RecordedCase
from gate.triage.replay import decide
from gate.triage.rule_models import OPEN, Flip, Job, Trial
from gate.triage.rules import registry
from gate.triage.situation import Situation

SLICE = 1.0  # seconds
NOT_LOADED = "This worker has not loaded that very version; deploy it, then try it again."
CHANGED = "The cases changed while it ran; try the version again."


class CannotTry(Exception):
    """The trial cannot go on; the sentence says why."""


def advance(trial_id: int) -> bool:
    """Go on with a trial for a second. True when there is nothing more to do. Safe to run twice."""
    until, cases = time.monotonic() + SLICE, Cases()
    while _step(trial_id, cases):
        if time.monotonic() > until:
            return False
    return True


class Cases:
    """The cases as they are known now, read once."""

    @cached_property
    def sources(self) -> list[known_cases.Source]:
        return known_cases.sources()

    @cached_property
    def digest(self) -> str:
        return known_cases.digest(self.sources)

    @cached_property
    def all(self) -> list[RecordedCase]:
        """Raises CaseError."""
        return [source.case() for source in self.sources]


@transaction.atomic
def _step(trial_id: int, cases: Cases) -> bool:
    """Do the next case or investigation, or finish. False when the trial is over."""
    trial = Trial.objects.select_for_update(of=("self",)).select_related("definition", "against").get(pk=trial_id)
    if trial.status not in OPEN:
        return False
    try:
        is_more = _Trying(trial, cases).step()
    except (CannotTry, CaseError) as problem:
        _end(trial, Job.FAILED, str(problem))
        return False
    if not is_more:
        _end(trial, Job.DONE)
    return is_more


def _end(trial: Trial, status: str, why: str = "") -> None:
    trial.status, trial.why, trial.finished_at = status, why, timezone.now()
    trial.save(update_fields=["status", "why", "finished_at"])


class _Trying:
    """One step of a trial, with its row locked."""

    def __init__(self, trial: Trial, cases: Cases) -> None:
        rule = registry.find(trial.definition.body)
        if rule is None:
            raise CannotTry(NOT_LOADED)
        name = rule.hypothesis
        self.trial, self.cases = trial, cases
        self.name = name
        self.after = {name: ActiveRule(rule, trial.rule_hash)}
        self.before = registry.active({name: trial.against.body}) if trial.against is not None else {}

    def step(self) -> bool:
        """The next piece of work. False when there is none. Raises CannotTry, CaseError."""
        if self.trial.status == Job.WAITING:
            self._begin()
            return True
        return self._next_case() or self._next_investigation()

    def _begin(self) -> None:
        self.trial.cases_digest = self.cases.digest
        self.trial.total = len(self._own_cases()) + self._drafts().count()
        self.trial.status = Job.RUNNING
        self.trial.save(update_fields=["cases_digest", "total", "status"])

    def _own_cases(self) -> list[RecordedCase]:
        return [case for case in self.cases.all if case.hypothesis == self.name]

    def _drafts(self) -> Any:
        """Those that were there when the trial was asked for."""
        return Draft.objects.filter(rule=self.name, pk__lte=self.trial.upto)

    def _next_case(self) -> bool:
        if self.cases.digest != self.trial.cases_digest:
            raise CannotTry(CHANGED)
        cases = self._own_cases()
        if len(self.trial.cases) >= len(cases):
            return False
        self._try_case(cases[len(self.trial.cases)])
        return True

    def _try_case(self, case: RecordedCase) -> None:
        before, after = decide(case, self.before), decide(case, self.after)
        told = self._mutate(case, after)
        self.trial.cases = [*self.trial.cases, _case_line(case, before, after, told)]
        is_known_false = case.expected == "fail" and isinstance(after, Pass)
        ended = f"{case.outcome.replace('_', ' ')}: {case.source}" if case.outcome else case.source
        self._note_flip(before, after, case.name, None, case.why, ended, is_known_false)
        self._done("cases", "mutants", "noticed", "blind_spots")

    def _mutate(self, case: RecordedCase, decided: Pass | Fail) -> list[mutation.Told]:
        """Every change of a case that passes and should. A pass that should be none has nothing to be mutated for."""
        situation = Situation.of_case(case)
        if situation is None or isinstance(decided, Fail) or case.expected != "pass":
            return []
        told = list(mutation.tell(situation, self.after, decided=decided))
        self.trial.mutants += len(told)
        self.trial.noticed += sum(one.is_noticed for one in told)
        blind = [{"case": case.name, **one.as_json()} for one in told if not one.is_noticed]
        self.trial.blind_spots = [*self.trial.blind_spots, *blind]
        return told

    def _next_investigation(self) -> bool:
        drafts = self._drafts().filter(pk__gt=self.trial.reached).order_by("pk")
        draft = drafts.select_related("investigation__incident__incident_class").first()
        if draft is None:
            return False
        situation = history.situation_of(draft.investigation, history.tools_of(self._all_rules()))
        before, after = situation.decide(self.before), situation.decide(self.after)
        incident = draft.investigation.incident
        is_known_false = isinstance(after, Pass) and is_false_pass(draft)
        self._note_flip(
            before, after, incident.ref, draft.investigation, incident.title, how_it_ended(draft), is_known_false
        )
        self.trial.reached = draft.pk
        self._done("reached")
        return True

    def _all_rules(self) -> list[ActiveRule]:
        return [*self.before.values(), *self.after.values()]

    def _note_flip(
        self, before: Pass | Fail, after: Pass | Fail, subject: str, investigation: Investigation | None, what: str,
        ended: str, is_known_false: bool,
    ) -> None:  # fmt: skip
        kind = comparison.kind_of(before, after)
        if kind is None and not is_known_false:
            self.trial.same += 1
            return
        name = subject if investigation is None else f"{subject} #{investigation.pk}"
        Flip.objects.create(
            trial=self.trial, kind=kind or Flip.Kind.RECEIPT, subject=name[:200], investigation=investigation,
            what=what[:300], ended=ended[:600], is_known_false=is_known_false,
            checks=[check.as_json() for check in after.checks], reasons=comparison.reasons_of(before, after),
            receipt_sha256=comparison.evidence_hash(after),
        )  # fmt: skip

    def _done(self, *changed: str) -> None:
        self.trial.done += 1
        self.trial.save(update_fields=["done", "same", *changed])


def _case_line(
    case: RecordedCase, before: Pass | Fail, after: Pass | Fail, told: list[mutation.Told]
) -> Mapping[str, Any]:
    """What the rule's page says about a case. `alone` is the check that decided by itself, where one did."""
    failing = [check.number for check in after.checks if check.outcome != "holds"]
    return {
        "name": case.name, "why": case.why[:600], "expected": case.expected, "before": _word(before),
        "verdict": _word(after), "failing": failing, "mutants": len(told),
        "noticed": sum(one.is_noticed for one in told),
        "checks": [{"number": check.number, "fact": check.fact, "title": check.title} for check in after.checks],
        "reasons": comparison.reasons_of(after)[:3],
    }  # fmt: skip


def _word(decided: Pass | Fail) -> str:
    return "pass" if isinstance(decided, Pass) else "fail"


def is_false_pass(draft: Draft) -> bool:
    """Whether a person, or the outcome from outside, says that it should not have passed."""
    overruled = draft.outcome == Draft.Outcome.PASS and draft.status == Draft.Status.OVERRULED
    came_back = LateEvent.objects.filter(draft=draft).exists()
    promoted = getattr(draft.investigation, "promoted_case", None)
    return overruled or came_back or (promoted is not None and promoted.expected == "fail")


def how_it_ended(draft: Draft) -> str:
    """How the incident ended, from outside of the rules; else what a person decided about the draft."""
    promoted = getattr(draft.investigation, "promoted_case", None)
    if promoted is not None:
        source = promoted.get_outcome_source_display()
        return f"{promoted.get_outcome_display()}: {source}, {promoted.outcome_on:%d %b %Y}"
    late = LateEvent.objects.filter(draft=draft).first()
    if late is not None:
        return f"The pass was agreed, and then it was {late.get_what_display().lower()} {late.at:%d %b %Y}"
    decided_on = Review.objects.filter(draft=draft).values_list("at", flat=True).first()
    return f"The {draft.outcome} was {draft.get_status_display().lower()} {decided_on:%d %b %Y}" if decided_on else ""
