"""The relay: it hands the outbox's jobs to the broker, and hands them out again when the broker lost them.

Whatever happens here, a job is run by a worker or is still open: the relay only sends, it never marks a job done.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import psycopg
from celery import Celery
from celery.exceptions import QueueNotFound
from django.db import Error as DatabaseError
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from audit import heartbeats, outbox
from audit.listening import Listening
from audit.models import Outbox
from audit.troubles import Troubles, unreachable

log = logging.getLogger(__name__)

NAME = "relay"
MOST_IN_A_ROUND = 200  # then the heartbeat is due again


def due() -> QuerySet[Outbox]:
    """Open jobs that were never sent, and those sent or begun so long ago that their message must be lost."""
    stale = timezone.now() - outbox.STALE_AFTER
    seen = Greatest("sent_at", Coalesce("heartbeat_at", "sent_at"))
    return (
        Outbox.objects.alias(seen=seen)
        .filter(Q(sent_at=None) | Q(seen__lt=stale), done_at=None, gave_up_at=None)
        .order_by("id")
    )


@transaction.atomic
def send_next(app: Celery) -> bool:
    """Publish the first job that is due; False when there is none. Two relays at once skip each other's rows.

    Raises BrokerError, and the job stays due. A crash between publishing and commit sends it twice, which tasks bear.
    """
    job = due().select_for_update(skip_locked=True).first()
    if job is None:
        return False
    try:
        app.send_task(job.task, [job.pk], queue=job.queue)
    except QueueNotFound:
        # It would stand at the head of every round, and no worker would ever take it.
        _keep(job, gave_up_at=timezone.now(), error=f"There is no queue {job.queue}.")
        return True
    _keep(job, sent_at=timezone.now())
    return True


def _keep(job: Outbox, **changed: Any) -> None:
    Outbox.objects.filter(pk=job.pk).update(**changed)


class Relay:
    """One running relay: a connection that listens, and rounds of sending until it is told to stop."""

    def __init__(self, app: Celery, should_stop: Callable[[], bool]) -> None:
        self.app = app
        self.should_stop = should_stop
        self.listening = Listening(outbox.CHANNEL)
        self.troubles = Troubles(log, over="The relay is at work again.")

    def run(self) -> None:
        """Go on until told to stop. An outage of the database or the broker is said once, and waited out."""
        while not self.should_stop():
            if not self.round():
                self.listening.wait()
        self.listening.end()

    def round(self) -> bool:
        """Send what is due. True when there may be more."""
        more = False
        try:
            self.listening.begin()
            heartbeats.beat(NAME)
            more = all(send_next(self.app) for _ in range(MOST_IN_A_ROUND))
            self.troubles.say("")
        except BrokerError as error:
            self.troubles.say(f"The broker cannot be reached ({error}); jobs wait in the outbox.")
        except (DatabaseError, psycopg.Error) as error:
            self.troubles.say(unreachable(error))
            self.listening.end()
            connection.close()
        return more
