"""Asking the database for what the health page shows."""

from __future__ import annotations

from typing import Any

from django.db import connection


def rows(statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
    """What a statement of ours returns."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
