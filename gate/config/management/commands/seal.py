from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import seal
from audit.notes import BadKey, SigningKey
from audit.sealing import Sealing
from gate.config import powers
from gate.config.stopping import told_to_stop


class Command(BaseCommand):
    help = "Put committed entries into the sealed tree each second and sign it, until told to stop."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="seal what may be sealed now, and end")

    def handle(self, *args: Any, once: bool, **options: Any) -> None:
        keys = _keys()
        try:
            powers.check("sealer")
        except powers.TooPowerful as refusal:
            raise CommandError(str(refusal)) from refusal
        if once:
            self._seal_once(keys)
            return
        Sealing(keys, told_to_stop()).run()

    def _seal_once(self, keys: list[SigningKey]) -> None:
        sealer = seal.Sealer(keys)
        try:
            sealer.start()
            while sealer.round():
                pass
        except seal.CannotSeal as stopped:
            raise CommandError(str(stopped)) from stopped
        self.stdout.write(f"{sealer.frontier.size} entries are sealed.")


def _keys() -> list[SigningKey]:
    try:
        keys = [SigningKey.parse(text) for text in settings.SEAL_KEYS if text]
    except BadKey as problem:
        raise CommandError(f"COUNTERSEAL_SEAL_KEY: {problem}") from problem
    if not keys:
        raise CommandError("Set COUNTERSEAL_SEAL_KEY to a key that manage.py new_seal_key made.")
    if len({key.name for key in keys}) > 1:
        raise CommandError("The next key must carry the same name as the key before it: it is the log's name.")
    return keys
