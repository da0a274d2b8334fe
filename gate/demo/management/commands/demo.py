from typing import Any

import httpx2
from django.conf import settings
from django.core.management.base import CommandError

from gate.config import database
from gate.demo import agent, keeping, seed
from gate.demo.admins import PageRefused
from gate.errors import NotAllowed
from gate.people.operator import OperatorCommand


class Command(OperatorCommand):
    # Its rules are tried on cases: the people's plane and the trial worker find the shop's in COUNTERSEAL_CASES.
    help = "Make the demo on a running installation: a shop's definitions, incidents, and an agent that investigates."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--people-url", default=database.started_at("people") or settings.ORIGIN)
        parser.add_argument("--agents-url", default=database.started_at("agents") or settings.AGENTS_ORIGIN)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            seed.seed(options["people_url"], options["agents_url"], self.stdout.write)
        except seed.CannotSeed as problem:
            raise CommandError(str(problem)) from problem
        except (PageRefused, agent.Refused, NotAllowed, httpx2.HTTPError) as problem:
            raise CommandError(f"The demo stopped half way and goes on when started again: {problem}") from problem
        self.stdout.write(f"The demo is ready; who can sign in, and how, stands in {keeping.path()}.")
