from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit import twohands
from evidence import kinds
from evidence.errors import Problem


class Command(BaseCommand):
    help = "Print what makes the strongest reader for a source's server, whatever its kind. Nothing is run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source")

    def handle(self, *args: Any, **options: Any) -> None:
        source = twohands.active("source", options["source"])
        if source is None:
            raise CommandError(f"There is no active source {options['source']}.")
        try:
            self.stdout.write("\n".join(kinds.of(source).strongest_reader(source)))
        except Problem as problem:
            raise CommandError(problem.sentence) from problem
