"""An agent hands in what it found. It says what it thinks and what shows it; whether that is enough, code decides."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from audit import log, masking, outbox
from audit.agents import Principal
from audit.kinds import Kind
from evidence import arguments, changes
from evidence.errors import Problem
from gate.triage import clock
from gate.triage.classes import NAME
from gate.triage.models import Finding, Investigation
from gate.triage.readers.document import storable
from gate.triage.scope import none_running

TASK, QUEUE = "gate.triage.tasks.render_verdict", "verdicts"
LONGEST_ANSWER = 20_000  # characters
FINDING_PROPERTIES: dict[str, Any] = {
    "fact": NAME,
    "audit_id": {"type": "string", "pattern": "^A-[1-9][0-9]{0,17}$", "description": "The entry that shows it"},
    "note": {"type": "string", "maxLength": 2000, "description": "For the person who reads; no check does"},
}
FINDING: dict[str, Any] = {"type": "object", "properties": FINDING_PROPERTIES, "required": ["fact", "audit_id"]}
PROPERTIES: dict[str, Any] = {
    "hypothesis": NAME,
    "findings": {"type": "array", "items": FINDING, "maxItems": 40},
    "answer": {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST_ANSWER,
        "description": "The draft for the person",
    },
}
SCHEMA: dict[str, Any] = {"type": "object", "properties": PROPERTIES, "required": ["hypothesis", "findings", "answer"]}
CODE_DECIDES = "Code decides from the cited entries; hand in hypothesis, findings (fact, audit_id, note) and answer."


def check(handed_in: Any) -> None:
    """Raises Problem unless this is a submission and nothing more: no verdict, no confidence, at any level."""
    for key in _surplus(handed_in):
        raise Problem(422, "unknown_key", f"`{storable(key[:80])}` cannot be handed in. {CODE_DECIDES}")
    sentence = arguments.misfit(SCHEMA, handed_in)
    if sentence:
        raise Problem(422, "wrong_arguments", sentence)
    if any(storable(text) != text for text in _texts(handed_in)):
        raise Problem(422, "wrong_arguments", "A text holds a character that cannot be kept (NUL or half a pair).")


def _surplus(handed_in: Any) -> list[str]:
    if not isinstance(handed_in, dict):
        return []
    findings = handed_in.get("findings")
    inner = [finding for finding in findings if isinstance(finding, dict)] if isinstance(findings, list) else []
    surplus = set(handed_in) - set(PROPERTIES)
    return sorted(surplus.union(*(set(finding) - set(FINDING_PROPERTIES) for finding in inner)))


def _texts(handed_in: dict[str, Any]) -> list[str]:
    return [handed_in["answer"], *(finding.get("note", "") for finding in handed_in["findings"])]


@transaction.atomic
def submit(principal: Principal, investigation_id: int, handed_in: dict[str, Any]) -> dict[str, str]:
    """Take the one submission of the agent's running investigation; the decision point freezes. Raises Problem."""
    check(handed_in)
    investigation = _lock(principal, investigation_id)
    investigation.hypothesis, investigation.answer = handed_in["hypothesis"], handed_in["answer"]
    investigation.status, investigation.submitted_at = Investigation.Status.SUBMITTED, clock.now()
    investigation.save(update_fields=["hypothesis", "answer", "status", "submitted_at"])
    Finding.objects.bulk_create(
        Finding(
            investigation=investigation, position=position, fact=finding["fact"], audit_id=finding["audit_id"],
            note=finding.get("note", ""),
        )
        for position, finding in enumerate(handed_in["findings"], start=1)
    )  # fmt: skip
    _record(principal, investigation, handed_in)
    outbox.enqueue(TASK, QUEUE, investigation.pk)
    changes.announce(principal.agent_id)
    return {"status": "received"}


def resume() -> None:
    """Have verdicts rendered after all whose job was given up a while ago: what was received gets its draft."""
    outbox.resume(TASK, Investigation.objects.filter(status=Investigation.Status.SUBMITTED).values("pk"))


def _lock(principal: Principal, investigation_id: int) -> Investigation:
    own = Investigation.objects.select_for_update(of=("self",)).filter(agent_id=principal.agent_id)
    investigation = own.filter(pk=investigation_id).first()
    if investigation is None or investigation.status == Investigation.Status.ABANDONED:
        raise none_running()
    if investigation.status != Investigation.Status.RUNNING:
        raise Problem(409, "already_submitted", "This investigation was handed in; a second time changes nothing.")
    if investigation.deadline_at <= clock.now():
        raise Problem(409, "deadline_passed", "The time of this investigation is over; start a new one.")
    return investigation


def _record(principal: Principal, investigation: Investigation, handed_in: dict[str, Any]) -> None:
    log.record_with(
        Kind.FINDINGS_SUBMITTED, principal.actor(), subject=f"I-{investigation.incident_id}",
        incident_id=investigation.incident_id, run_id=str(investigation.pk),
        summary=f"{handed_in['hypothesis']}, {len(handed_in['findings'])} findings", args=masking.mask(handed_in),
        result={"submitted_at": investigation.submitted_at.isoformat() if investigation.submitted_at else None},
    )  # fmt: skip
