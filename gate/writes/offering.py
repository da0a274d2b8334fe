"""Statements that wait for a key's signature: kept here for five minutes, taken once, by the session that asked."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

from django.utils import timezone

from gate.errors import NotAllowed
from gate.people import key_assertions, keys
from gate.people.key_assertions import BadAssertion
from gate.people.key_challenges import GONE, session_digest
from gate.people.models import Person
from gate.writes import digests
from gate.writes.assertions import challenge_of
from gate.writes.models import Decision, OfferedStatement, WriteRequest

LASTS = timedelta(minutes=5)


def offer(decision: Decision, session_key: str) -> bytes:
    """Keep what a decision would say; the challenge that stands for it. Old offers are cleared away."""
    now = timezone.now()
    OfferedStatement.objects.filter(expires_at__lt=now).delete()
    nonce = secrets.token_hex(32)
    statement = digests.approval_statement(decision, approver=decision.by.username, nonce=nonce)
    challenge = challenge_of(statement)
    OfferedStatement.objects.create(
        write=decision.write, by=decision.by, reason=decision.reason, statement=statement, challenge=challenge.hex(),
        session=session_digest(session_key), expires_at=now + LASTS,
    )  # fmt: skip
    return challenge


def take(write: WriteRequest, by: Person, sent: str, session_key: str) -> tuple[OfferedStatement, dict[str, Any]]:
    """What somebody's key signed, with its assertion. It is used up whether the signature holds or not.

    Raises NotAllowed.
    """
    try:
        challenge = key_assertions.challenge_of(key_assertions.read(sent))
    except BadAssertion as problem:
        raise NotAllowed(str(problem)) from problem
    offered = OfferedStatement.objects.filter(
        write=write, by=by, challenge=challenge.hex(), session=session_digest(session_key)
    ).first()
    if offered is None or not _use_up(offered):
        raise NotAllowed(GONE)
    _, assertion = keys.use(by, sent, challenge, used_for=write.ref)
    return offered, assertion


def _use_up(offered: OfferedStatement) -> bool:
    # Compare and set: of two at once, one has it.
    now = timezone.now()
    unused = OfferedStatement.objects.filter(pk=offered.pk, used_at=None, expires_at__gt=now)
    return unused.update(used_at=now) == 1
