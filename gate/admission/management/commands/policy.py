"""`manage.py policy decide|lint|check|diff|export|answer|upgrade`: policies without a database, JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from gate.admission import canonical, checking, files, lines, model_calls, upgrading
from gate.admission.answering import endpoint, questioning
from gate.admission.exhaustive import TooManyCells
from gate.admission.files import NoPolicy, PolicyFile
from gate.admission.model_calls import ModelCall

DIFFERS, NO_POLICY = 1, 2
STDIN = "-"
SECONDS = 30.0  # for all questions about one recorded call: nobody waits for it


class Command(BaseCommand):
    """Exits 0; 1 when check finds an error, or diff or upgrade what is newly allowed; 2 for no such policy."""

    help = "Decide, lint, check, compare and export admission policies, and compare models. No database is needed."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="decide|lint|check|diff|export|answer|upgrade")
        for name, said in (("decide", "a decision per line of program and answers"), ("lint", "findings per program")):
            act = acts.add_parser(name, help=said)
            act.add_argument("file", nargs="?", default=STDIN, help="JSON lines; standard input when left out")
        for name, said in (("check", "lints, cases and cells of policies"), ("export", "their canonical JSON")):
            act = acts.add_parser(name, help=said)
            act.add_argument("policies", nargs="*", metavar="POLICY", help="a file, or the name of a shipped one; all")
        act = acts.add_parser("diff", help="the cells that the second policy decides differently")
        act.add_argument("old", metavar="A", help="a file, or the name of a shipped policy")
        act.add_argument("new", metavar="B", help="a file, or the name of a shipped policy")
        act = acts.add_parser("answer", help="the configured model's answers about recorded calls, a line each")
        act.add_argument("policy", metavar="POLICY", help="a file, or the name of a shipped policy")
        act.add_argument("file", nargs="?", default=STDIN, help="recorded calls, or an export of the log")
        act = acts.add_parser("upgrade", help="the recorded calls that another model's answers decide differently")
        act.add_argument("policy", metavar="POLICY", help="a file, or the name of a shipped policy")
        act.add_argument("old", metavar="A", help="recorded calls with one model's answers")
        act.add_argument("new", metavar="B", help="the same calls with another's")

    def handle(self, *args: Any, act: str, **options: Any) -> None:
        try:
            getattr(self, f"_{act}")(**options)
        except NoPolicy as error:
            raise CommandError(str(error), returncode=NO_POLICY) from error
        except TooManyCells as error:
            raise CommandError(str(error), returncode=DIFFERS) from error

    def _decide(self, file: str, **options: Any) -> None:
        self._line_by_line(file, lines.decided)

    def _lint(self, file: str, **options: Any) -> None:
        self._line_by_line(file, lines.linted)

    def _line_by_line(self, file: str, answer: Callable[[bytes], dict[str, Any]]) -> None:
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
        # A line each, and none behind the last: the SHA-256 of what is printed of one policy is its name.
        self.stdout.write("\n".join(map(_canonical, _found(policies))), ending="")

    def _diff(self, old: str, new: str, **options: Any) -> None:
        compared = checking.compare(files.find(old), files.find(new))
        for line in compared.as_lines():
            self.stdout.write(json.dumps(line))
        if compared.newly_allowed:
            sentence = f"{len(compared.newly_allowed)} of {compared.cells} cells are newly allowed."
            raise CommandError(sentence, returncode=DIFFERS)

    def _answer(self, policy: str, file: str, **options: Any) -> None:
        """Put each call's questions to the configured model. Raises CommandError without one."""
        try:
            at = endpoint.configured()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        if at is None:
            raise CommandError("No model is configured: set COUNTERSEAL_ANSWERING_URL and COUNTERSEAL_ANSWERING_MODEL.")
        found = files.find(policy)
        asked = [one for one in checking.usable_of(found).questions if one.by == "model"]
        for call in model_calls.read(_lines(file), found.name):
            answered = questioning.ask(at, asked, call.action, seconds=SECONDS)
            model = next((one.model for one in answered.values() if one.model), at.model)
            answers = {**call.answers, **{name: one.answer for name, one in answered.items()}}
            self.stdout.write(json.dumps(ModelCall(call.call, call.action, answers, model).as_json()))
            self.stdout.flush()

    def _upgrade(self, policy: str, old: str, new: str, **options: Any) -> None:
        found = files.find(policy)
        calls = [model_calls.read(_lines(one), found.name) for one in (old, new)]
        compared = upgrading.compare(checking.usable_of(found), *calls)
        for line in compared.as_lines():
            self.stdout.write(json.dumps(line))
        if compared.newly_allowed:
            sentence = f"{len(compared.newly_allowed)} of {compared.compared} recorded calls are newly allowed."
            raise CommandError(sentence, returncode=DIFFERS)


def _canonical(policy: PolicyFile) -> str:
    try:
        return canonical.text(policy.program)
    except ValueError as error:
        raise CommandError(f"{policy.name}: {error}", returncode=DIFFERS) from error


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
