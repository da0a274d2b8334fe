"""How wide an incident is: its own subject, those of the alerts grouped into it, and those that nobody named. Pure."""

from __future__ import annotations

from dataclasses import replace

from gate.triage.cases import IncidentFacts
from gate.triage.judge import read
from gate.triage.lines import Line
from gate.triage.provenance import Citation
from gate.triage.rules.language import Case, Rule
from gate.triage.sheet import SCOPE, Sheet

ALL_NAMED = "Every alert grouped into {ref} is named, and the facts are shown for each"
ALL_NAMED_EARN = "The subjects of all alerts in the group, and answers for each of them"
NOT_ALL = "The incident is wider than its subjects"


def by_subject(
    rule: Rule, citations: tuple[Citation, ...], incident: IncidentFacts
) -> list[tuple[IncidentFacts, tuple[Citation, ...]]]:
    """The incident once for each subject in it, each with what was cited for that one.

    What is about none of them stays with the incident's own subject, whose lines then say why it does not count.
    """
    everyone = [replace(incident, subject=dict(subject)) for subject in (incident.subject, *incident.members)]
    if len(everyone) == 1:
        return [(incident, citations)]
    about = [[_is_about(rule, citation, whom) for citation in citations] for whom in everyone]
    strays = [not any(column) for column in zip(*about, strict=True)]
    about[0] = [own or stray for own, stray in zip(about[0], strays, strict=True)]
    return [
        (whom, tuple(citation for citation, is_meant in zip(citations, meant, strict=True) if is_meant))
        for whom, meant in zip(everyone, about, strict=True)
    ]


def _is_about(rule: Rule, citation: Citation, whom: IncidentFacts) -> bool:
    """Whether the call asked about this subject, for a need of the fact that it is cited for."""
    if citation.call is None or not citation.is_readable:
        return False
    nothing = Case(whom, {fact.name: () for fact in rule.facts})
    for fact in rule.facts:
        for need in fact.needs:
            if fact.name == citation.fact and fact.means(need, citation.call):
                answer = read(Line(), need, citation.call, "")
                if answer is not None and Line().holds(need.asked, answer, nothing, ""):
                    return True
    return False


def check_all_named(sheet: Sheet, incident: IncidentFacts) -> None:
    """A line of its own where an incident has members, or should have more than were delivered."""
    missing: object = incident.undelivered
    is_whole = type(missing) is int and missing == 0
    if is_whole and not incident.members:
        return
    line = Line(seen=f"{len(incident.members) + 1} named")
    if not is_whole:
        why = f"The monitor grouped more alerts into {incident.ref} than it named ({missing}): nobody looked there."
        line.worsen("fails", f"{missing} not named", why, NOT_ALL)
    sheet.close(
        line, fact=SCOPE, title=ALL_NAMED, earn=ALL_NAMED_EARN, predicate=SCOPE, audit_ids=(), code="members_unknown"
    )
