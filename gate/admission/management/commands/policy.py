"""`manage.py policy decide|lint|check|diff|export`: policies without a database, a JSON line in and one out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gate.admission import canonical, checking, files, lines
from gate.admission.exhaustive import TooManyCells
from gate.admission.files import NoPolicy, PolicyFile

DIFFERS, NO_POLICY = 1, 2
STDIN = "-"


class Command(BaseCommand):
    """Exits 0, or 1 when check finds an error or diff a newly allowed cell, or 2 when there is no such policy."""

    help = "Decide, lint, check, compare and export admission policies. No database is needed."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="decide|lint|check|diff|export")
        for name, said in (("decide", "a decision per line of program and answers"), ("lint", "findings per program")):
            act = acts.add_parser(name, help=said)
            act.add_argument("file", nargs="?", default=STDIN, help="JSON lines; standard input when left out")
        for name, said in (("check", "lints, cases and cells of policies"), ("export", "their canonical JSON")):
            act = acts.add_parser(name, help=said)
            act.add_argument("policies", nargs="*", metavar="POLICY", help="a file, or the name of a shipped one; all")
        act = acts.add_parser("diff", help="the cells that the second policy decides differently")
        act.add_argument("old", metavar="A", help="a file, or the name of a shipped policy")
        act.add_argument("new", metavar="B", help="a file, or the name of a shipped policy")

    def handle(self, *args: Any, act: str, **options: Any) -> None:
        try:
            getattr(self, f"_{act}")(**options)
        except NoPolicy as error:
            raise CommandError(str(error), returncode=NO_POLICY) from error
        except TooManyCells as error:
            raise CommandError(str(error), returncode=DIFFERS) from error

    def _decide(self, file: str, **options: Any) -> None:
        self._answer(file, lines.decided)

    def _lint(self, file: str, **options: Any) -> None:
        self._answer(file, lines.linted)

    def _answer(self, file: str, answer: Callable[[bytes], dict[str, Any]]) -> None:
        for line in _lines(file):
            self.stdout.write(json.dumps(answer(line)))
            self.stdout.flush()  # whoever asks line by line waits for this one

    def _check(self, policies: list[str], **options: Any) -> None:
        checked = [checking.check(one) for one in _found(policies)]
        for one in checked:
            self.stdout.write(json.dumps(one.as_json()))
        bad = [one.name for one in checked if not one.holds]
        if bad:
            raise CommandError(f"These do not hold: {', '.join(bad)}.", returncode=DIFFERS)

    def _export(self, policies: list[str], **options: Any) -> None:
        for one in _found(policies):
            try:
                self.stdout.write(canonical.text(one.program))
            except ValueError as error:
                raise CommandError(f"{one.name}: {error}", returncode=DIFFERS) from error

    def _diff(self, old: str, new: str, **options: Any) -> None:
        compared = checking.compare(files.find(old), files.find(new))
        for line in compared.as_lines():
            self.stdout.write(json.dumps(line))
        if compared.newly_allowed:
            sentence = f"{len(compared.newly_allowed)} of {compared.cells} cells are newly allowed."
            raise CommandError(sentence, returncode=DIFFERS)


def _found(named: list[str]) -> list[PolicyFile]:
    return [files.find(one) for one in named] if named else files.shipped()


def _lines(file: str) -> Iterator[bytes]:
    """Lines as bytes: what is not UTF-8 is answered like any other that cannot be read."""
    if file == STDIN:
        # A terminal and a pipe have bytes beneath; a text that stands in for them has none.
        buffer = getattr(sys.stdin, "buffer", None)
        yield from buffer if buffer is not None else (line.encode(errors="surrogatepass") for line in sys.stdin)
        return
    try:
        with Path(file).open("rb") as opened:
            yield from opened
    except OSError as error:
        raise NoPolicy(f"{file} cannot be read: {error.strerror}.") from error
