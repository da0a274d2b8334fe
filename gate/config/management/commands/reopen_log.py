import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import reopening
from audit.notes import BadKey, PublicKey


class Command(BaseCommand):
    help = "Let sealing go on after a restore, or with a new key in place of a lost one, and record why."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--reason", required=True, help="what happened, for who reads the log")
        parser.add_argument("--new-key", metavar="PUBLIC", help="the public key that goes on in place of a lost one")

    def handle(self, *args: Any, reason: str, new_key: str | None, **options: Any) -> None:
        try:
            key = PublicKey.parse(new_key) if new_key else None
            entry = reopening.reopen(reason=reason, by=getpass.getuser(), new_key=key)
        except (BadKey, reopening.CannotReopen) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Recorded as {entry.ref}. The sealer goes on by itself.")
