"""A recorded investigation as the verdict was given it, read back from the database and the log."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from gate.triage import classes, recorded_calls
from gate.triage.cases import Finding
from gate.triage.models import Investigation
from gate.triage.outcomes import ActiveRule
from gate.triage.situation import Situation


def situation_of(
    investigation: Investigation, tools: Iterable[str] | None, *, until: datetime | None = None
) -> Situation:
    """What was handed in, with the calls of some tools (None: of every tool) up to the decision point, or `until`.

    The investigation has been handed in; its incident and class are read along with it.
    """
    assert investigation.submitted_at is not None  # who asks for it looks at what was handed in
    until = investigation.submitted_at if until is None else until
    findings = tuple(Finding(finding.fact, finding.audit_id) for finding in investigation.findings.all())
    cited = [finding.audit_id for finding in findings]
    calls = recorded_calls.load(investigation.incident_id, cited, tools, until)
    incident = classes.facts_of(investigation.incident, investigation.started_at)
    return Situation(investigation.hypothesis, findings, tuple(calls), incident, until)


def tools_of(rules: Iterable[ActiveRule]) -> list[str]:
    """The tools that a check could read: other calls cannot change a verdict, so they are not loaded."""
    loaded = [active.rule for active in rules if active.rule is not None]
    return sorted({tool for rule in loaded for fact in rule.facts for tool in fact.tools})
