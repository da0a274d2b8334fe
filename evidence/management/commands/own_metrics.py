"""`manage.py own_metrics [NAME]`: what makes Counterseal's own record a source, and the bodies to draft with."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evidence.own import shipped


class Command(BaseCommand):
    """Prints, and runs nothing: a superuser runs the statements, an admin drafts the bodies, another activates them."""

    help = "Print the SQL that makes Counterseal's own record a source, or the body of one of its definitions."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="of a definition; without one, the SQL")
        parser.add_argument("--prices", help=f"for {shipped.COST}: a valuation and its version, like call_prices@1")

    def handle(self, *args: Any, name: str | None, prices: str | None, **options: Any) -> None:
        if name is None:
            self.stdout.write(f"{shipped.logins()}\n{shipped.views()}")
            return
        bodies = dict([shipped.source()]) | shipped.metrics()
        if name == shipped.COST and prices is None:
            raise CommandError("Say by which table: --prices call_prices@1 names a valuation that was put in force.")
        if prices is not None:
            bodies[shipped.COST] = shipped.cost(prices)
        if name not in bodies:
            raise CommandError(f"There is no such definition; there are {', '.join(bodies)}.")
        self.stdout.write(json.dumps(bodies[name], indent=2))
