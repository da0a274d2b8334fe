"""What takes two people: one asks or drafts, and another confirms, or somebody takes it back.

The frame is here: such acts come one after another, the second hand is not the first, and each is decided once. What
an act does, what else has to hold for it and how it is recorded stays with the act.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from audit.refusing import NotAllowed

WAITING = "waiting"
# Whoever can write into the database could ask in another's name, and be the second hand to it.
UNVOUCHED = "The log does not say that this was asked for as it stands here."


@dataclass(frozen=True)
class Act:
    """Who may do something that takes two, whether one may do it alone, and the sentences that refuse it."""

    permission: str
    no_role: str  # to those whose role does not do this
    alone: str  # to whoever asked and would confirm too
    lapsed: str = ""  # about "{}" who asked and may not any more; empty where that does not matter
    allows_solo: bool = True  # one may do both, while nobody else may do either
    noun: str = "request"


def lock(turn: str) -> None:
    """Take this turn until the transaction ends: two at once could both be the first, or each rest on the other.

    A row lock would not do: before the first request there is no row.
    """
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [turn])


def check_may(act: Act, by: Any) -> None:
    """Raises NotAllowed when the role of `by` neither asks for this nor confirms it."""
    if not by.has_perm(act.permission):
        raise NotAllowed(act.no_role)


def check_may_decide(act: Act, request: Any, by: Any) -> None:
    """Raises NotAllowed when `by` may not decide about requests, or somebody has decided about this one."""
    check_may(act, by)
    if request.status != WAITING:
        raise NotAllowed(f"This {act.noun} was {request.status} already.")


def check_second(act: Act, asked_by: Any, by: Any) -> bool:
    """True when confirming would be solo. Raises NotAllowed when `by` cannot be the second hand."""
    if asked_by.pk != by.pk:
        if act.lapsed and not asked_by.has_perm(act.permission):
            raise NotAllowed(act.lapsed.format(asked_by))
        return False
    if not act.allows_solo or _is_open_to_another(act, by):
        raise NotAllowed(act.alone)
    return True


def _is_open_to_another(act: Act, by: Any) -> bool:
    others = get_user_model().objects.filter(is_active=True).exclude(pk=by.pk)
    return any(other.has_perm(act.permission) for other in others)


def decide(request: Any, by: Any, status: str, **also: Any) -> None:
    """Write down on a request who decided about it, when and how, in the caller's transaction."""
    decided = {"status": status, "decided_by": by, "decided_at": timezone.now(), **also}
    for name, value in decided.items():
        setattr(request, name, value)
    request.save(update_fields=list(decided))
