import os
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error

from audit.drill import recorded, run, slice
from gate.config import embedded, failures, fingerprint, powers, scratch

TOO_YOUNG, NOT_FOUND, NOT_DONE = 0, 1, 2


class Command(BaseCommand):
    help = (
        "Copy the newest entries into a scratch database, tamper with them in every known way, and say of each whether "
        "the verifier finds it. Exits 1 when it misses one, 2 when it could not try. A log that is too young to be "
        "drilled is said and recorded, and no failure: a new installation has one each night."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--entries", type=int, default=600, help=f"how many, {slice.FEWEST} to {slice.MOST}")

    def handle(self, *args: Any, entries: int, **options: Any) -> None:
        self._check_powers()
        try:
            with scratch.database(os.environ.get("COUNTERSEAL_DRILL_URL", "")) as the_log:
                outcomes, copied = self._drill(the_log, entries)
        except slice.TooFew as young:
            raise self._undone(str(young), is_skipped=True) from young
        except (embedded.EmbeddedError, slice.CannotDrill) as refusal:
            raise self._undone(str(refusal)) from refusal
        except (Error, psycopg.Error) as problem:
            raise self._undone(f"A database cannot be used: {str(problem).strip()}") from problem
        self._told(outcomes, copied)

    def _check_powers(self) -> None:
        # A database that does not answer is no tampering that was missed, and must not exit like one.
        try:
            powers.check("drill")
        except powers.TooPowerful as refusal:
            raise CommandError(str(refusal), returncode=NOT_DONE) from refusal
        except Error as problem:
            sentence = failures.said_of(problem) or f"A database cannot be used: {str(problem).strip()}"
            raise CommandError(sentence, returncode=NOT_DONE) from problem

    def _drill(self, the_log: Any, entries: int) -> tuple[list[run.Outcome], int]:
        copied = slice.copy(the_log, entries)
        piece = slice.seal_anew(copied, fingerprint.record_when_changed)
        outcomes = []
        for outcome in run.run(piece, fingerprint.differences):
            self.stdout.write(str(outcome))
            outcomes.append(outcome)
        return outcomes, copied

    def _told(self, outcomes: list[run.Outcome], copied: int) -> None:
        missed = sum(not one.is_found for one in outcomes)
        self.stdout.write(f"{len(outcomes) - missed} of {len(outcomes)} tamperings of {copied} entries were found.")
        try:
            recorded.record(outcomes, copied)
        except (Error, psycopg.Error) as problem:
            sentence = f"How it went cannot be recorded: {str(problem).strip()}"
            raise CommandError(sentence, returncode=NOT_DONE) from problem
        if missed:
            raise CommandError(f"The verifier misses {missed} known tamperings.", returncode=NOT_FOUND)

    def _undone(self, sentence: str, *, is_skipped: bool = False) -> CommandError:
        """The error to end with; the log says it too, unless its own database is the trouble."""
        code = TOO_YOUNG if is_skipped else NOT_DONE
        try:
            recorded.record_undone(sentence, is_skipped=is_skipped)
        except (Error, psycopg.Error) as problem:
            sentence, code = f"{sentence} That cannot be recorded: {str(problem).strip()}", NOT_DONE
        return CommandError(sentence, returncode=code)
