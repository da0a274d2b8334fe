"""A past incident as a case: what was cited, what the calls answered, and how it ended. Pure; no Django, no database.

What the record leaves out is not made up. A call without its provenance, or a case without its incident, is read in
as such, and the verdict fails it with `provenance_missing`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import simplejson

from gate.triage import markers
from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.readers.document import Document, Unreadable

Outcome = Literal["pass", "fail"]
META = frozenset(("incident_id", "called_at", "ok", "error", "truncated", "took_ms"))
KINDS: Mapping[str, str] = {"support": "claim"}
# A record seldom says how late lines arrive. A window that ends as the call begins was certainly not read to its end.
LEAST_LAG_SECONDS = 1
# What the incident says besides: read into the facts, except for these.
OWN_KEYS = frozenset(
    ("id", "subject", "began_at", "watch_from", "decided_at", "recurrence_period_s", "freshness_s",
     "ingestion_lag_s", "hypotheses", "members", "undelivered", "truncatedAlerts", "truncated_alerts", "facts",
     "metric_good", "items", "alerts", "alert_count", "group_size")
)  # fmt: skip


GROUPED = ("items", "alerts", "alert_count", "group_size")


class CaseError(Exception):
    """What was given is not a case at all; the sentence says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True)
class RecordedCase:
    """A past incident with its evidence and its end."""

    name: str
    kind: str  # as the record calls it: incident or support
    hypothesis: str
    findings: tuple[Finding, ...]
    objections: tuple[Finding, ...]
    calls: tuple[RecordedCall, ...]
    incident: IncidentFacts | None  # None where the record does not say all of it
    decided_at: datetime | None
    expected: Outcome | None
    outcome: str  # how it ended: harmless, not_fine
    why: str
    source: str


def load(raw: bytes) -> Any:
    """The JSON value of a file with every digit of its numbers. Raises CaseError."""
    try:
        return json.loads(raw, parse_float=Decimal, object_pairs_hook=_object)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise CaseError(f"It is not JSON that can be read whole ({error.__class__.__name__}).") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise CaseError("An object in it has the same key twice, so that it says two things.")
    return found


def parse(document: Any) -> RecordedCase:
    """The case that a JSON document says. Raises CaseError where it is none."""
    if type(document) is not dict:
        raise CaseError("It is not an object.")
    hypothesis, kind = _text(document, "hypothesis"), document.get("kind", "incident")
    incident, decided_at = _incident(document.get("incident"), str(kind), hypothesis)
    return RecordedCase(
        name=_text(document, "name"),
        kind=str(kind),
        hypothesis=hypothesis,
        findings=_findings(_objects(document, "findings")),
        objections=_findings(_objects(document, "objections") if "objections" in document else []),
        calls=tuple(_call(entry) for entry in _objects(document, "audit")),
        incident=incident,
        decided_at=decided_at,
        expected=_expected(document),
        outcome=str(document.get("outcome", "")),
        why=str(document.get("why", "")),
        source=str(document.get("source", "")),
    )


def _text(document: dict[str, Any], key: str) -> str:
    value = document.get(key)
    if type(value) is not str or value == "":
        raise CaseError(f"Its `{key}` is not a text.")
    return value


def _objects(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = document.get(key)
    if type(found) is not list or any(type(item) is not dict for item in found):
        raise CaseError(f"Its `{key}` is not a list of objects.")
    return found


def _findings(found: list[dict[str, Any]]) -> tuple[Finding, ...]:
    return tuple(Finding(item.get("fact"), item.get("audit_id")) for item in found)  # type: ignore[arg-type]


def _expected(document: dict[str, Any]) -> Outcome | None:
    actual = document.get("actual")
    if actual == "pass":
        return "pass"
    if actual == "fail":
        return "fail"
    if actual is None:
        return None
    raise CaseError("Its `actual` is neither pass nor fail.")


def _call(entry: dict[str, Any]) -> RecordedCall:
    began, finished, meta = _provenance(entry.get("meta"))
    return RecordedCall(
        audit_id=entry.get("id"),  # type: ignore[arg-type]  # what is no text is cited by nobody
        incident_id=meta.get("incident_id"),
        run_id="",
        tool=str(entry.get("tool", "")),
        tool_version=None,
        tool_hash="",
        source=str(entry.get("source", "")),
        status="ok" if meta.get("ok") is True and meta.get("error", "") is None else "failed",
        called_at=began,
        finished_at=finished,
        args=entry.get("args"),
        result=entry.get("result"),
        truncated=meta.get("truncated") is not False or markers.against(meta, {}) is not None,
        is_intact=True,
        digest=_digest(entry),
    )


def _digest(entry: dict[str, Any]) -> str:
    """A recorded case has no sealed log behind it; its receipt at least names the bytes that were judged."""
    text = simplejson.dumps(entry, use_decimal=True, allow_nan=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _provenance(meta: Any) -> tuple[datetime | None, datetime | None, dict[str, Any]]:
    """When the call began and ended, and the rest; nothing at all where any part is left out or of the wrong kind."""
    if type(meta) is not dict or not frozenset(meta) >= META:
        return None, None, {}
    said = Document(meta)
    try:
        began, took = said.moment("called_at"), said.number("took_ms")
        _ = said.flag("ok"), said.flag("truncated")
        return began, began + timedelta(milliseconds=float(took)), meta
    except (Unreadable, OverflowError):
        return None, None, {}


def _incident(said: Any, kind: str, hypothesis: str) -> tuple[IncidentFacts | None, datetime | None]:
    """The incident and its decision point; None for both where the record does not say all that they need."""
    if type(said) is not dict:
        return None, None
    document = Document(said)
    try:
        decided_at = document.moment("decided_at")
        return _facts(said, document, KINDS.get(kind, kind), hypothesis), decided_at
    except Unreadable:
        return None, None


def _facts(said: dict[str, Any], document: Document, kind: str, hypothesis: str) -> IncidentFacts:
    return IncidentFacts(
        id=document.text("id") if type(said.get("id")) is str else document.integer("id"),
        kind=kind,
        subject=_mapping(document, said, "subject"),
        began_at=document.moment("began_at"),
        watch_from=document.moment("watch_from"),
        recurrence_seconds=_seconds(document, "recurrence_period_s"),
        freshness_seconds=_seconds(document, "freshness_s"),
        ingestion_lag_seconds=_seconds(document, "ingestion_lag_s") if "ingestion_lag_s" in said else LEAST_LAG_SECONDS,
        hypotheses=_hypotheses(document, said, hypothesis),
        facts=_besides(document, said),
        members=_members(document, said),
        undelivered=_undelivered(document, said),
    )


def _mapping(document: Document, said: Mapping[str, Any], *path: str | int) -> dict[str, Any]:
    document.keys(*path)  # raises when it is no object
    value: Any = said
    for step in path:
        value = value[step]
    return dict(value)


def _seconds(document: Document, key: str) -> int:
    """A duration; a negative one would let what is too old or too short through."""
    seconds = document.integer(key)
    if seconds < 0:
        raise Unreadable(f"/{key}", f"`{key}` is negative.", str(seconds))
    return seconds


def _hypotheses(document: Document, said: Mapping[str, Any], hypothesis: str) -> tuple[str, ...]:
    """What the incident's class allowed; a record that names no class had the one that it was filed under."""
    if "hypotheses" not in said:
        return (hypothesis,)
    return tuple(document.text("hypotheses", index) for index in range(document.length("hypotheses")))


def _members(document: Document, said: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    if "members" not in said:
        return ()
    return tuple(_mapping(document, said, "members", index) for index in range(document.length("members")))


def _undelivered(document: Document, said: Mapping[str, Any]) -> int:
    """How many alerts belong to the incident whose subject nobody named."""
    told = sum(_seconds(document, key) for key in ("undelivered", "truncatedAlerts", "truncated_alerts") if key in said)
    members, subject = _members(document, said), _mapping(document, said, "subject")
    known = 1 + len([member for number, member in enumerate(members) if member not in (subject, *members[:number])])
    grouped = [_count(document, said, key) for key in GROUPED if key in said]
    return told + max([count - known for count in grouped if count > known], default=0)


def _count(document: Document, said: Mapping[str, Any], key: str) -> int:
    """How many alerts came in one report: their number, or the alerts themselves."""
    return document.length(key) if type(said[key]) is list else _seconds(document, key)


def _besides(document: Document, said: Mapping[str, Any]) -> dict[str, Any]:
    facts = {key: value for key, value in said.items() if key not in OWN_KEYS}
    if "facts" in said:
        facts |= _mapping(document, said, "facts")
    if "metric_good" in said:
        facts["metric_good"] = _condition(said["metric_good"])
    return facts


def _condition(good: Any) -> Any:
    """`{"op": "<", "value": 0.05}` as the one text that rules read, `< 0.05`. Anything else stays, and is not read."""
    if type(good) is not dict or frozenset(good) != {"op", "value"} or type(good["op"]) is not str:
        return good
    try:
        return f"{good['op']} {Document(good).number('value'):f}"
    except Unreadable:
        return good
