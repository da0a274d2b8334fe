import os
from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from gate.config import backups
from gate.config.embedded import EmbeddedError
from gate.config.single import CannotStart
from gate.people.operator import OperatorCommand

SERVERS = "Start the processes when the roles have passwords."
HERE = "Start it with manage.py up --no-demo."
REOPEN = "If this is another cluster than before, manage.py reopen_log then says why sealing may go on."


class Command(OperatorCommand):
    help = "Fill an empty database from a backup. Only from a file that you trust: what it says is run as the owner."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        has_server = "COUNTERSEAL_OWNER_URL" in os.environ
        try:
            backups.check_is_backup(options["file"])  # before a server is started for it
            with nullcontext() if has_server else backups.own_server():
                entry = backups.restore(options["file"])
        except (backups.CannotKeep, CannotStart, EmbeddedError) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Restored, and recorded as {entry.ref}. {SERVERS if has_server else HERE} {REOPEN}")
