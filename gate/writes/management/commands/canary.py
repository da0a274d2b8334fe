import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from gate.people.operator import OperatorCommand, actor
from gate.writes import canaries
from gate.writes.errors import Unfit


class Command(OperatorCommand):
    help = (
        "Place bad proposals, to see whether people read what they approve. Their target is one whose credential the"
        " writer does not hold, so none of them can run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a JSON list of canaries; see the README")
        parser.add_argument("--one", action="store_true", help="place one of them, drawn at random")
        parser.add_argument(
            "--chance", type=float, default=1.0, help="place anything only this often, from 0 to 1: for a timer"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["chance"] <= 1:
            raise CommandError("--chance is a number from 0 to 1.")
        try:
            found = canaries.read(options["file"].read_text())
        except OSError as reason:
            raise CommandError(f"The file cannot be read: {reason.strerror}.") from reason
        except Unfit as refusal:
            raise CommandError(str(refusal)) from refusal
        if secrets.SystemRandom().random() >= options["chance"]:
            return
        for given in [secrets.choice(found)] if options["one"] else found:
            self._place(given)

    def _place(self, given: Any) -> None:
        try:
            write = canaries.place(given, placed_by=actor().principal)
        except Unfit as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Placed {write.ref}: {given['title']}")
