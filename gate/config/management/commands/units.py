from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from gate.config import units
from gate.config.environment import BASE_DIR

UNREADABLE = set("\"'\\$;`")  # systemd and shells would each read them in their own way


class Command(BaseCommand):
    help = "Print the files that run each process as a service: systemd's units, a Procfile, or both."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--systemd", action="store_true", help="only systemd's units")
        which.add_argument("--procfile", action="store_true", help="only the Procfile")
        parser.add_argument("--prefix", type=Path, default=BASE_DIR, help="where the project and its .venv will be")
        parser.add_argument("--to", type=Path, help="write the files into this directory instead of printing them")

    def handle(self, *args: Any, **options: Any) -> None:
        prefix: Path = options["prefix"]
        if not prefix.is_absolute() or not str(prefix).isprintable() or set(str(prefix)) & UNREADABLE:
            raise CommandError(
                "--prefix has to be an absolute path, like /opt/counterseal, without quotes, backslashes, $ or ;."
            )
        files = {} if options["procfile"] else units.systemd(prefix)
        if not options["systemd"]:
            files["Procfile"] = units.procfile(prefix)
        for name, text in files.items():
            if options["to"]:
                options["to"].mkdir(parents=True, exist_ok=True)
                (options["to"] / name).write_text(text)
            else:
                self.stdout.write(f"# {name}\n{text}")
