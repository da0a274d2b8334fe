"""The Celery app. Tasks take an outbox id and are safe to run twice; each worker serves one queue with one role."""

import logging
import logging.config
import os
from typing import Any

from celery import Celery
from celery.exceptions import WorkerShutdown
from celery.signals import beat_init, heartbeat_sent, setup_logging, worker_init, worker_ready

from gate.config.lost_acks import NoticeLostAcks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")

app = Celery("counterseal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add(NoticeLostAcks)

log = logging.getLogger(__name__)

GIVES_WAY = 10  # steps of niceness


@setup_logging.connect
def log_as_everything_else(**_: Any) -> None:
    """Celery's lines have the form of all others: it sets up nothing of its own when somebody answers this signal."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


@worker_init.connect
@beat_init.connect
def check_before_start(**_: Any) -> None:
    """A worker whose database role may do more than its row of the roles table, or cannot be asked, does not start."""
    from django.db import Error, connection

    from gate.config import powers, releases

    try:
        powers.check_consumer()
    except (powers.TooPowerful, releases.NotUpgraded, Error) as refusal:
        log.error("%s", refusal)
        # An exit, because Celery logs any other exception of a signal and goes on.
        raise WorkerShutdown(1) from refusal
    finally:
        connection.close()  # the pool's children are forked after this


@worker_init.connect
def check_model(sender: Any, **_: Any) -> None:
    """Half of a model's configuration is said at the start, not at each question that a person then has to decide."""
    from django.core.exceptions import ImproperlyConfigured

    from gate.admission.answering import endpoint, protocols

    if _queue_of(sender) != "answers":
        return
    try:
        at = endpoint.configured()
        if at is not None:
            protocols.load(at.kind)  # now, and not while somebody waits for a first answer
    except ImproperlyConfigured as refusal:
        log.error("%s", refusal)
        raise WorkerShutdown(1) from refusal


@worker_init.connect
def give_way(sender: Any, **_: Any) -> None:
    """Trials take the processor only where nobody else wants it: a draft is waited for, a trial is not."""
    if _queue_of(sender) == "trials":
        os.nice(GIVES_WAY)


def _queue_of(worker: Any) -> str:
    """A worker is named after the one queue that it serves."""
    return str(worker.hostname).partition("@")[0]


@worker_ready.connect
def prove_at_start(sender: Any, **_: Any) -> None:
    """Sources are dark until their credentials are proven anew, and beat asks for that a while after the start only."""
    if _queue_of(sender) == "reads":
        app.send_task("evidence.tasks.certify_all", queue="reads", expires=100)


@heartbeat_sent.connect
def leave_heartbeat(sender: Any, **_: Any) -> None:
    """Celery's own heart beats while the worker has its broker; ours says so in the database."""
    from django.db import Error, connection

    from audit import heartbeats

    try:
        # By its queue, not its role: two workers share one, and neither may vouch for the other.
        heartbeats.beat(f"worker {_queue_of(sender.eventer)}")
    except Error as error:
        # The worker goes on: the missing heartbeat is what shows.
        log.warning("No heartbeat could be left: %s", str(error).strip())
    finally:
        connection.close()
