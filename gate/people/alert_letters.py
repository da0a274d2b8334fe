"""Letters about alerts, to the person who answers for the agent.

The worker finds alerts, and only the people's plane may write in our name (it alone knows the mail server). So each of
its processes looks now and then; an alert is claimed before its letter goes out, so nobody is told twice. A process
that dies in between has told nobody: the alert still stands on the agent's page, and in the rail.
"""

from __future__ import annotations

import logging
import threading
import time

import psycopg
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from audit.models import Agent
from evidence.models import AgentAlert
from gate.people import letters, mail
from gate.people.models import Person

EVERY = 30.0  # seconds
MOST_AT_ONCE = 20
log = logging.getLogger(__name__)


def start() -> None:
    """Tell owners of alerts for as long as this process lives, where mail is set up."""
    if mail.is_configured():
        threading.Thread(target=_go_on, name="letters about alerts", daemon=True).start()


def _go_on() -> None:
    while True:
        try:
            send_due()
        except (DatabaseError, psycopg.Error):
            log.exception("Could not look for alerts to write about; trying again in %d s.", EVERY)
        finally:
            connection.close()
        time.sleep(EVERY)


def send_due() -> int:
    """Write about the alerts that nobody was told of and nobody has looked at. How many owners were written to."""
    due = AgentAlert.objects.filter(state=AgentAlert.State.OPEN, mailed_at=None).order_by("pk")[:MOST_AT_ONCE]
    return sum(_tell(alert) for alert in due if _claim(alert))


def _claim(alert: AgentAlert) -> bool:
    # Another process may have been there first.
    return AgentAlert.objects.filter(pk=alert.pk, mailed_at=None).update(mailed_at=timezone.now()) == 1


def _tell(alert: AgentAlert) -> bool:
    owner = _owner(alert.agent)
    if owner is None or not owner.email:
        return False  # it stands on the agent's page all the same
    return not letters.tell_of_alert(owner, alert.agent, alert.sentence).why_not


def _owner(agent: str) -> Person | None:
    found = Agent.objects.filter(name=agent, owner__is_active=True).select_related("owner").first()
    return found.owner if found else None
