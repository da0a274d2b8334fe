"""The verdict: tested code that turns citations into pass or fail. Pure and total; no Django, no clock, no database.

Every step can only take the pass away. No step reads anything that the agent wrote except hypothesis, fact and id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from gate.triage import outcomes, provenance, scope_lines
from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.judge import Judge
from gate.triage.lines import CRASHES
from gate.triage.objections import check_objections
from gate.triage.outcomes import ActiveRule, CheckResult, Fail, Pass, Reason
from gate.triage.readers.document import storable
from gate.triage.sheet import LATER_ANSWERS, OBJECTIONS, PROVENANCE, SCOPE, Sheet

__all__ = [
    "LATER_ANSWERS", "OBJECTIONS", "PROVENANCE", "SCOPE", "ActiveRule", "CheckResult", "Fail", "Finding",
    "IncidentFacts", "Pass", "Reason", "RecordedCall", "verdict",
]  # fmt: skip

NO_INCIDENT = "The record does not say what the incident is about, when it began, or when it was decided."


def verdict(
    *,
    hypothesis: str,
    findings: Iterable[Finding],
    entries: Iterable[RecordedCall],
    incident: IncidentFacts | None,
    rules: Mapping[str, ActiveRule],
    decided_at: datetime | None,
    objections: Sequence[Finding] = (),
) -> Pass | Fail:
    """Pass with a receipt, or Fail with reasons. It never raises: what it cannot read fails.

    `entries` are all recorded calls on the incident up to `decided_at`, and whatever else was cited. An objection
    says that an entry speaks against a fact. It can only take the pass away: see gate.triage.objections.
    """
    if incident is None or decided_at is None or not provenance.is_placed(incident, decided_at):
        return _refused(hypothesis, None, Reason("provenance_missing", provenance.NOT_SAID, NO_INCIDENT), None)
    try:
        return _decide(hypothesis, list(findings), list(entries), incident, rules, decided_at, list(objections))
    except CRASHES as crash:
        sentence = f"The case has a shape that no check reads ({crash.__class__.__name__})."
        return _refused(hypothesis, None, Reason("unreadable", "What cannot be read fails", sentence), None)


def _decide(
    hypothesis: str,
    findings: list[Finding],
    entries: list[RecordedCall],
    incident: IncidentFacts,
    rules: Mapping[str, ActiveRule],
    decided_at: datetime,
    objections: list[Finding],
) -> Pass | Fail:
    active = rules.get(hypothesis)
    refusal = _refusal(hypothesis, active, incident)
    if refusal is not None or active is None or active.rule is None:
        return _refused(hypothesis, active, refusal, decided_at)
    ordered = tuple(sorted(entries, key=_in_time))
    citations = provenance.resolve(findings, ordered, active.rule, incident, decided_at)
    sheet = Sheet(incident)
    judges = [
        Judge(active.rule, ordered, shared, whom, decided_at)
        for whom, shared in scope_lines.by_subject(active.rule, citations, incident)
    ]
    for judge in judges:
        judge.check_facts(sheet)
    earned_lines = len(sheet.lines)
    scope_lines.check_all_named(sheet, incident)
    provenance.check_provenance(sheet, citations)
    for judge in judges:
        judge.check_later_answers(sheet)
    check_objections(sheet, objections, judges)
    # A rule without a check has none to pass by, for however many subjects.
    subjects = len(judges) if earned_lines > 0 else 0
    return _outcome(sheet, active, ordered, citations, decided_at, subjects)


def _outcome(
    sheet: Sheet,
    active: ActiveRule,
    entries: Sequence[RecordedCall],
    citations: Sequence[provenance.Citation],
    decided_at: datetime,
    subjects: int,
) -> Pass | Fail:
    """Pass when every line holds and nothing at all speaks against it."""
    assert active.rule is not None
    checks = tuple(sheet.lines)
    read = {citation.audit_id for citation in citations if citation.call is not None}
    read |= {audit_id for line in checks for audit_id in line.values}
    calls = tuple(call for call in entries if call.audit_id in read)
    receipt = outcomes.receipt(active.rule.hypothesis, active, checks, calls, decided_at, subjects)
    if subjects > 0 and all(line.outcome == "holds" for line in checks) and not sheet.reasons:
        return Pass(receipt, checks)
    return Fail(tuple(dict.fromkeys(sheet.reasons)), checks, receipt)


def _refused(hypothesis: object, active: ActiveRule | None, reason: Reason | None, decided_at: datetime | None) -> Fail:
    reasons = () if reason is None else (reason,)
    return Fail(reasons, (), outcomes.receipt(str(hypothesis), active, (), (), decided_at))


def _refusal(hypothesis: str, active: ActiveRule | None, incident: IncidentFacts) -> Reason | None:
    name = storable(str(hypothesis))
    if active is None:
        sentence = f"No active rule says what would show `{name}`, so a person decides."
        return Reason("no_rule", "No rule, no pass", sentence)
    if active.rule is None:
        sentence = f"The active version of `{name}` is not the one that this worker has loaded; deploy that version."
        return Reason("rule_not_loaded", "The rule is not loaded", sentence)
    if hypothesis not in incident.hypotheses:
        sentence = f"The class of {incident.ref} does not allow `{name}`."
        return Reason("hypothesis_not_allowed", "The hypothesis does not fit", sentence)
    if incident.kind not in active.rule.kinds:
        sentence = f"`{name}` explains no {storable(str(incident.kind))}, and {incident.ref} is one."
        return Reason("hypothesis_not_allowed", "The hypothesis does not fit", sentence)
    return None


def _in_time(call: RecordedCall) -> tuple[bool, datetime, str]:
    """By the time of the answer. What has none comes last: it may be the newest of all."""
    moment = call.finished_at
    return moment is None, moment if moment is not None else datetime.max.replace(tzinfo=UTC), str(call.audit_id)
