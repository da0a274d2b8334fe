"""Which cited entries may speak at all: known to the log, of this incident, whole, and in time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.outcomes import Reason
from gate.triage.readers.document import storable
from gate.triage.rules.language import Rule, either
from gate.triage.wording import elapsed


@dataclass(frozen=True)
class Citation:
    """An entry cited for a fact, and what speaks against it as evidence."""

    fact: str
    audit_id: str
    call: RecordedCall | None
    problems: tuple[Reason, ...]
    is_readable: bool  # stale or early entries are still read, so that the page can show what they say


def resolve(
    findings: Iterable[Finding],
    entries: Sequence[RecordedCall],
    rule: Rule,
    incident: IncidentFacts,
    decided_at: datetime,
) -> tuple[Citation, ...]:
    """The findings as citations. Handed in twice is handed in once, and the order of findings means nothing."""
    pairs = {(finding.fact, finding.audit_id) for finding in findings}
    ordered = sorted(pairs, key=lambda pair: (pair[0], len(pair[1]), pair[1]))
    return tuple(_citation(fact, audit_id, entries, rule, incident, decided_at) for fact, audit_id in ordered)


def _citation(
    fact: str,
    audit_id: str,
    entries: Sequence[RecordedCall],
    rule: Rule,
    incident: IncidentFacts,
    decided_at: datetime,
) -> Citation:
    found = [call for call in entries if call.audit_id == audit_id]
    unresolved = _unresolved(fact, audit_id, len(found), rule)
    if unresolved is not None:
        return Citation(fact, audit_id, None, (unresolved,), False)
    tools = next(known.tools for known in rule.facts if known.name == fact)
    content = tuple(_content(found[0], fact, tools, incident))
    return Citation(fact, audit_id, found[0], content + tuple(_time(found[0], incident, decided_at)), not content)


def _unresolved(fact: str, audit_id: str, count: int, rule: Rule) -> Reason | None:
    name = storable(audit_id)
    if fact not in [known.name for known in rule.facts]:
        sentence = f"`{storable(fact)}` is not a fact of `{rule.hypothesis}`, yet {name} is cited for it."
        return Reason("unknown_fact", "Not a fact of this rule", sentence)
    if count == 0:
        sentence = f"{name} is not a finished call that the log knows at the decision point."
        return Reason("unknown_entry", "The cited entry does not exist", sentence)
    if count > 1:
        return Reason("repeated_entry", "The cited entry is not one entry", f"{name} names {count} entries.")
    return None


def _content(call: RecordedCall, fact: str, tools: tuple[str, ...], incident: IncidentFacts) -> Iterable[Reason]:
    ref = call.audit_id
    if type(call.incident_id) is not int or call.incident_id != incident.id:
        belongs = "no incident" if call.incident_id is None else f"I-{call.incident_id}"
        sentence = f"{ref} belongs to {belongs}, not to {incident.ref}."
        yield Reason("wrong_incident", "The cited entry belongs elsewhere", sentence)
    if call.is_intact is not True:
        sentence = f"The stored bytes of {ref} are not the ones that were recorded."
        yield Reason("not_intact", "The cited entry was changed", sentence)
    if call.status != "ok":
        sentence = f"The call of {ref} ended as {storable(str(call.status))}, so there is no result to read."
        yield Reason("call_failed", "A failed call shows nothing", sentence)
    if call.truncated is not False:
        sentence = f"The result of {ref} was cut at a limit, and what was cut off is unknown."
        yield Reason("truncated", "A cut answer shows nothing", sentence)
    if call.tool not in tools:
        sentence = f"{ref} is an answer of `{storable(call.tool)}`; `{fact}` is shown by {either(tools)}."
        yield Reason("wrong_tool", "The tool cannot show this", sentence)


def _time(call: RecordedCall, incident: IncidentFacts, decided_at: datetime) -> Iterable[Reason]:
    ref, age = call.audit_id, decided_at - call.called_at
    if call.called_at < incident.began_at:
        yield Reason("before_incident", "Asked before it began", f"{ref} was asked before {incident.ref} began.")
    if call.finished_at > decided_at or call.called_at > call.finished_at:
        yield Reason("after_decision", "Not before the decision", f"{ref} was not finished at the decision point.")
    if age > timedelta(seconds=incident.freshness_seconds):
        most = elapsed(incident.freshness_seconds)
        sentence = f"{ref} was {elapsed(age.total_seconds())} old at the decision point; {most} is the most."
        yield Reason("stale", "Too old at the decision", sentence)
