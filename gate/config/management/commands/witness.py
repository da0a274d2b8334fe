import signal
import threading
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.witness import CannotWitness, server
from gate.config.environment import var_dir

KEYS = "the logs' keys, a line each; without it COUNTERSEAL_LOG_PUBLIC_KEYS"


class Command(BaseCommand):
    help = "Keep the log's checkpoints in another place, and cosign those that continue what is known."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--listen", default="127.0.0.1:8002", metavar="HOST:PORT")
        parser.add_argument("--state", type=Path, metavar="DIR", help="keeps the notes and its own key")
        parser.add_argument("--public-key", type=Path, metavar="FILE", help=KEYS)
        parser.add_argument("--name", default="counterseal.local/witness", help="its own name for ever")

    def handle(
        self, *args: Any, listen: str, state: Path | None, public_key: Path | None, name: str, **options: Any
    ) -> None:
        try:
            keys = public_key.read_text("utf-8") if public_key else "\n".join(settings.LOG_PUBLIC_KEYS)
            serving = server(listen, state or var_dir() / "witness", keys, name)
        except (CannotWitness, OSError) as refusal:
            raise CommandError(str(refusal)) from refusal
        for number in (signal.SIGTERM, signal.SIGINT):
            # From a thread: shutdown waits for the loop that the signal has interrupted.
            signal.signal(number, lambda *_: threading.Thread(target=serving.shutdown).start())
        self.stdout.write(f"Witnessing as {serving.witness.cosigner.public}")
        self.stdout.flush()
        with serving:
            serving.serve_forever()
