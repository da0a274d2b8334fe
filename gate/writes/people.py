"""People as the writer sees them: through a view that holds no password hash."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from gate.people import permissions


@dataclass(frozen=True)
class Approver:
    """Who may have approved: name and standing as they are now."""

    id: int
    username: str
    name: str
    role: str
    is_active: bool

    @property
    def may_decide(self) -> bool:
        """Whether this person's role decides about writes, and they still work here."""
        return self.is_active and permissions.allows(self.role, "gate.decide_write")


def approver(person_id: int) -> Approver | None:
    """The person with this id, or None."""
    return _found("id = %s", person_id)


def by_username(username: str) -> Approver | None:
    """The person who signs in with this name, or None."""
    return _found("username = %s", username)


def _found(condition: str, value: int | str) -> Approver | None:
    columns = "select id, username, full_name, role, is_active from people_approver"
    with connection.cursor() as cursor:
        cursor.execute(f"{columns} where {condition}", [value])
        row = cursor.fetchone()
    return Approver(row[0], row[1], row[2] or row[1], row[3], row[4]) if row else None


def holds_seat(person_id: int, role: str) -> bool:
    """Whether the person decides about writes, in this role."""
    person = approver(person_id)
    return person is not None and person.may_decide and person.role == role


def name_of(person_id: int) -> str:
    """How a person is called in the log."""
    found = approver(person_id)
    return found.name if found else "someone unknown"
