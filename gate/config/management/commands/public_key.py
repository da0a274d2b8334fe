from typing import Any

from django.core.management.base import BaseCommand, CommandError

from gate.config import log_keys


class Command(BaseCommand):
    help = "Print the public keys that the log's checkpoints are verified with."

    def handle(self, *args: Any, **options: Any) -> None:
        keys = log_keys.public_keys()
        if not keys:
            raise CommandError("Set COUNTERSEAL_LOG_PUBLIC_KEYS to what manage.py new_seal_key printed.")
        for key in keys:
            self.stdout.write(key)
