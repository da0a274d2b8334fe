"""The version in force of a definition, for whoever asks at every call: its body is read once in a process.

Which version is in force is asked each time. What a version says is kept by its number and by PostgreSQL's number of
the row as it is, so that whatever happens to the row is read anew.
"""

from __future__ import annotations

from functools import lru_cache

from audit.at_once import Asked, Row, ask
from audit.models import Definition

IN_FORCE = "select id, xmin::text from audit_definition where kind = $1 and name = $2 and status = 'active'"


def active(kind: str, name: str) -> Definition | None:
    """The version in force, or None. Callers MUST NOT change it: others in this process have the same one."""
    return ask(asked(kind, name))


def asked(kind: str, name: str) -> Asked[Definition | None]:
    """The same as a statement, for who asks for more at once."""
    return Asked(IN_FORCE, [kind, name], _told)


def _told(rows: list[Row]) -> Definition | None:
    return kept(*rows[0]) if rows else None


@lru_cache(maxsize=1024)
def kept(pk: int, as_of: str) -> Definition:
    """The version of this number, as of this xmin of its row; the same holds for it. Raises Definition.DoesNotExist."""
    return Definition.objects.get(pk=pk)
