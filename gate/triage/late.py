"""What came after a pass that closed an incident and speaks against it: late, and all the same a false pass.

No check can see what has not happened yet. A class says how long its passes are watched; a report within that time
opens the incident again. A person who opens it again speaks against its pass whenever that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from gate.people.models import Person
from gate.triage.models import Draft, Incident, LateEvent

MOST_SHOWN = 50


def reopen_watched(key: str, class_name: str, recovered_at: datetime | None, by: str) -> int | None:
    """Open again what a watched pass has closed under this key, and count it; None where no pass is watched.

    `recovered_at` is None for a report that it goes on. A report of recovery speaks against a pass only where it says
    that it went on until after the pass. The agents' plane sees nothing that is closed, so the database looks.
    """
    with connection.cursor() as cursor:
        cursor.execute("select triage_reopen_watched(%s, %s, %s, %s)", [key, class_name, recovered_at, by])
        found: int | None = cursor.fetchone()[0]
    return found


def count_reopening(incident: Incident, by: Person) -> None:
    """A person opens a closed incident again, in the caller's transaction: its pass, if it was one, counts as false."""
    newest = Draft.objects.filter(investigation__incident=incident).order_by("-pk").first()
    if newest is None or (newest.outcome, newest.status) != (Draft.Outcome.PASS, Draft.Status.AGREED):
        return
    LateEvent.objects.get_or_create(draft=newest, defaults={"what": LateEvent.What.REOPENED, "by": by.username})


def of_version(rule_hash: str) -> Sequence[LateEvent]:
    """The passes of a rule version that turned out to be none after they had closed something, newest first."""
    found = LateEvent.objects.filter(draft__rule_hash=rule_hash).select_related("draft__investigation__incident")
    return list(found.order_by("-pk")[:MOST_SHOWN])
