"""Whether a source says the moment at which each row became known, and not only its day.

A day is compared as its first instant, so with it rows would be in an answer some hours before they were recorded.
"""

from __future__ import annotations

from functools import lru_cache

from evidence import reader
from evidence.errors import Refused
from evidence.metrics.definition import RECORDED_AT
from evidence.metrics.references import EXPOSED

MOMENTS = frozenset({"timestamp with time zone", "timestamp without time zone"})
TYPE = "pg_typeof((select t.{column} from {view} t limit 0))::text as {relation}"


def check(dsn: str, certificate: str, schema: str, relations: frozenset[str]) -> None:
    """Raise Refused for the first relation of which only the day is known; and as a read does."""
    for relation, is_of in _types(dsn, certificate, schema, tuple(sorted(relations))):
        if is_of not in MOMENTS:
            sentence = (
                f"{EXPOSED}{relation}.{RECORDED_AT} is a {is_of}; it has to be the moment at which a row was known."
            )
            raise Refused("no_moment", sentence)


@lru_cache(maxsize=256)
def _types(dsn: str, certificate: str, schema: str, relations: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The type of each, asked once for each certificate: a source that is another one has another."""
    asked = [TYPE.format(column=RECORDED_AT, view=f"{EXPOSED}{one}", relation=one) for one in relations]
    found = reader.read(dsn, f"select {', '.join(asked)}", schema=schema).rows[0]
    return tuple(found.items())
