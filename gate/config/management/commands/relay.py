from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.relay import Relay
from gate.config import powers, releases
from gate.config.celery import app
from gate.config.stopping import told_to_stop


class Command(BaseCommand):
    help = "Hand the outbox's jobs to the broker, until told to stop."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            powers.check_consumer()
        except (powers.TooPowerful, releases.NotUpgraded) as refusal:
            raise CommandError(str(refusal)) from refusal
        Relay(app, told_to_stop().is_set).run()
