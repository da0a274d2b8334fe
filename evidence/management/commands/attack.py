from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError

from audit import twohands
from audit.models import Definition
from evidence import attacking, examining, reader, sources, watching
from evidence.attacking import Case, Found
from evidence.errors import Problem

PRODUCTION = "production"


class Command(BaseCommand):
    help = "Run a corpus of attacks against the guarded read of a source that is a copy, and report what came through."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help=f"whose environment is not {PRODUCTION}: attacks are for copies")
        parser.add_argument("file", type=Path, help='attacks, one a line: {"id", "family", "sql", "must", …}')
        parser.add_argument("--ordinary", type=Path, help="reads that must all be served, in the same form")
        parser.add_argument("--mark", action="append", default=[], help="a text of the copy that no answer may show")

    def handle(self, *args: Any, **options: Any) -> None:
        source = _copy(options["source"])
        attacks, others = _cases(options["file"])
        reads, _ = _cases(options["ordinary"]) if options["ordinary"] else ([], 0)
        try:
            broken, unseen = _attacked(source, attacks, options["mark"])
            refused = list(attacking.false_refusals(sources.dsn(source, "reader_env"), reads))
        except Problem as problem:
            raise CommandError(problem.sentence) from problem
        except psycopg.Error as error:
            # Only what the server said: a driver's message may hold parts of the connection string.
            raise CommandError(f"{source.name} failed: {error.diag.message_primary or 'no connection'}.") from error
        finally:
            reader.close()
        self._print("breach", broken)
        self._print("false refusal", refused)
        if unseen:
            self.stdout.write(f"The doctor does not see, so a change there is not found: {', '.join(unseen)}")
        skipped = f" ({others} lines are for other doors)" if others else ""
        self.stdout.write(f"{len(attacks)} attacks{skipped}, {len(broken)} breaches; {len(reads)} ordinary reads, "
                          f"{len(refused)} false refusals")  # fmt: skip
        if broken or refused:
            raise CommandError(f"The guarded read of {source.name} does not hold against this corpus.")

    def _print(self, kind: str, found: Sequence[Found]) -> None:
        for one in found:
            self.stdout.write(f"{kind} {one.case.id} ({one.case.family}): {one.why}")


def _copy(name: str) -> Definition:
    source = twohands.active("source", name)
    if source is None:
        raise CommandError(f"There is no active source {name}.")
    if source.body["kind"] != "postgresql":
        raise CommandError(f"{name} is no postgresql source; there is no corpus of attacks for its kind.")
    if source.body["environment"] == PRODUCTION:
        raise CommandError(f"{name} is production. Attack a copy of it: a source with another environment.")
    return source


def _cases(path: Path) -> tuple[list[Case], int]:
    try:
        return attacking.parse(path.read_text())
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be taken: {error}") from error


def _attacked(source: Definition, attacks: list[Case], marks: list[str]) -> tuple[list[Found], list[str]]:
    with examining.session(source, "doctor_env") as doctor:
        unseen = watching.look(doctor).unseen
        return list(attacking.breaches(sources.dsn(source, "reader_env"), doctor, attacks, marks)), unseen
