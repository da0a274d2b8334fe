"""Where triage repeats what an entry holds: for the page of a redaction, which names each place."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.urls import reverse

from audit.copies import Copy
from audit.kinds import Kind
from audit.models import Entry
from gate.triage.models import Comment, Draft, Incident, Investigation
from gate.triage.rule_models import PromotedCase
from gate.triage.trace_models import Trace

REPEATED_BY_TRACES = (
    Kind.CALL_STARTED, Kind.CALL_FINISHED, Kind.FINDINGS_SUBMITTED, Kind.INVESTIGATION_STARTED, Kind.TRACE_UPLOADED,
)  # fmt: skip
WORDS = {
    True: "shows the agent's answer and notes; they are cleared with it.",
    False: "has the agent's answer and notes, which may repeat it.",
}


def of(entry: Entry) -> Iterable[Copy]:
    """The places in incidents, investigations and drafts."""
    if entry.kind == Kind.COMMENT_ADDED:
        yield from _comments(entry)
    elif entry.kind in (Kind.INCIDENT_OPENED, Kind.INCIDENT_UPDATED):
        yield from _incident(entry)
    elif entry.kind in (Kind.CALL_STARTED, Kind.CALL_FINISHED, Kind.FINDINGS_SUBMITTED, Kind.VERDICT_RENDERED):
        yield from _investigation(entry)
    if entry.kind in REPEATED_BY_TRACES:
        yield from _traces(entry)


def clear(redaction: int) -> None:
    """Clear what triage repeats of a redacted entry: comments, findings' prose, values that checks read."""
    with connection.cursor() as cursor:
        cursor.execute("select triage_clear_copies(%s)", [redaction])


def _comments(entry: Entry) -> Iterable[Copy]:
    for comment in Comment.objects.filter(entry_seq=entry.seq).select_related("incident"):
        yield Copy(comment.incident.ref, _page(comment.incident), "shows the comment in full; it is cleared with it.")


def _incident(entry: Entry) -> Iterable[Copy]:
    for incident in Incident.objects.filter(pk=entry.incident_id or 0):
        yield Copy(incident.ref, _page(incident), "keeps its title, subject and facts, and briefs agents with them.")
    started = Entry.objects.filter(kind=Kind.INVESTIGATION_STARTED, incident_id=entry.incident_id).order_by("seq")
    for one in started:
        yield Copy(one.ref, _entry(one), "holds a briefing that repeats the incident's facts; ask to redact it too.")


def _investigation(entry: Entry) -> Iterable[Copy]:
    """What was handed in and decided after a call: prose, checks and receipts quote what was read."""
    if not entry.run_id.isdecimal():
        return
    for look in (
        Investigation.objects.filter(pk=int(entry.run_id)).exclude(submitted_at=None).select_related("incident")
    ):
        yield Copy(look.incident.ref, _page(look.incident), WORDS[entry.kind == Kind.FINDINGS_SUBMITTED])
    for draft in Draft.objects.filter(investigation=int(entry.run_id)):
        yield Copy(
            draft.ref,
            reverse("gate:draft", args=[draft.pk]),
            "shows values that its checks read; those of this entry are cleared with it.",
        )
    if entry.kind in (Kind.CALL_STARTED, Kind.CALL_FINISHED):
        yield from _cases(entry)
    quoting = (Kind.FINDINGS_SUBMITTED, Kind.VERDICT_RENDERED)
    for one in Entry.objects.filter(kind__in=quoting, run_id=entry.run_id).exclude(pk=entry.pk).order_by("seq"):
        yield Copy(one.ref, _entry(one), "holds findings or a receipt that may quote it; ask to redact it too.")


def _cases(entry: Entry) -> Iterable[Copy]:
    # Also one of another incident that cited it.
    for case in PromotedCase.objects.filter(document__contains=f'"{entry.ref}"').defer("document"):
        sentence = "is a case for replay that holds its calls; this one is cleared with it, and the case fails then."
        yield Copy(case.name, reverse("gate:case_file", args=[case.name]), sentence)


def _traces(entry: Entry) -> Iterable[Copy]:
    """A trace is the client's own account of all that was read and said."""
    found = Trace.objects.filter(content__isnull=False).select_related("investigation").defer("content", "report")
    if entry.kind == Kind.TRACE_UPLOADED:
        found = found.filter(entry_seq=entry.seq)
    else:
        found = found.filter(investigation_id=int(entry.run_id) if entry.run_id.isdecimal() else 0)
    for trace in found:
        look = trace.investigation
        address = reverse("gate:traces", args=[look.incident_id, look.pk])
        yield Copy(f"A-{trace.entry_seq}", address, "uploaded a trace, which may repeat it; it is cleared with it.")


def _page(incident: Incident) -> str:
    return reverse("gate:incident", args=[incident.pk])


def _entry(entry: Entry) -> str:
    return reverse("audit:entry", args=[entry.seq])
