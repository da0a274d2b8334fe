"""Who may send an agreed answer, and when. Each rule raises its sentence."""

from __future__ import annotations

from collections.abc import Sequence

from gate.errors import NotAllowed, Stale
from gate.people import mail
from gate.people.models import Person
from gate.triage import receipts
from gate.triage.models import Draft, Sending


def check_can_send(person: Person, draft: Draft) -> None:
    """Raises NotAllowed when the role sends nothing, nobody agreed, or there is no mail."""
    if not person.has_perm("gate.send_answer"):
        raise NotAllowed("Your role sends no answers; someone on call does.")
    if draft.status != Draft.Status.AGREED:
        raise NotAllowed(f"Nobody agreed with {draft.ref}, so its answer goes to nobody.")
    if not mail.is_configured():
        raise NotAllowed("Mail is not set up here, so copy the answer instead; an operator sets COUNTERSEAL_SMTP_URL.")


def check_evidence_stands(draft: Draft) -> None:
    """Raises NotAllowed when a pass has lost what it rests on since somebody agreed, or nothing vouches for it now."""
    found = receipts.shown(draft)
    if found.faults:
        raise NotAllowed(f"{draft.ref} is no pass any more, so its answer goes to nobody. {found.faults[0]}")
    if found.waits:
        raise NotAllowed(f"Nothing is sent on a pass that is not sealed. {found.waits[0]} Send it once it is.")


def check_is_deliberate(earlier: Sequence[Sending], seen_sendings: int, again: bool) -> None:
    """Raises Stale when somebody sent meanwhile, NotAllowed when it may be there already and nobody said again."""
    if len(earlier) != seen_sendings:
        raise Stale(
            "The answer was sent while you were writing. Nothing of yours was sent; see below whom it went to.",
            seen=seen_sendings, current=len(earlier),
        )  # fmt: skip
    if not again and any(may_be_there(sending) for sending in earlier):
        raise NotAllowed("This answer may be with somebody already; say that you want to send it again.")


def may_be_there(sending: Sending) -> bool:
    """Whether somebody may have it: all but what a mail server refused."""
    return sending.status != Sending.Status.REFUSED
