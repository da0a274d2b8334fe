"""What people do about alerts: say that they looked, and why that is enough."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from audit.refusing import NotAllowed, recorded_refusal
from evidence.models import AgentAlert

PERMISSION = "evidence.acknowledge_alert"


def check_can_acknowledge(alert: AgentAlert, by: Any) -> None:
    """Raises NotAllowed when `by` cannot say that this alert was looked at."""
    if not by.has_perm(PERMISSION):
        raise NotAllowed("Your role acknowledges no alerts; someone on call or an admin does.")
    if alert.state != AgentAlert.State.OPEN:
        raise NotAllowed(f"This alert is {alert.get_state_display().lower()} already.")


@transaction.atomic
def acknowledge(pk: int, *, by: Any, reason: str) -> AgentAlert:
    """Say why an alert needs nothing more. Raises NotAllowed, or AgentAlert.DoesNotExist."""
    alert = AgentAlert.objects.select_for_update(of=("self",)).get(pk=pk)
    subject = f"agent {alert.agent}"
    with recorded_refusal(Kind.AGENT_ALERT_ACKNOWLEDGED, by, subject, alert=alert.pk):
        check_can_acknowledge(alert, by)
    alert.state, alert.acknowledged_by = AgentAlert.State.ACKNOWLEDGED, by
    alert.acknowledged_at, alert.reason = timezone.now(), reason
    alert.save(update_fields=["state", "acknowledged_by", "acknowledged_at", "reason"])
    log.record_with(
        Kind.AGENT_ALERT_ACKNOWLEDGED, log.Actor.person(by), subject=subject, summary=alert.sentence,
        args={"alert": alert.pk, "what": alert.what, "about": alert.about, "reason": reason},
    )  # fmt: skip
    return alert
