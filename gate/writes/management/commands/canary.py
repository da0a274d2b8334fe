import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from gate.people.operator import OperatorCommand, actor
from gate.writes import canary_placing
from gate.writes.errors import Unfit


class Command(OperatorCommand):
    help = (
        "Plan bad proposals, to see whether people read what they approve: each is placed beside the next proposal that"
        " an agent makes. Their target is one whose credential the writer does not hold, so none of them can run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a JSON list of canaries; see the README")
        parser.add_argument("--one", action="store_true", help="plan one of them, drawn at random")
        parser.add_argument(
            "--chance", type=float, default=1.0, help="plan anything only this often, from 0 to 1: for a timer"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["chance"] <= 1:
            raise CommandError("--chance is a number from 0 to 1.")
        try:
            found = canary_placing.read(options["file"].read_text())
        except OSError as reason:
            raise CommandError(f"The file cannot be read: {reason.strerror}.") from reason
        except Unfit as refusal:
            raise CommandError(str(refusal)) from refusal
        if secrets.SystemRandom().random() >= options["chance"]:
            return
        for given in [secrets.choice(found)] if options["one"] else found:
            self._plan(given)

    def _plan(self, given: Any) -> None:
        try:
            canary_placing.plan(given, placed_by=actor().principal)
        except Unfit as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Planned, until an agent proposes something: {given['title']}")
