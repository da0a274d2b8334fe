import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from gate.config import database, log_keys
from gate.errors import NotAllowed
from gate.people.models import Key
from gate.people.operator import OperatorCommand, actor
from gate.writes import people, pinned
from gate.writes.models import PinnedKey


class Command(OperatorCommand):
    help = (
        "Have the writer believe a person's passkey: it shows the fingerprint, which that person reads to you from the"
        " page My keys, and asks. Run it as the writer. --list prints every key, which also checks receipts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("name", nargs="?", help="what the person types to sign in")
        what.add_argument("--list", action="store_true", help="print the writer's list, one JSON object a line")
        what.add_argument("--revoke", metavar="FINGERPRINT", help="believe this key no more")
        parser.add_argument(
            "--fingerprint", help="pin the key with this fingerprint, which you compared, and do not ask"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            self._list()
        elif options["revoke"]:
            self._revoke(options["revoke"])
        else:
            self._pin(options["name"], options["fingerprint"])

    def _list(self) -> None:
        self._line(type="origin", origin=database.started_at("people") or settings.ORIGIN)
        for key in log_keys.public_keys():
            self._line(type="log", key=key)
        for one in PinnedKey.objects.order_by("pk"):
            self._line(
                type="key", person=one.person_id, username=one.username, name=one.name, fingerprint=one.fingerprint,
                credential=one.credential_id, public_key=one.public_key, pinned_at=one.pinned_at.isoformat(),
                pinned_by=one.pinned_by, revoked_at=one.revoked_at and one.revoked_at.isoformat(),
            )  # fmt: skip

    def _line(self, **values: Any) -> None:
        self.stdout.write(json.dumps(values, ensure_ascii=True))

    def _revoke(self, fingerprint: str) -> None:
        try:
            gone = pinned.unpin(fingerprint, by=actor())
        except NotAllowed as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"The writer no longer believes “{gone.name}” of {gone.username}.")

    def _pin(self, name: str, compared: str | None) -> None:
        person = people.by_username(name)
        if person is None or not person.may_decide:
            raise CommandError(f"There is nobody {name} who decides about writes.")
        found = [key for key in pinned.waiting(person.id) if compared in (None, key.fingerprint)]
        if not found:
            raise CommandError(f"{name} has no such key that is confirmed and not pinned yet.")
        for key in found:
            if compared or self._is_confirmed(person.name, key):
                pinned.pin(key, username=person.username, by=actor())
                self.stdout.write(f"The writer believes “{key.name}” of {person.username} from now on.")

    def _is_confirmed(self, name: str, key: Key) -> bool:
        self.stdout.write(f"{name}: “{key.name}”, enrolled {key.enrolled_at:%Y-%m-%d %H:%M} UTC")
        self.stdout.write(f"  {key.fingerprint}")
        self.stdout.write("Have that person read the fingerprint to you. Is it this one? Type yes: ", ending="")
        self.stdout.flush()
        return sys.stdin.readline().strip() == "yes"
