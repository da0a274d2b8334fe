"""Which cited entries may speak at all: known to the log, of this incident, whole, and in time. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gate.triage import markers
from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.lines import Line
from gate.triage.outcomes import Reason
from gate.triage.readers.document import storable
from gate.triage.rules.language import Rule, either
from gate.triage.sheet import PROVENANCE, Sheet
from gate.triage.wording import elapsed

NOT_SAID = "The record does not say where it comes from"
BELONGS = "Every cited call belongs to {ref}, succeeded, is uncut, and falls between start and decision"
BELONGS_EARN = "Calls made for {ref} itself, finished, uncut and at most {freshness} old when they are handed in"


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
    known: defaultdict[str, list[RecordedCall]] = defaultdict(list)
    for call in entries:
        if type(call.audit_id) is str:
            known[call.audit_id].append(call)
    return tuple(
        _citation(fact, audit_id, known[audit_id], rule, incident, decided_at) for fact, audit_id in pairs(findings)
    )


def pairs(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Findings in an order of their own, each once. An id that is no text is written out, and names no entry."""
    found = {(_written(finding.fact), _written(finding.audit_id)) for finding in findings}
    return sorted(found, key=lambda pair: (pair[0], len(pair[1]), pair[1]))


def _written(value: object) -> str:
    return value if type(value) is str else f"({storable(repr(value))[:80]})"


def _citation(
    fact: str,
    audit_id: str,
    found: Sequence[RecordedCall],
    rule: Rule,
    incident: IncidentFacts,
    decided_at: datetime,
) -> Citation:
    unresolved = _unresolved(fact, audit_id, len(found), rule)
    if unresolved is not None:
        return Citation(fact, audit_id, None, (unresolved,), False)
    tools = next(known.tools for known in rule.facts if known.name == fact)
    missing = tuple(_missing(found[0]))
    if missing:
        return Citation(fact, audit_id, found[0], missing, False)
    content = tuple(_content(found[0], fact, tools, incident))
    doubts = (*_time(found[0], incident, decided_at), *_marks(found[0], incident))
    return Citation(fact, audit_id, found[0], content + doubts, not content)


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


def _missing(call: RecordedCall) -> Iterable[Reason]:
    if not is_aware(call.called_at) or not is_aware(call.finished_at):
        sentence = f"The record of {storable(call.audit_id)} does not say when and for what it was called."
        yield Reason("provenance_missing", NOT_SAID, sentence)


def may_speak(call: RecordedCall, incident: IncidentFacts, decided_at: datetime) -> bool:
    """Whether nothing speaks against an entry as such, whatever it is read for."""
    if any(_missing(call)):
        return False
    return not any(_content(call, "", (call.tool,), incident)) and not any(_time(call, incident, decided_at))


def _content(call: RecordedCall, fact: str, tools: tuple[str, ...], incident: IncidentFacts) -> Iterable[Reason]:
    ref = call.audit_id
    if not is_of(call, incident):
        sentence = f"{ref} belongs to {_owner(call)}, not to {incident.ref}."
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


def _marks(call: RecordedCall, incident: IncidentFacts) -> Iterable[Reason]:
    mark = markers.against(call.result, incident.subject, call.args)
    if mark is not None:
        sentence = f"{call.audit_id} says by `{storable(mark)}` that it failed, was cut, or is not of now."
        yield Reason("not_whole", "The answer itself says that it shows nothing", sentence)


def _time(call: RecordedCall, incident: IncidentFacts, decided_at: datetime) -> Iterable[Reason]:
    if call.called_at is None or call.finished_at is None:
        return
    ref, age = call.audit_id, decided_at - call.called_at
    if call.called_at < incident.began_at:
        yield Reason("before_incident", "Asked before it began", f"{ref} was asked before {incident.ref} began.")
    if call.finished_at > decided_at or call.called_at > call.finished_at:
        yield Reason("after_decision", "Not before the decision", f"{ref} was not finished at the decision point.")
    if age > timedelta(seconds=incident.freshness_seconds):
        most = elapsed(incident.freshness_seconds)
        sentence = f"{ref} was {elapsed(age.total_seconds())} old at the decision point; {most} is the most."
        yield Reason("stale", "Too old at the decision", sentence)


def is_of(call: RecordedCall, incident: IncidentFacts) -> bool:
    """Whether a call was made for this very incident: 1 is not True, and "318" is not 318."""
    return type(incident.id) in (int, str) and same(call.incident_id, incident.id)


def same(one: object, other: object) -> bool:
    """The same value of the same type."""
    return type(one) is type(other) and one == other


def _owner(call: RecordedCall) -> str:
    if call.incident_id is None:
        return "no incident"
    return f"I-{call.incident_id}" if type(call.incident_id) is int else storable(str(call.incident_id))


def is_aware(moment: object) -> bool:
    """Whether it is a moment: a time that says its zone."""
    return isinstance(moment, datetime) and moment.utcoffset() is not None


def is_placed(incident: IncidentFacts, decided_at: datetime) -> bool:
    """Whether incident and decision have their place in time."""
    return is_aware(incident.began_at) and is_aware(incident.watch_from) and is_aware(decided_at)


def check_provenance(sheet: Sheet, citations: Sequence[Citation]) -> None:
    """One line for all that speaks against the cited entries themselves."""
    line = Line(seen=", ".join(_times(citations)))
    for citation in citations:
        for problem in citation.problems:
            line.worsen("fails", line.seen, problem.sentence, problem.headline)
            sheet.reasons.append(problem)
    if not citations:
        line.worsen("fails", "no entry cited", "Nothing is cited.", "A fact is missing")
    audit_ids = [citation.audit_id for citation in citations]
    sheet.close(
        line, fact=PROVENANCE, title=BELONGS, earn=BELONGS_EARN, predicate=PROVENANCE, audit_ids=audit_ids,
        code="" if citations else "missing_fact",
    )  # fmt: skip


def _times(citations: Sequence[Citation]) -> list[str]:
    calls = {citation.call.audit_id: citation.call for citation in citations if citation.call is not None}
    return sorted({call.called_at.strftime("%H:%M") for call in calls.values() if call.called_at is not None})
