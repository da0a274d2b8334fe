"""The demo makes Counterseal's own record a source, with the statements that `manage.py own_metrics` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from evidence.own import shipped
from gate.config import embedded

LOGINS = ("own_reader", "own_doctor")


def make_logins(connection: psycopg.Connection[Any], passwords: Mapping[str, str]) -> None:
    """Its reader and its doctor, before the upgrade records who may connect.

    `connection` is a superuser's, to Counterseal's own database.
    """
    for name in LOGINS:
        embedded.ensure_role(connection, name, passwords[name])
    connection.execute(shipped.logins().encode())
    # The upgrade may change what the views stand on; they are made anew behind it.
    connection.execute("drop schema if exists own_read cascade")


def make_views(connection: psycopg.Connection[Any]) -> None:
    """Its views, once the upgrade has made the log. `connection` is a superuser's, to Counterseal's own database."""
    connection.execute(shipped.views().encode())
