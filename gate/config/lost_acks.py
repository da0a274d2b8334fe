"""A worker whose acknowledgment was lost with the broker.

Celery says that it could not acknowledge, and goes on as if the connection were whole. Its one place then seems taken
for good: it asks for nothing more, so it never notices that the connection is gone, and its heart goes on beating.
"""

from __future__ import annotations

from typing import Any

from celery import bootsteps
from celery.worker import state
from kombu.transport import virtual

SECONDS_BETWEEN_LOOKS = 5.0


class NoticeLostAcks(bootsteps.StartStopStep):
    """Looks now and then whether the worker waits for nothing, and has it connect anew."""

    requires = ("celery.worker.consumer.tasks:Tasks",)
    timer: Any = None

    def start(self, parent: Any) -> None:
        """With each connection that the worker makes."""
        self.timer = parent.timer.call_repeatedly(SECONDS_BETWEEN_LOOKS, check, (parent,))

    def stop(self, parent: Any) -> None:
        """With each connection that it loses."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def check(consumer: Any) -> None:
    """Raises ConnectionResetError, which Celery takes for a lost connection, when no place is free and nothing runs."""
    channel = consumer.task_consumer.channel
    # RabbitMQ keeps the count itself, and notices a connection that is gone.
    if not isinstance(channel, virtual.Channel) or channel.qos.can_consume() or state.reserved_requests:
        return
    raise ConnectionResetError("An acknowledgment was lost with the broker; the worker connects anew.")
