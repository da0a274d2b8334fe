import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from gate.config.single import CannotStart
from gate.config.supervisor import Supervisor


class Command(BaseCommand):
    help = "Start everything on this machine: database, broker, both planes, relay, workers, beat."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="where people open the dashboard")
        parser.add_argument("--agents-port", type=int, default=8001, help="where agents connect")
        parser.add_argument("--no-demo", action="store_true", help="start without the demo shop and its people")

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()

        def say(line: str) -> None:
            # A terminal that is gone, or a file on a full disk: what nobody can read stops nothing.
            with suppress(OSError):
                self.stdout.write(f"[{time.monotonic() - began:6.1f} s] {line}")
                self.stdout.flush()

        try:
            Supervisor(
                port=options["port"], agents_port=options["agents_port"], has_demo=not options["no_demo"], say=say
            ).run()
        except CannotStart as refusal:
            raise CommandError(str(refusal)) from refusal
