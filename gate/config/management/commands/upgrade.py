from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from gate.config import fingerprint, provision, releases


class Command(BaseCommand):
    help = "Bring the database to this version: migrations, roles, grants, and an entry of its guards where it is due."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with releases.upgrading():
                call_command("migrate", interactive=False, verbosity=0)
                provision.apply()
                entry = fingerprint.record_when_changed()
        except releases.Busy as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"The guards are recorded: see entry {entry.ref}." if entry else "The guards are as before.")
