"""The clock that verdicts go by."""

from __future__ import annotations

from datetime import datetime

from django.db import connection


def now() -> datetime:
    """The moment by the database's clock, which also stamps the entries: the two are compared with each other."""
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
