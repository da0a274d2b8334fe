"""Times of the log as they are read: whatever an intruder has put there, a page and an export say it in a year."""

from __future__ import annotations

from typing import Any

from django.db import models


def readable(column: str) -> str:
    """SQL for a time as it is read, for statements that are written by hand. Every year has four digits."""
    return f"greatest(least({column}, '9999-12-30Z'), '1000-01-01Z')"


class ReadableTime(models.DateTimeField):  # type: ignore[type-arg]  # at run time it takes none
    """A time that Python can hold: infinity and years beyond its own are read as the first or last of them.

    Without this, one such row would stop every list and export that meets it. Its leaf does not fit either way.
    """

    def select_format(self, compiler: Any, sql: str, params: Any) -> tuple[str, Any]:
        """What stands in the list of a SELECT; conditions and orders see the column as it is."""
        return readable(sql), params

    def deconstruct(self) -> Any:
        """As migrations know it: a column like any other time."""
        name, _, args, named = super().deconstruct()
        return name, "django.db.models.DateTimeField", args, named
