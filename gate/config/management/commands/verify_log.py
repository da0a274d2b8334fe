from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, connection

from audit import verifying
from audit.log import Recorded
from audit.verify import note, receipts, wording
from audit.verify.findings import Finding
from audit.verify.run import Outside
from audit.verify_watch import Watch
from gate.config import fingerprint, log_keys, powers
from gate.config.stopping import told_to_stop

SECONDS_BETWEEN_TRIES = 10.0


class Command(BaseCommand):
    help = "Verify the log where it stands, report every finding, and record the outcome. Exits 1 with findings."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pins", type=Path, metavar="FILE", help="checkpoints that were published")
        parser.add_argument("--receipts", type=Path, metavar="FILE", help="entries and digests that were handed out")
        parser.add_argument("--since", type=int, default=0, metavar="SIZE", help="check entries from this leaf on")
        parser.add_argument(
            "--every", type=float, metavar="HOURS", help="go on: a whole run each so many hours, new leaves each minute"
        )

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
        self._done(result, verifying.record(result))
        return result

    def _go_on(self, options: dict[str, Any]) -> None:
        """A process of its own that verifies until it is told to stop: the whole log each so many hours, and whenever
        somebody asks for it on a page; and each minute what was sealed since.
        """
        stop, every = told_to_stop(), timedelta(hours=options["every"])
        watch = Watch(_outside(options), every, fingerprint.differences, self._done, self._tell)
        while not stop.is_set():
            try:
                watch.go_on(stop)
            except Error as error:
                self.stderr.write(f"The database cannot be reached ({str(error).strip()}); trying again.")
                stop.wait(SECONDS_BETWEEN_TRIES)
            finally:
                connection.close()

    def _done(self, result: verifying.Result, entry: Recorded) -> None:
        self.stdout.write(f"{wording.summary(result.verification)}\nRecorded as {entry.ref}.")

    def _tell(self, finding: Finding) -> None:
        self.stdout.write(wording.printable(str(finding)))


def _outside(options: dict[str, Any]) -> Outside:
    pins = note.parse_pins(options["pins"].read_text("utf-8")) if options["pins"] else ()
    given = receipts.parse(options["receipts"].read_text("utf-8").splitlines()) if options["receipts"] else None
    return Outside(verifying.parsed(log_keys.public_keys()), tuple(pins), None if given is None else tuple(given))
