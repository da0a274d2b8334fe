"""A person has a source's credential proven again, now: after mending what a fact named, nobody waits for the next."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import log, outbox, seconding, twohands
from audit.kinds import Kind
from audit.models import Definition
from audit.refusing import NotAllowed, recorded_refusal
from evidence import proof
from evidence.models import ProofAsk

PERMISSION = "gate.change_definition"
APART = timedelta(seconds=20)  # a proof opens connections and tries some forty writes
TASK = "evidence.tasks.certify_asked"


class TooSoon(NotAllowed):
    """One was asked for a moment ago; nobody needs to read of that in the log."""

    is_attempt = False


def check_can_ask(source: Definition | None, by: Any) -> None:
    """Raises NotAllowed when `by` cannot have this source proven now."""
    if not by.has_perm(PERMISSION):
        raise NotAllowed("Your role has no source proven; an admin does.")
    if source is None:
        raise NotAllowed("No version of this source is in force, so there is nothing to prove.")
    if ProofAsk.objects.filter(source=source.name, asked_at__gt=timezone.now() - APART).exists():
        raise TooSoon("A proof was asked for a moment ago; look at this page again in a few seconds.")


@transaction.atomic
def ask(name: str, *, by: Any) -> ProofAsk:
    """Have the reads worker prove a source now. Raises NotAllowed."""
    seconding.lock(f"proof of {name}")
    source = twohands.active("source", name)
    with recorded_refusal(Kind.SOURCE_PROOF_ASKED, by, f"source {name}"):
        check_can_ask(source, by)
    asked = ProofAsk.objects.create(source=name, asked_by=str(by))
    outbox.enqueue(TASK, "reads", asked.pk)
    log.record_with(
        Kind.SOURCE_PROOF_ASKED, log.Actor.person(by), subject=f"source {name}", source=name, summary="prove it now"
    )
    return asked


def certify(ask_id: int) -> None:
    """Prove the source that was asked for, if it is still in force. Safe to run twice: a newer certificate counts."""
    source = twohands.active("source", ProofAsk.objects.get(pk=ask_id).source)
    if source is not None:
        proof.certify(source)
