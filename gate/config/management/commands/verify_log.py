from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, connection

from audit import verifying
from audit.verify import note, receipts, wording
from audit.verify.findings import Finding
from audit.verify.run import Outside
from gate.config import fingerprint, log_keys, powers
from gate.config.stopping import told_to_stop

SECONDS_BETWEEN_TRIES = 10.0


class Command(BaseCommand):
    help = "Verify the log where it stands, report every finding, and record the outcome. Exits 1 with findings."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pins", type=Path, metavar="FILE", help="checkpoints that were published")
        parser.add_argument("--receipts", type=Path, metavar="FILE", help="entries and digests that were handed out")
        parser.add_argument("--since", type=int, default=0, metavar="SIZE", help="check entries from this leaf on")
        parser.add_argument("--every", type=float, metavar="HOURS", help="go on, a whole run each so many hours")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            powers.check("auditor")
            if options["every"]:
                self._go_on(options)
                return
            result = self._run(options)
        except (powers.TooPowerful, verifying.CannotVerify, note.Unreadable, receipts.BadReceipt) as refusal:
            raise CommandError(str(refusal)) from refusal
        except Error as problem:
            raise CommandError(f"The log's tables cannot be read: {str(problem).strip()}") from problem
        except (OSError, UnicodeDecodeError) as problem:
            raise CommandError(f"A file cannot be read: {problem}") from problem
        if not result.report.is_clean:
            raise CommandError(f"The log has {result.report.counts.total()} findings.")

    def _run(self, options: dict[str, Any]) -> verifying.Result:
        result = verifying.verify(
            _outside(options), guards=fingerprint.differences, since=max(0, options["since"]), tell=self._tell
        )
        entry = verifying.record(result)
        self.stdout.write(f"{wording.summary(result.verification)}\nRecorded as {entry.ref}.")
        return result

    def _go_on(self, options: dict[str, Any]) -> None:
        """A process of its own that verifies when the last whole run is so many hours old, until it is told to stop."""
        stop = told_to_stop()
        while not stop.is_set():
            try:
                wait = verifying.due_in(timedelta(hours=options["every"])).total_seconds()
                if wait <= 0:
                    self._run(options)
            except Error as error:
                self.stderr.write(f"The database cannot be reached ({str(error).strip()}); trying again.")
                wait = SECONDS_BETWEEN_TRIES
            finally:
                connection.close()
            stop.wait(max(wait, SECONDS_BETWEEN_TRIES))

    def _tell(self, finding: Finding) -> None:
        self.stdout.write(wording.printable(str(finding)))


def _outside(options: dict[str, Any]) -> Outside:
    pins = note.parse_pins(options["pins"].read_text("utf-8")) if options["pins"] else ()
    given = receipts.parse(options["receipts"].read_text("utf-8").splitlines()) if options["receipts"] else None
    return Outside(verifying.parsed(log_keys.public_keys()), tuple(pins), None if given is None else tuple(given))
