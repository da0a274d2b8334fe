import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.relay import Relay
from gate.config import powers, releases
from gate.config.celery import app


class Command(BaseCommand):
    help = "Hand the outbox's jobs to the broker, until told to stop."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            powers.check_consumer()
        except (powers.TooPowerful, releases.NotUpgraded) as refusal:
            raise CommandError(str(refusal)) from refusal
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        Relay(app, stop.is_set).run()
