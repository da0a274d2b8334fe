"""All that a verdict is given, in one value: what a flip report, a shadow rule and a mutation decide anew. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.outcomes import ActiveRule, Fail, Pass
from gate.triage.recorded_cases import RecordedCase
from gate.triage.verdict import verdict


@dataclass(frozen=True)
class Situation:
    """A submission with every call that the log holds for it."""

    hypothesis: str
    findings: tuple[Finding, ...]
    calls: tuple[RecordedCall, ...]
    incident: IncidentFacts
    decided_at: datetime
    objections: tuple[Finding, ...] = ()

    def decide(self, rules: Mapping[str, ActiveRule]) -> Pass | Fail:
        """What the rules make of it: the production verdict, and nothing beside it."""
        return verdict(
            hypothesis=self.hypothesis, findings=self.findings, entries=self.calls, incident=self.incident,
            rules=rules, decided_at=self.decided_at, objections=self.objections,
        )  # fmt: skip

    @classmethod
    def of_case(cls, case: RecordedCase) -> Situation | None:
        """What a recorded case says; None where it does not say the incident, so that it cannot pass either."""
        if case.incident is None or case.decided_at is None:
            return None
        return cls(case.hypothesis, case.findings, case.calls, case.incident, case.decided_at, case.objections)

    def cited(self) -> tuple[RecordedCall, ...]:
        """The calls that a finding cites."""
        named = {finding.audit_id for finding in self.findings}
        return tuple(call for call in self.calls if call.audit_id in named)

    def with_call(self, changed: RecordedCall) -> Situation:
        """The same with one call changed."""
        calls = (changed if call.audit_id == changed.audit_id else call for call in self.calls)
        return replace(self, calls=tuple(calls))
