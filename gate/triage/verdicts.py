"""Rendering a verdict: the recorded calls in, one draft out, in one transaction. Safe to run again at any point."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from audit import links, log, reading
from audit.kinds import Kind
from gate.triage import briefing, classes, recorded_calls
from gate.triage.cases import Finding as Cited
from gate.triage.cases import RecordedCall
from gate.triage.models import Draft, Finding, Incident, Investigation
from gate.triage.outcomes import ActiveRule, CheckResult, Fail, Pass
from gate.triage.rules import registry
from gate.triage.verdict import verdict


def render(investigation_id: int) -> None:
    """Draft the verdict of a submitted investigation. Runs in the caller's transaction; a second run does nothing."""
    # One worker at a time: the other one waits here and then finds it decided.
    locked = Investigation.objects.select_for_update(of=("self",)).select_related("incident__incident_class")
    investigation = locked.get(pk=investigation_id)
    if investigation.status != Investigation.Status.SUBMITTED:
        return
    findings = list(investigation.findings.all())
    assert investigation.submitted_at is not None  # its status says so
    rules = registry.active(briefing.rules_in_force([investigation.hypothesis]))
    calls = recorded_calls.load(
        investigation.incident_id, [finding.audit_id for finding in findings], _tools(rules), investigation.submitted_at
    )
    decided = verdict(
        hypothesis=investigation.hypothesis,
        findings=[Cited(finding.fact, finding.audit_id) for finding in findings],
        entries=calls,
        incident=classes.facts_of(investigation.incident),
        rules=rules,
        decided_at=investigation.submitted_at,
    )
    draft = _draft(investigation, decided, investigation.submitted_at)
    _move(investigation)
    _record(draft, findings)
    _cite(draft, findings, calls, decided.checks)


def _tools(rules: dict[str, ActiveRule]) -> list[str]:
    """The tools that a check could read: other calls cannot change a verdict, so they are not loaded."""
    loaded = [active.rule for active in rules.values() if active.rule is not None]
    return sorted({tool for rule in loaded for fact in rule.facts for tool in fact.tools})


def _draft(investigation: Investigation, decided: Pass | Fail, decided_at: datetime) -> Draft:
    reasons = decided.reasons if isinstance(decided, Fail) else ()
    return Draft.objects.create(
        investigation=investigation,
        outcome=Draft.Outcome.PASS if isinstance(decided, Pass) else Draft.Outcome.FAIL,
        rule=investigation.hypothesis,
        rule_version=decided.receipt["version"],
        rule_hash=decided.receipt["hash"],
        checks=[check.as_json() for check in decided.checks],
        reasons=[reason.as_json() for reason in reasons],
        receipt=decided.receipt,
        decided_at=decided_at,
    )


def _move(investigation: Investigation) -> None:
    investigation.status = Investigation.Status.DECIDED
    investigation.save(update_fields=["status"])
    # A person may have closed the incident meanwhile; then it stays closed, and the draft is there to be read.
    Incident.objects.filter(pk=investigation.incident_id, status=Incident.Status.INVESTIGATING).update(
        status=Incident.Status.DRAFTED
    )


def _record(draft: Draft, findings: list[Finding]) -> None:
    investigation = draft.investigation
    cited: list[dict[str, Any]] = [{"fact": finding.fact, "audit_id": finding.audit_id} for finding in findings]
    log.record_with(
        Kind.VERDICT_RENDERED, log.Actor.process(), subject=draft.ref, incident_id=investigation.incident_id,
        run_id=str(investigation.pk), summary=f"{draft.outcome}: {draft.rule}", tool_hash=draft.rule_hash,
        args={"hypothesis": draft.rule, "findings": cited, "rule_version": draft.rule_version},
        result={"outcome": draft.outcome, "reasons": draft.reasons, "receipt": draft.receipt},
    )  # fmt: skip


def _cite(draft: Draft, findings: list[Finding], calls: list[RecordedCall], checks: tuple[CheckResult, ...]) -> None:
    """Tell each cited entry what rests on it, and on which of its fields."""
    for call in calls:
        facts = sorted({finding.fact for finding in findings if finding.audit_id == call.audit_id})
        seq = reading.seq_of(call.audit_id)
        if facts and seq is not None:
            paths = {path for check in checks for path in check.paths.get(call.audit_id, [])}
            note = f"{draft.outcome}: {', '.join(facts)}"
            links.cite(seq, draft.ref, f"/drafts/{draft.pk}/", note, sorted(paths))
