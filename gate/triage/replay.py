"""Past incidents put to the verdict once more: the production function, and nothing beside it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gate.triage.outcomes import ActiveRule, Fail, Pass, Reason
from gate.triage.recorded_cases import Outcome, RecordedCase
from gate.triage.rules.language import Rule
from gate.triage.verdict import verdict


class Registry(Protocol):
    """Where rule files are loaded: gate.triage.rules.registry."""

    def loaded(self) -> tuple[Rule, ...]: ...

    def hash_of(self, rule: Rule) -> str: ...


@dataclass(frozen=True)
class Replayed:
    """What became of one case, beside what had become of the incident."""

    name: str
    expected: Outcome | None
    verdict: Outcome
    reasons: tuple[Reason, ...]
    receipt: dict[str, Any]

    @property
    def differs(self) -> bool:
        """Whether the verdict is not the known one. A case whose end nobody knows differs from nothing."""
        return self.expected is not None and self.expected != self.verdict

    def as_json(self) -> dict[str, Any]:
        """The case as one line of `replay --json`."""
        return {
            "name": self.name,
            "expected": self.expected,
            "verdict": self.verdict,
            "reasons": [reason.as_json() for reason in self.reasons],
            "receipt": self.receipt,
        }


def newest(registry: Registry) -> dict[str, ActiveRule]:
    """Each hypothesis' newest version of those that this process has loaded."""
    by_age = sorted(registry.loaded(), key=lambda rule: rule.version)
    return {rule.hypothesis: ActiveRule(rule, registry.hash_of(rule)) for rule in by_age}


def decide(case: RecordedCase, rules: Mapping[str, ActiveRule]) -> Pass | Fail:
    """The verdict on a case, with its lines."""
    return verdict(
        hypothesis=case.hypothesis,
        findings=case.findings,
        entries=case.calls,
        incident=case.incident,
        rules=rules,
        decided_at=case.decided_at,
        objections=case.objections,
    )


def replay(case: RecordedCase, rules: Mapping[str, ActiveRule]) -> Replayed:
    """One case under some rules."""
    decided = decide(case, rules)
    reasons = decided.reasons if isinstance(decided, Fail) else ()
    outcome: Outcome = "pass" if isinstance(decided, Pass) else "fail"
    return Replayed(case.name, case.expected, outcome, reasons, decided.receipt)
