from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import QueueNotFound
from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from audit import heartbeats, listening, outbox, relay
from audit.models import Heartbeat, Outbox

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = timedelta(seconds=60)
JUST_NOW = timedelta(seconds=1)


class Broker:
    """Stands where the Celery app stands, and keeps what was published."""

    def __init__(self, *errors: Exception | None) -> None:
        self.sent: list[tuple[str, int, str]] = []
        self.errors = list(errors)

    def send_task(self, name: str, args: list[int], *, queue: str) -> None:
        error = self.errors.pop(0) if self.errors else None
        if error:
            raise error
        self.sent.append((name, args[0], queue))


def job(subject_id: int = 1, **ages: timedelta | None) -> Outbox:
    """A job whose moments lie so far back."""
    made = Outbox.objects.create(task="gate.x", queue="verdicts", subject_id=subject_id)
    now = timezone.now()
    Outbox.objects.filter(pk=made.pk).update(**{name: now - age for name, age in ages.items() if age is not None})
    return made


def rounds(broker: Any, most: int = 10) -> int:
    """Send until nothing is due; how many were taken."""
    return next(number for number in range(most) if not relay.send_next(broker))


def test_a_new_job_is_published_once() -> None:
    made, broker = job(), Broker()
    assert rounds(broker) == 1
    assert broker.sent == [("gate.x", made.pk, "verdicts")]
    assert Outbox.objects.get(pk=made.pk).sent_at is not None


@pytest.mark.parametrize(
    ("ages", "is_due"),
    [
        ({}, True),
        ({"sent_at": JUST_NOW}, False),
        ({"sent_at": LONG_AGO}, True),
        ({"sent_at": LONG_AGO, "heartbeat_at": JUST_NOW}, False),
        ({"sent_at": LONG_AGO, "heartbeat_at": LONG_AGO}, True),
        ({"sent_at": JUST_NOW, "heartbeat_at": LONG_AGO}, False),
        ({"sent_at": LONG_AGO, "done_at": LONG_AGO}, False),
        ({"sent_at": LONG_AGO, "gave_up_at": LONG_AGO}, False),
        ({"done_at": LONG_AGO}, False),
    ],
)
def test_which_jobs_are_due(ages: dict[str, timedelta], is_due: bool) -> None:
    made = job(**ages)
    assert relay.due().filter(pk=made.pk).exists() is is_due


def test_a_job_that_the_broker_lost_is_published_again() -> None:
    made, broker = job(sent_at=LONG_AGO), Broker()
    rounds(broker)
    assert [number for _, number, _ in broker.sent] == [made.pk]
    assert rounds(broker) == 0


def test_a_dead_broker_leaves_the_job_due() -> None:
    made, broker = job(), Broker(BrokerError("no broker"))
    with pytest.raises(BrokerError):
        relay.send_next(broker)
    assert Outbox.objects.get(pk=made.pk).sent_at is None
    assert rounds(broker) == 1


def test_the_relay_survives_a_dead_broker_and_says_so(caplog: Any) -> None:
    job()
    broker = Broker(BrokerError("no broker"), BrokerError("no broker"))
    running = relay.Relay(broker, lambda: False)  # type: ignore[arg-type]
    with caplog.at_level("INFO"):
        for _ in range(3):
            running.round()
    running.listening.end()
    assert len(broker.sent) == 1
    assert [record.message.split("(")[0].strip() for record in caplog.records] == [
        "The broker cannot be reached",
        "The relay is at work again.",
    ]


def test_the_relay_survives_a_database_that_ends_its_sessions(superuser: Any) -> None:
    broker = Broker()
    running = relay.Relay(broker, lambda: False)  # type: ignore[arg-type]
    running.round()
    superuser.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename like 'counterseal%'")
    running.round()
    running.listening.wait()
    made = job()
    running.round()
    running.listening.end()
    assert [number for _, number, _ in broker.sent] == [made.pk]


def test_a_job_for_a_queue_that_nobody_serves_is_given_up_and_does_not_block() -> None:
    bad, good = job(1), job(2)
    broker = Broker(QueueNotFound("x"))
    rounds(broker)
    assert [number for _, number, _ in broker.sent] == [good.pk]
    assert "no queue" in Outbox.objects.get(pk=bad.pk).error


def test_two_relays_at_once_send_a_job_once(cluster_socket: Any) -> None:
    import psycopg

    made = job()
    name = connection.settings_dict["NAME"]
    with psycopg.connect(
        host=str(cluster_socket), user="counterseal_owner", password="test-owner", dbname=name
    ) as other:
        other.execute("select id from audit_outbox where id = %s for update", [made.pk])
        assert not relay.send_next(Broker())  # type: ignore[arg-type]
    assert relay.send_next(Broker())  # type: ignore[arg-type]


def test_a_notice_wakes_the_relay(as_role: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "SECONDS_BETWEEN_LOOKS", 100.0)
    running = relay.Relay(Broker(), lambda: False)  # type: ignore[arg-type]
    running.round()
    outbox.enqueue("gate.x", "verdicts", 9)
    before = timezone.now()
    running.listening.wait()
    running.listening.end()
    assert (timezone.now() - before).total_seconds() < listening.SECONDS_BETWEEN_LOOKS / 2  # the notice, not the look


def test_it_works_with_the_workers_role_and_leaves_a_heartbeat(as_role: Any) -> None:
    job()
    as_role("worker")
    broker = Broker()
    running = relay.Relay(broker, lambda: False)  # type: ignore[arg-type]
    running.round()
    running.listening.end()
    assert len(broker.sent) == 1
    assert heartbeats.ages()[relay.NAME] < 5


def test_a_heartbeat_is_one_row_for_a_process() -> None:
    heartbeats.beat("relay")
    first = Heartbeat.objects.get(process="relay").at
    heartbeats.beat("relay")
    assert Heartbeat.objects.get(process="relay").at > first
