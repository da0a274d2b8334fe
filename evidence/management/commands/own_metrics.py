"""`manage.py own_metrics [NAME]`: what makes Counterseal's own record a source, and the bodies to draft with."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evidence.metrics.exact import exact
from evidence.own import shipped


def _price(text: str) -> Decimal:
    """Raises ValueError for what is no plain number."""
    exact(text)
    return Decimal(text)


class Command(BaseCommand):
    """Prints, and runs nothing: a superuser runs the statements, an admin drafts the bodies, another activates them."""

    help = "Print the SQL that makes Counterseal's own record a source, or the body of one of its definitions."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="of a definition; without one, the SQL")
        parser.add_argument("--prices", help=f"for {shipped.COST}: a valuation and its version, like call_prices@1")
        parser.add_argument(
            "--agent-second", type=_price, help="what it says that a second of an agent's call costs, like 0.0004"
        )

    def handle(
        self, *args: Any, name: str | None, prices: str | None, agent_second: Decimal | None, **options: Any
    ) -> None:
        if name is None:
            self.stdout.write(f"{shipped.logins()}\n{shipped.views()}")
            return
        bodies = dict([shipped.source()]) | shipped.metrics()
        if prices is not None and agent_second is not None:
            bodies[shipped.COST] = shipped.cost(prices, agent_second)
        elif name == shipped.COST:
            raise CommandError(
                "Say by which table, and what it says: --prices call_prices@1 --agent-second 0.0004. The table was put "
                "in force, and the golden value is made of that price."
            )
        if name not in bodies:
            raise CommandError(f"There is no such definition; there are {', '.join(bodies)}.")
        self.stdout.write(json.dumps(bodies[name], indent=2))
