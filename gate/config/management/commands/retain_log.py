import getpass
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from audit import retention
from audit.retention import Month
from gate.config import powers


class Command(BaseCommand):
    help = "Drop the log's months before one, each with an entry that says so. Shows first what would go."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--before", required=True, metavar="YYYY-MM", help="the first month that stays")
        parser.add_argument("--dry-run", action="store_true", help="show what would be dropped, and drop nothing")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, before: str, dry_run: bool, yes: bool, **options: Any) -> None:
        keep = settings.RETENTION_MONTHS
        try:
            powers.check("retention")
            first = _month(before)
            if not keep:
                raise retention.CannotRetain("Everything is kept: COUNTERSEAL_RETENTION_MONTHS says nothing else.")
        except (powers.TooPowerful, retention.CannotRetain) as refusal:
            raise CommandError(str(refusal)) from refusal
        found = retention.months(first, keep)
        for one in found:
            self.stdout.write(_line(one))
        due = [one for one in found if not one.why]
        if not due:
            self.stdout.write("Nothing is due.")
        elif not dry_run and (yes or self._is_meant(due)):
            self._drop(due, keep)

    def _is_meant(self, due: list[Month]) -> bool:
        self.stdout.write("Type the number of months to drop them for good, anything else to stop.")
        try:
            return input().strip() == str(len(due))
        except EOFError:
            return False

    def _drop(self, due: list[Month], keep: int) -> None:
        for one in due:
            try:
                receipt = retention.drop(one, keep=keep, by=getpass.getuser())
            except retention.CannotRetain as refusal:
                raise CommandError(str(refusal)) from refusal
            self.stdout.write(f"{one.name} is dropped, recorded as {receipt.ref}.")


def _month(text: str) -> date:
    try:
        found = datetime.strptime(text, "%Y-%m").date()
    except ValueError as problem:
        raise CommandError("Give the first month that stays as YYYY-MM.") from problem
    if found > timezone.now().date():
        raise CommandError("That month has not begun.")
    return found


def _line(one: Month) -> str:
    if one.why:
        return f"{one.name} stays: {one.why}"
    return f"{one.name} goes: {one.entries:,} entries, leaves {one.first_leaf:,} to {one.last_leaf:,}."
