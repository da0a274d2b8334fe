from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from gate.config import backups
from gate.people.operator import OperatorCommand


class Command(OperatorCommand):
    help = "Write the whole database to one file. Secrets and the roles' passwords are not in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            backups.back_up(options["file"])
        except (backups.CannotKeep, OSError) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Everything is in {options['file']}. Keep it as secret as the database.")
