"""Commands that somebody with an account on the machine runs: who they are, and what they read when it fails."""

from __future__ import annotations

import os
import pwd
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from audit import disk, log


def actor() -> log.Actor:
    """Whoever runs the command, by the name of their account on this machine."""
    number = os.getuid()
    try:
        account = pwd.getpwuid(number).pw_name
    except KeyError:  # a container's number without a name
        account = f"uid {number}"
    return log.Actor("process", "operator command", account)


class OperatorCommand(BaseCommand):
    """A command that needs the running database, and says so when there is none."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run it. Raises CommandError when the database does not answer, or its disk is full."""
        try:
            return super().execute(*args, **options)
        except (OperationalError, psycopg.OperationalError) as error:
            said = str(error).strip()
            raise CommandError(
                disk.said_of(error)
                or f"The database does not answer ({said}). Start it with manage.py up, or set DATABASE_URL."
            ) from error
