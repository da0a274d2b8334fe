"""A worker that could not acknowledge takes the connection for lost; one that works or is free does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from celery.worker import state
from kombu import Connection

from gate.config import lost_acks


class Request:
    """Something that a worker holds; Celery keeps weak references."""


@pytest.fixture
def consumer() -> Any:
    """A worker's consumer on a channel without a broker, with one place."""
    channel = Connection("memory://").channel()
    channel.qos.prefetch_count = 1
    return SimpleNamespace(task_consumer=SimpleNamespace(channel=channel))


def deliver(consumer: Any) -> None:
    consumer.task_consumer.channel.qos.append(SimpleNamespace(), "tag")


def test_a_place_that_nothing_holds_is_a_lost_connection(consumer: Any) -> None:
    deliver(consumer)
    with pytest.raises(ConnectionResetError, match="connects anew"):
        lost_acks.check(consumer)


def test_a_worker_at_work_is_left_alone(consumer: Any) -> None:
    deliver(consumer)
    request = Request()
    state.reserved_requests.add(request)
    lost_acks.check(consumer)
    state.reserved_requests.discard(request)


def test_a_worker_that_is_free_or_has_acknowledged_is_left_alone(consumer: Any) -> None:
    lost_acks.check(consumer)
    deliver(consumer)
    consumer.task_consumer.channel.qos.ack("tag")
    lost_acks.check(consumer)


def test_another_brokers_channel_is_left_alone() -> None:
    lost_acks.check(SimpleNamespace(task_consumer=SimpleNamespace(channel=object())))


def test_celery_takes_it_for_a_lost_connection() -> None:
    assert issubclass(ConnectionResetError, Connection("redis://").connection_errors)
