from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from gate.people.operator import OperatorCommand, actor
from gate.triage import intake


class Command(OperatorCommand):
    help = "Issue a token for a monitor. It opens incidents and does nothing else."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the monitor")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            token = intake.issue_token(options["name"], actor())
        except ValueError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Intake token of {options['name']}, shown only now: {token}")
