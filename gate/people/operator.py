"""Commands that somebody with an account on the machine runs: who they are, and what they read when it fails."""

from __future__ import annotations

import os
import pwd
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from audit import log
from gate.config import failures
from gate.config.roles import role_name


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
        """Run it. Raises CommandError when the database does not answer or refuses, or it is unclear which is meant."""
        _check_one_is_meant()
        try:
            return super().execute(*args, **options)
        except (Error, psycopg.Error) as error:
            sentence = failures.said_of(error)
            if sentence is None:
                raise
            raise CommandError(sentence) from error


def _check_one_is_meant() -> None:
    # Without DATABASE_URL it would be the embedded database, and the admin just added could not sign in elsewhere.
    if os.environ.get("COUNTERSEAL_OWNER_URL") and not os.environ.get("DATABASE_URL") and settings.PROCESS != "owner":
        raise CommandError(
            f"COUNTERSEAL_OWNER_URL names a server of your own, and this command does not run as its owner: "
            f"set DATABASE_URL to its connection as {role_name(settings.PROCESS)}."
        )
