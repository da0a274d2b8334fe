import os
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error

from audit.drill import run, slice
from gate.config import embedded, fingerprint, powers, scratch

NOT_FOUND, NOT_DONE = 1, 2


class Command(BaseCommand):
    help = (
        "Copy the newest entries into a scratch database, tamper with them in every known way, and say of each whether "
        "the verifier finds it. Exits 1 when it misses one, 2 when nothing could be drilled."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--entries", type=int, default=600, help=f"how many, {slice.FEWEST} to {slice.MOST}")

    def handle(self, *args: Any, entries: int, **options: Any) -> None:
        try:
            powers.check("drill")
            with scratch.database(os.environ.get("COUNTERSEAL_DRILL_URL", "")) as the_log:
                missed = self._drill(the_log, entries)
        except (powers.TooPowerful, embedded.EmbeddedError, slice.CannotDrill) as refusal:
            raise CommandError(str(refusal), returncode=NOT_DONE) from refusal
        except (Error, psycopg.Error) as problem:
            raise CommandError(f"A database cannot be used: {str(problem).strip()}", returncode=NOT_DONE) from problem
        if missed:
            raise CommandError(f"The verifier misses {missed} known tamperings.", returncode=NOT_FOUND)

    def _drill(self, the_log: Any, entries: int) -> int:
        copied = slice.copy(the_log, entries)
        piece = slice.seal_anew(copied, fingerprint.record_when_changed)
        missed = tried = 0
        for outcome in run.run(piece, fingerprint.differences):
            self.stdout.write(str(outcome))
            tried, missed = tried + 1, missed + (not outcome.is_found)
        self.stdout.write(f"{tried - missed} of {tried} tamperings of {copied} entries were found.")
        return missed
