"""A past incident in the neutral form of a recorded case, with the payloads of its entries. Pure.

What comes out is read in again by gate.triage.recorded_cases, as a file would be.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import simplejson

from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.situation import Situation

CLAIM = "support"  # what recorded cases call a claim
KINDS = {"claim": CLAIM}


@dataclass(frozen=True)
class Ending:
    """How the incident ended, as somebody outside of the rules knows it."""

    name: str
    title: str
    expected: str
    outcome: str
    why: str
    source: str
    on: str


def document_of(situation: Situation, ending: Ending) -> dict[str, Any]:
    """The case as JSON. A call that is not as it was recorded goes without its provenance, so that it fails."""
    return {
        "name": ending.name,
        "title": ending.title,  # beside the incident: the verdict was not given it
        "kind": KINDS.get(situation.incident.kind, situation.incident.kind),
        "hypothesis": situation.hypothesis,
        "findings": [_finding(finding) for finding in situation.findings],
        "audit": [_entry(call) for call in situation.calls],
        "actual": ending.expected,
        "why": ending.why,
        "source": ending.source,
        "outcome": ending.outcome,
        "outcome_on": ending.on,
        "incident": _incident(situation.incident, situation.decided_at),
    }


def text_of(document: dict[str, Any]) -> str:
    """The case as a file: exact numbers, one line per field."""
    return simplejson.dumps(document, use_decimal=True, allow_nan=False, ensure_ascii=False, indent=1)


def sha256_of(text: str) -> str:
    """SHA-256 over the file."""
    return hashlib.sha256(text.encode()).hexdigest()


def _finding(finding: Finding) -> dict[str, str]:
    return {"fact": finding.fact, "audit_id": finding.audit_id}


def _entry(call: RecordedCall) -> dict[str, Any]:
    entry = {"id": call.audit_id, "tool": call.tool, "source": call.source, "args": call.args, "result": call.result}
    if call.is_intact is not True or call.called_at is None or call.finished_at is None:
        return entry
    return {
        **entry,
        "meta": {
            "incident_id": call.incident_id,
            "called_at": _spelled(call.called_at),
            "ok": call.status == "ok",
            "error": None if call.status == "ok" else call.status,
            "truncated": call.truncated is not False,
            "took_ms": _milliseconds(call.finished_at - call.called_at),
        },
    }


def _incident(incident: IncidentFacts, decided_at: datetime) -> dict[str, Any]:
    return {
        "id": incident.id,
        "subject": dict(incident.subject),
        "facts": dict(incident.facts),
        "began_at": _spelled(incident.began_at),
        "watch_from": _spelled(incident.watch_from),
        "decided_at": _spelled(decided_at),
        "recurrence_period_s": incident.recurrence_seconds,
        "freshness_s": incident.freshness_seconds,
        "ingestion_lag_s": incident.ingestion_lag_seconds,
        "hypotheses": list(incident.hypotheses),
        "members": [dict(member) for member in incident.members],
        "undelivered": incident.undelivered,
    }


def _spelled(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _milliseconds(took: timedelta) -> Decimal:
    return Decimal(took // timedelta(microseconds=1)) / 1000
