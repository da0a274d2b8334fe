"""Redaction: a part of an entry goes for good, when one person asks for it and another confirms it.

There is no acting alone here, not even where there is one admin: what is gone cannot be looked at again. The database
refuses the change too, unless the row of the request names two people and the log says it in the same transaction.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction

from audit import copies, holds, log, payloads, seconding, vouching
from audit.kinds import Kind
from audit.models import Entry, Payload, Redaction
from audit.refusing import NotAllowed, recorded_refusal

PERMISSION = "audit.redact"
ACT = seconding.Act(
    PERMISSION,
    no_role="Your role redacts no entries; ask an admin.",
    alone="You asked for this redaction, so another admin must confirm it; it cannot be done alone.",
    lapsed="{}, who asked for this, may not redact any more; withdraw it.",
    allows_solo=False,
)
TURN = "redaction"  # the database's function takes the same turn, and shares it with whoever fills the search
Status = Redaction.Status


def waiting_for(entry: Entry) -> Redaction | None:
    """The request about an entry that waits for a second person."""
    return Redaction.objects.filter(entry_id=entry.pk, status=Status.WAITING).select_related("asked_by").first()


@transaction.atomic
def ask(entry: Entry, *, part: str, reason: str, by: Any) -> Redaction:
    """Ask for a part of an entry to be taken away. Raises NotAllowed."""
    seconding.lock(TURN)
    wanted = Redaction(entry_seq=entry.seq, entry_id=entry.pk, part=part, reason=reason, asked_by=by)
    with recorded_refusal(Kind.LOG_REDACTION_ASKED, by, entry.ref, act="ask", part=part):
        check_can_ask(entry, wanted.parts, by)
    if set(parts_there(entry)) == set(wanted.parts):
        # Nothing is left then: the newest entry about it says so of both, whatever earlier ones took.
        wanted.part = Redaction.Part.BOTH
    wanted.save()
    _record(wanted, by, "ok", f"{wanted.get_part_display()}: {reason}")
    return wanted


@transaction.atomic
def confirm(pk: int, *, by: Any) -> log.Recorded:
    """Take away what another person asked for. Raises NotAllowed, and Redaction.DoesNotExist."""
    wanted = _taken_up(pk)
    with recorded_refusal(Kind.LOG_REDACTION_ASKED, by, wanted.ref, act="confirm", redaction=pk):
        entry = check_can_confirm(wanted, by)
    seconding.decide(wanted, by, Status.CONFIRMED)
    said = {
        "entry": wanted.entry_seq,
        "entry_id": str(wanted.entry_id),
        "part": wanted.part,
        "reason": wanted.reason,
        "asked_by": wanted.asked_by.get_username(),
        "rows": vouching.rows(wanted),
    }
    summary = f"{wanted.get_part_display()}, asked by {wanted.asked_by}: {wanted.reason}"
    receipt = log.record_with(
        Kind.LOG_REDACTED, log.Actor.person(by), subject=wanted.ref, incident_id=entry.incident_id, summary=summary,
        args=said,
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("select audit_redact(%s, %s)", [pk, payloads.pack(said).kept.decode("ascii")])
    copies.clear(pk)
    return receipt


@transaction.atomic
def withdraw(pk: int, *, by: Any) -> Redaction:
    """Take a request back; whoever may redact may. Raises NotAllowed, and Redaction.DoesNotExist."""
    wanted = _taken_up(pk)
    with recorded_refusal(Kind.LOG_REDACTION_ASKED, by, wanted.ref, act="withdraw", redaction=pk):
        seconding.check_may_decide(ACT, wanted, by)
    seconding.decide(wanted, by, Status.WITHDRAWN)
    _record(wanted, by, "withdrawn", f"withdrawn: {wanted.get_part_display()}")
    return wanted


def _taken_up(pk: int) -> Redaction:
    seconding.lock(TURN)
    return Redaction.objects.select_for_update(of=("self",)).select_related("asked_by").get(pk=pk)


def check_can_ask(entry: Entry, parts: tuple[str, ...], by: Any) -> None:
    """Raises NotAllowed with the sentence that says why these parts of an entry cannot be redacted."""
    seconding.check_may(ACT, by)
    _check_may_go(entry, parts)
    if waiting_for(entry):
        raise NotAllowed(f"A request about {entry.ref} waits already; confirm or withdraw it first.")
    there = parts_there(entry)
    if missing := [part for part in parts if part not in there]:
        raise NotAllowed(f"Of {entry.ref}, {' and '.join(missing)} is gone already; choose what is there.")


def check_can_confirm(wanted: Redaction, by: Any) -> Entry:
    """The entry. Raises NotAllowed with the sentence that says why `by` cannot confirm the request."""
    seconding.check_may_decide(ACT, wanted, by)
    if not vouching.is_vouched(wanted, wanted.ref):
        raise NotAllowed(f"{seconding.UNVOUCHED} Withdraw it, and ask anew.")
    seconding.check_second(ACT, wanted.asked_by, by)
    entry = Entry.objects.filter(pk=wanted.entry_id).first()
    if entry is None:
        raise NotAllowed(f"{wanted.ref} is not there any more; withdraw the request.")
    _check_may_go(entry, wanted.parts)
    return entry


def _check_may_go(entry: Entry, parts: tuple[str, ...]) -> None:
    if entry.kind.startswith("log."):
        raise NotAllowed("An entry about the log itself is not redacted: others rest on what it says.")
    if entry.kind in vouching.KINDS and "args" in parts:
        raise NotAllowed(f"The arguments of {entry.ref} are not redacted: they vouch for what it has put in force.")
    if held := holds.on_entry(entry):
        raise NotAllowed(f"A hold lies on {held[0].subject} ({held[0].reason}), so {entry.ref} is not redacted.")


def parts_there(entry: Entry) -> tuple[str, ...]:
    """Which parts of an entry are still kept."""
    payload = Payload.objects.filter(pk=entry.pk).first()
    return tuple(part for part in ("args", "result") if payload is not None and getattr(payload, part) is not None)


def _record(wanted: Redaction, by: Any, status: str, summary: str) -> None:
    log.record_with(
        Kind.LOG_REDACTION_ASKED, log.Actor.person(by), subject=wanted.ref, summary=summary, status=status,
        args={"redaction": wanted.pk, "of": str(wanted.entry_id), "part": wanted.part, "reason": wanted.reason,
              "rows": vouching.rows(wanted)},
    )  # fmt: skip
