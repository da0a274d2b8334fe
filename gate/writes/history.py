"""What happened to a write, newest first, as the log has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from audit import reading
from audit.kinds import Kind
from audit.models import Entry
from gate.writes.models import Decision, WriteRequest

MOST_SHOWN = 50

DID = {
    Kind.WRITE_PROPOSED: "proposed it",
    Kind.WRITE_ADMITTED: "checked it, and lets people decide",
    Kind.WRITE_BLOCKED: "checked and blocked it",
    Kind.WRITE_LOOKED_AT: "took a first look",
    Kind.WRITE_PREVIEWED: "made a preview",
    Kind.WRITE_APPROVED: "approved it",
    Kind.WRITE_REJECTED: "rejected it",
    Kind.WRITE_CHANGES_REQUESTED: "requested changes",
    Kind.WRITE_EDITED: "edited it",
    Kind.WRITE_WITHDRAWN: "withdrew it",
    Kind.WRITE_EXPIRED: "let it expire",
    Kind.WRITE_CLAIMED: "claimed it",
    Kind.WRITE_EXECUTED: "ran it once",
    Kind.WRITE_REFUSED_STALE: "refused it as stale",
    Kind.WRITE_FAILED: "could not run it",
    Kind.WRITE_UNKNOWN: "does not know yet if it ran",
    Kind.WRITE_SETTLED: "settled it",
    Kind.WRITE_GLASS_REVIEWED: "reviewed afterwards that it was approved alone",
    Kind.CANARY_CAUGHT: "caught it: it was a canary",
    Kind.CANARY_APPROVED: "approved it: it was a canary",
    Kind.COMMENT_ADDED: "commented",
    Kind.PERSON_REFUSED: "was refused",
}
ALONE = "approved it alone, in an emergency"
NOTED = frozenset({
    Kind.WRITE_ADMITTED, Kind.WRITE_BLOCKED, Kind.WRITE_PREVIEWED, Kind.WRITE_CLAIMED, Kind.WRITE_EXPIRED,
    Kind.PERSON_REFUSED, Kind.WRITE_GLASS_REVIEWED, Kind.CANARY_CAUGHT, Kind.CANARY_APPROVED, Kind.COMMENT_ADDED,
})  # fmt: skip
CSS = {Entry.ActorKind.PERSON: "is-person", Entry.ActorKind.AGENT: "is-agent"}


@dataclass(frozen=True)
class Event:
    """One line of the timeline."""

    seq: int
    ref: str
    who: str
    did: str
    css: str
    note: str
    is_noted: bool  # the words alone do not say enough
    at: datetime


def of(write: WriteRequest) -> list[Event]:
    """The write's entries, newest first."""
    found = list(Entry.objects.filter(subject=write.ref, kind__in=list(DID)).order_by("-seq")[:MOST_SHOWN])
    alone = _given_alone(found)
    return [_event(entry, is_alone=entry.pk in alone) for entry in found]


def _event(entry: Entry, *, is_alone: bool) -> Event:
    kind, css = Kind(entry.kind), CSS.get(Entry.ActorKind(entry.actor_kind), "")
    # An approval's reason is hidden from who is still to decide; after one that was given alone, nobody is.
    return Event(
        entry.seq, entry.ref, _who(entry), ALONE if is_alone else DID[kind], css, entry.error or entry.summary,
        is_alone or kind in NOTED, entry.at,
    )  # fmt: skip


def _given_alone(entries: list[Entry]) -> set[UUID]:
    """The approvals that broke the glass. The kind of an entry does not say it; what was decided does."""
    approvals = [entry for entry in entries if entry.kind == Kind.WRITE_APPROVED]
    contents = reading.contents_of(approvals) if approvals else {}
    return {
        key for key, content in contents.items()
        if content.is_readable and isinstance(content.args, dict)
        and content.args.get("act") == Decision.Act.BREAK_GLASS
    }  # fmt: skip


def _who(entry: Entry) -> str:
    return entry.actor.capitalize() if entry.actor_kind == Entry.ActorKind.PROCESS else entry.actor
