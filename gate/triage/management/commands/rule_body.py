"""`manage.py rule_body HYPOTHESIS VERSION`: the body to draft a rule definition with."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gate.triage.rules import registry


class Command(BaseCommand):
    """Prints the JSON body of one rule file, with the hash of all that decides with it."""

    help = "Print the body of a rule definition for one rule file of this installation."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("hypothesis")
        parser.add_argument("version", type=int)

    def handle(self, *args: Any, hypothesis: str, version: int, **options: Any) -> None:
        for rule in registry.loaded():
            if (rule.hypothesis, rule.version) == (hypothesis, version):
                self.stdout.write(json.dumps(registry.body_of(rule), indent=2))
                return
        raise CommandError(f"There is no rule file {hypothesis}/v{version}.py in this installation.")
