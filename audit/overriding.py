"""Overriding an alarm: one person asks that approving goes on although the log does not verify, another confirms.

Until there is a second one who may, one may do both; that is recorded and shown as *solo*.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from audit import alarm, log, seconding, vouching
from audit.alarm import Alarm
from audit.kinds import Kind
from audit.models import Override
from audit.refusing import NotAllowed, recorded_refusal

PERMISSION = "audit.override"
ACT = seconding.Act(
    PERMISSION,
    no_role="Your role overrides no alarm; ask an admin.",
    alone="You asked for this, so another admin must confirm it.",
    lapsed="{}, who asked for this, may not override any more; withdraw it.",
)
TURN = "override"
Status = Override.Status


def waiting() -> Override | None:
    """The request that waits to be confirmed."""
    return Override.objects.filter(status=Status.WAITING).select_related("asked_by").first()


@transaction.atomic
def ask(*, by: Any, reason: str, seen: int | None) -> Override:
    """Ask that approving goes on. `seen` is the verification that the page showed. Raises NotAllowed."""
    seconding.lock(TURN)
    with recorded_refusal(Kind.LOG_OVERRIDDEN, by, "log", act="ask", verification=seen):
        stands = check_can_ask(by, seen)
    wanted = Override.objects.create(
        verification=stands.verification, sealer=stands.sealer, reason=reason, asked_by=by, asked_by_name=str(by)
    )
    _record(wanted, by, "asked", f"asked: {reason}")
    return wanted


@transaction.atomic
def confirm(pk: int, *, by: Any) -> Override:
    """Let approving go on, as another person asked. Raises NotAllowed, and Override.DoesNotExist."""
    wanted = _taken_up(pk)
    with recorded_refusal(Kind.LOG_OVERRIDDEN, by, "log", act="confirm", override=pk):
        solo = check_can_confirm(wanted, by)
    seconding.decide(wanted, by, Status.CONFIRMED, decided_by_name=str(by), solo=solo)
    how = "alone" if wanted.solo else f"asked by {wanted.asked_by_name}"
    _record(wanted, by, "ok", f"approving goes on, {how}: {wanted.reason}")
    return wanted


@transaction.atomic
def withdraw(pk: int, *, by: Any) -> Override:
    """Take a request back; whoever may override may. Raises NotAllowed, and Override.DoesNotExist."""
    wanted = _taken_up(pk)
    with recorded_refusal(Kind.LOG_OVERRIDDEN, by, "log", act="withdraw", override=pk):
        seconding.check_may_decide(ACT, wanted, by)
    seconding.decide(wanted, by, Status.WITHDRAWN, decided_by_name=str(by))
    _record(wanted, by, "withdrawn", f"withdrawn: {wanted.reason}")
    return wanted


def _taken_up(pk: int) -> Override:
    seconding.lock(TURN)
    return Override.objects.select_related("asked_by").get(pk=pk)


def check_can_ask(by: Any, seen: int | None) -> Alarm:
    """The alarm that would be overridden. Raises NotAllowed."""
    seconding.check_may(ACT, by)
    stands = alarm.current()
    if stands is None or not stands.is_off:
        raise NotAllowed("Approving is on, so there is nothing to override.")
    if stands.verification != seen:
        raise NotAllowed("Another verification has found something since; look at that first.")
    if waiting():
        raise NotAllowed("A request to override this waits already; confirm or withdraw it first.")
    return stands


def check_can_confirm(wanted: Override, by: Any) -> bool:
    """True when confirming would be solo. Raises NotAllowed with the sentence that says why it cannot be."""
    seconding.check_may_decide(ACT, wanted, by)
    if not vouching.is_vouched(wanted, "log"):
        raise NotAllowed(f"{seconding.UNVOUCHED} Withdraw it, and ask anew.")
    stands = alarm.current()
    if stands is None or not stands.is_off:
        raise NotAllowed("Approving is on again, so there is nothing to override; withdraw the request.")
    if (stands.verification, stands.sealer) != (wanted.verification, wanted.sealer):
        raise NotAllowed("Something else was found since this was asked for; withdraw it, look, and ask anew.")
    return seconding.check_second(ACT, wanted.asked_by, by)


def _record(wanted: Override, by: Any, status: str, summary: str) -> None:
    log.record_with(
        Kind.LOG_OVERRIDDEN, log.Actor.person(by), subject="log", summary=summary, status=status,
        args={"override": wanted.pk, "verification": wanted.verification, "sealer": wanted.sealer,
              "reason": wanted.reason, "asked_by": wanted.asked_by.get_username(), "solo": wanted.solo,
              "rows": vouching.rows(wanted)},
    )  # fmt: skip
