from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError

from audit import twohands
from audit.models import Definition
from evidence import examining, reader_role, sources
from evidence.errors import Problem
from evidence.reader_role import Tier


class Command(BaseCommand):
    help = "Print the statements that make the strongest reader for a source's server, tier by tier. Nothing is run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source")

    def handle(self, *args: Any, **options: Any) -> None:
        source = twohands.active("source", options["source"])
        if source is None:
            raise CommandError(f"There is no active source {options['source']}.")
        self.stdout.write("\n".join(_lines(source)))


def _lines(source: Definition) -> Iterator[str]:
    """The whole script, in comments and statements. Raises CommandError for what the doctor may not see."""
    try:
        role = sources.role(source)
        with examining.session(source, "doctor_env") as doctor:
            yield f"-- The strongest reader of {source.name}: role {role}, database {doctor.info.dbname}, PostgreSQL"
            yield f"-- {doctor.info.parameter_status('server_version')}. Read it, then run it there."
            for tier in reader_role.tiers(doctor, role, source.body["schema"]):
                yield from _of(tier)
    except Problem as problem:
        raise CommandError(problem.sentence) from problem
    except psycopg.Error as error:
        # Only what the server said: a driver's message may hold parts of the connection string.
        said = error.diag.message_primary or "the connection failed"
        raise CommandError(f"The doctor of {source.name} does not see the server: {said}.") from error
    yield f"-- The role has no password yet. In psql: \\password {role}"
    yield "-- Limit it to this tool's host in pg_hba.conf, and keep it from the server's other databases there."
    yield "-- No privilege stops a role from changing its own password; sign-in by certificate does."


def _of(tier: Tier) -> Iterator[str]:
    yield f"\n-- {tier.title}\n-- Needs: {tier.needs}"
    yield from tier.statements or ["-- Nothing is left to do."]
