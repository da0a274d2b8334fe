"""What an operator reads when our own database is why a command failed: what happened, and which variable to set."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
from django.conf import settings

from audit import disk
from gate.config.roles import role_name

UNREACHED = ("08", "28", "3D", "57P")  # no connection, not let in, no such database, a server that ends or begins


def said_of(error: BaseException) -> str | None:
    """The sentence, when the database is why `error` came; None for anything else, which is a fault of ours."""
    found = next((one for one in _chain(error) if isinstance(one, psycopg.Error)), None)
    if found is None:
        return None
    said = " ".join(str(found).split())
    if isinstance(found, psycopg.errors.InsufficientPrivilege):
        return f"This database role may not do that ({said}). {_connect()}"
    if not isinstance(found, psycopg.OperationalError):
        return None
    if full := disk.said_of(error):
        return full
    if (found.sqlstate or "08").startswith(UNREACHED):
        return f"The database does not answer ({said}). {_connect()}"
    return f"The database could not do it ({said}). Try again."


def _connect() -> str:
    name = "COUNTERSEAL_OWNER_URL" if settings.PROCESS == "owner" else "DATABASE_URL"
    as_whom = f"the connection of {role_name(settings.PROCESS)}"
    if os.environ.get(name):
        return f"This command wants {as_whom} in {name}."
    return f"Start it with manage.py up, or set {name} to {as_whom}."


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
