"""Letters about alerts, to the person who answers for the agent.

The worker finds alerts, and only the people's plane may write in our name (it alone knows the mail server). So each of
its processes looks now and then, and an alert's row is the job: it is claimed before its letter goes out, a try that
failed is followed by another, and one that may have arrived is not. What came of it stands with the alert.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import datetime, timedelta

import psycopg
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import F, Q
from django.utils import timezone

from audit.models import Agent
from evidence.models import AgentAlert
from evidence.monitoring_models import Letter
from gate.people import letters, mail
from gate.people.models import Person

EVERY = 30.0  # seconds
MOST_AT_ONCE = 20
# After each try that failed. They outlast a mail server's upgrade, and the hour in which one person gets only so many.
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240))
LONGEST_TRY = timedelta(minutes=10)  # a mail server that answers each command late takes less
LOST = "The process that sent it ended meanwhile; it is not sent again, for it may have arrived."
log = logging.getLogger(__name__)


def start() -> None:
    """Tell owners of alerts for as long as this process lives, where mail is set up."""
    if mail.is_configured():
        threading.Thread(target=_go_on, name="letters about alerts", daemon=True).start()


def _go_on() -> None:
    while True:
        try:
            send_due(timezone.now())
        except (DatabaseError, psycopg.Error):
            log.exception("Could not look for alerts to write about; trying again in %d s.", EVERY)
        finally:
            connection.close()
        time.sleep(EVERY)


def send_due(now: datetime) -> int:
    """Write about the alerts whose letter is due and that nobody has looked at. How many owners were written to."""
    _mark_lost(now)
    standing = AgentAlert.objects.filter(state=AgentAlert.State.OPEN, letter=Letter.DUE)
    due = standing.filter(Q(letter_at=None) | Q(letter_at__lte=now)).order_by("pk")[:MOST_AT_ONCE]
    return sum(_tell(alert, now) for alert in due if _claim(alert, now))


def _mark_lost(now: datetime) -> None:
    """A process that died over a letter said nothing of it, and nobody else knows."""
    begun = AgentAlert.objects.filter(letter=Letter.UNDER_WAY, letter_at__lt=now - LONGEST_TRY)
    begun.update(letter=Letter.UNKNOWN, letter_at=now, letter_why=LOST)


def _claim(alert: AgentAlert, now: datetime) -> bool:
    # Another process may have been there first, or somebody has looked meanwhile.
    still = AgentAlert.objects.filter(
        pk=alert.pk, state=AgentAlert.State.OPEN, letter=Letter.DUE, letter_tries=alert.letter_tries
    )  # fmt: skip
    return still.update(letter=Letter.UNDER_WAY, letter_at=now, letter_tries=F("letter_tries") + 1) == 1


def _tell(alert: AgentAlert, now: datetime) -> bool:
    owner = _owner(alert.agent)
    if owner is None or not owner.email:
        why = f"{owner or 'Nobody'} {'has no e-mail address' if owner else 'answers for the agent any more'}."
        _note(alert, Letter.GIVEN_UP, now, why)
        return False
    outcome = letters.tell_of_alert(owner, alert.agent, alert.sentence)
    if not outcome.why_not:
        _note(alert, Letter.TAKEN, now)
    elif outcome.is_doubtful:
        _note(alert, Letter.UNKNOWN, now, outcome.why_not)
    else:
        _wait(alert, now, outcome.why_not)
    return not outcome.why_not


def _wait(alert: AgentAlert, now: datetime, why: str) -> None:
    if alert.letter_tries < len(WAITS):
        _note(alert, Letter.DUE, now + WAITS[alert.letter_tries], why)
    else:
        _note(alert, Letter.GIVEN_UP, now, why)


def _note(alert: AgentAlert, letter: Letter, at: datetime, why: str = "") -> None:
    AgentAlert.objects.filter(pk=alert.pk).update(letter=letter, letter_at=at, letter_why=why)


def _owner(agent: str) -> Person | None:
    found = Agent.objects.filter(name=agent, owner__is_active=True).select_related("owner").first()
    return found.owner if found else None
