"""What the page of the alarm shows: every verification whose findings stand, and who may let approving go on."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from audit import alarm, overriding
from audit.alarm import Alarm
from audit.models import Override, Verification
from audit.refusing import why_not

MOST_SHOWN = 20  # verifications


class AlarmPage:
    """The alarm as one person sees it."""

    deed = "approving goes on"  # what confirming does

    def __init__(self, person: Any) -> None:
        self.person = person

    @cached_property
    def alarm(self) -> Alarm | None:
        return alarm.current()

    @cached_property
    def standing(self) -> list[Verification]:
        """The verifications whose findings stand, the newest first."""
        clean = Verification.objects.filter(is_full=True, is_clean=True).order_by("-id").values_list("id", flat=True)
        since = clean.first() or 0
        return list(Verification.objects.filter(id__gt=since, is_clean=False).order_by("-id")[:MOST_SHOWN])

    @cached_property
    def last_clean(self) -> Verification | None:
        return Verification.objects.filter(is_full=True, is_clean=True).order_by("-id").first()

    @cached_property
    def waiting(self) -> Override | None:
        return overriding.waiting()

    @cached_property
    def why_not_ask(self) -> str:
        """The sentence that keeps this person from asking for an override; empty when nothing does."""
        seen = self.alarm.verification if self.alarm else None
        return why_not(lambda: overriding.check_can_ask(self.person, seen))

    @cached_property
    def why_not_confirm(self) -> str:
        """The sentence that keeps this person from confirming what waits; empty when nothing does."""
        waiting = self.waiting
        return "" if waiting is None else why_not(lambda: overriding.check_can_confirm(waiting, self.person))
