"""`manage.py replay PATH… [--json]`: past incidents put to the newest rules, without a database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gate.triage import case_files
from gate.triage.recorded_cases import CaseError
from gate.triage.replay import Replayed, newest, replay
from gate.triage.rules import registry

DIFFERS, NOT_A_CASE = 1, 2


class Command(BaseCommand):
    """Exits 0 when every verdict is how the incident ended, 1 when one differs, 2 when a file is no case."""

    help = (
        "Replay recorded incidents through the newest version of each rule, those of COUNTERSEAL_VERDICT_RULES "
        "included. Exits 1 when a verdict differs from how the incident ended, 2 when a file is not a case."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a case, or a folder of cases")
        parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON line per case, nothing else")

    def handle(self, *args: Any, paths: list[Path], as_json: bool, **options: Any) -> None:
        bad: list[str] = []
        replayed: list[Replayed] = []
        for one in _replayed(paths, bad):
            replayed.append(one)
            self.stdout.write(json.dumps(one.as_json()) if as_json else _row(one))
        if not as_json:
            self.stdout.write(_summary(replayed))
        if bad:
            raise CommandError("\n".join(bad), returncode=NOT_A_CASE)
        differing = sum(one.differs for one in replayed)
        if differing:
            sentence = f"{differing} of {len(replayed)} verdicts differ from how the incident ended."
            raise CommandError(sentence, returncode=DIFFERS)


def _replayed(paths: Iterable[Path], bad: list[str]) -> Iterator[Replayed]:
    """Each case as it is decided. What is no case goes to `bad`, and the others are replayed all the same."""
    rules = newest(registry)
    for file in _files(paths, bad):
        try:
            case = case_files.read(file)
        except CaseError as error:
            bad.append(error.sentence)
            continue
        yield replay(case, rules)


def _files(paths: Iterable[Path], bad: list[str]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        try:
            found += case_files.find([path])
        except CaseError as error:
            bad.append(error.sentence)
    return list(dict.fromkeys(found))


def _row(one: Replayed) -> str:
    expected = one.expected if one.expected is not None else "unknown"
    why = f"  {one.reasons[0].sentence}" if one.reasons else ""
    return f"{'DIFFERS' if one.differs else '':8}{one.verdict:5} (ended: {expected})  {one.name}{why}"


def _summary(replayed: list[Replayed]) -> str:
    passed = sum(one.verdict == "pass" for one in replayed)
    false_passes = sum(one.differs and one.verdict == "pass" for one in replayed)
    false_fails = sum(one.differs and one.verdict == "fail" for one in replayed)
    return (
        f"{len(replayed)} cases: {passed} pass, {len(replayed) - passed} fail; "
        f"{false_passes} false passes, {false_fails} false fails."
    )
