"""Rendering a verdict: the recorded calls in, one draft out, in one transaction. Safe to run again at any point."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from audit import links, log, outbox, reading
from audit.kinds import Kind
from gate.triage import briefing, history, survival_reports
from gate.triage.cases import RecordedCall
from gate.triage.models import Draft, Finding, Incident, Investigation
from gate.triage.outcomes import CheckResult, Fail, Pass
from gate.triage.rules import registry

# What a draft's page shows besides, and rules in shadow: after the draft is there, so that nobody waits for it.
EXAMINE, QUEUE = "gate.triage.tasks.examine_draft", "trials"


def render(investigation_id: int) -> None:
    """Draft the verdict of a submitted investigation. Runs in the caller's transaction; a second run does nothing."""
    # One worker at a time: the other one waits here and then finds it decided.
    locked = Investigation.objects.select_for_update(of=("self",)).select_related("incident__incident_class")
    investigation = locked.get(pk=investigation_id)
    if investigation.status != Investigation.Status.SUBMITTED:
        return
    findings = list(investigation.findings.all())
    rules = registry.active(briefing.rules_in_force([investigation.hypothesis]))
    situation = history.situation_of(investigation, history.tools_of(rules.values()))
    decided = situation.decide(rules)
    draft = _draft(investigation, decided, situation.decided_at)
    _move(investigation)
    _cite(draft, findings, situation.calls, decided.checks)
    _record(draft, findings)
    outbox.enqueue(EXAMINE, QUEUE, draft.pk)
    survival_reports.ask_for_log(investigation.pk)


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
        args={"hypothesis": draft.rule, "findings": cited, "rule_version": draft.rule_version,
              "rows": links.said_of(draft.ref)},
        result={"outcome": draft.outcome, "reasons": draft.reasons, "receipt": draft.receipt},
    )  # fmt: skip


def _cite(
    draft: Draft, findings: list[Finding], calls: tuple[RecordedCall, ...], checks: tuple[CheckResult, ...]
) -> None:
    """Tell each cited entry what rests on it, and on which of its fields."""
    for call in calls:
        facts = sorted({finding.fact for finding in findings if finding.audit_id == call.audit_id})
        seq = reading.seq_of(call.audit_id)
        if facts and seq is not None:
            paths = {path for check in checks for path in check.paths.get(call.audit_id, [])}
            note = f"{draft.outcome}: {', '.join(facts)}"
            links.cite(seq, draft.ref, f"/drafts/{draft.pk}/", note, sorted(paths))
