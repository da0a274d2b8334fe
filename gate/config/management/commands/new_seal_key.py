import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import notes


class Command(BaseCommand):
    help = "Make a signing key for the sealer, in a file that only our account reads."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the log's name for ever, like counterseal.example.com/log")
        parser.add_argument("--to", required=True, metavar="FILE", help="a file that does not exist yet")

    def handle(self, *args: Any, name: str, to: str, **options: Any) -> None:
        try:
            key = notes.new_key(name)
            handle = os.open(Path(to), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except (notes.BadKey, OSError) as refusal:
            raise CommandError(str(refusal)) from refusal
        with os.fdopen(handle, "w") as stream:
            stream.write(f"{key}\n")
        self.stdout.write(f"Give this to everybody who verifies the log:\n{key.public}")
