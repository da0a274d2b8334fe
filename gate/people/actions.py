"""Adding people."""

from __future__ import annotations

import secrets

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from audit import log
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people.models import Person


def draw_password() -> str:
    """A password that nobody chose: four groups of letters and digits, about 95 bits."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"  # without those that look alike
    return "-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(4))


@transaction.atomic
def add_person(username: str, *, role: str, full_name: str, password: str, by: log.Actor) -> Person:
    """A new person who can sign in. Raises NotAllowed for a name that is taken or malformed, or a weak password."""
    person = Person(username=username, role=role, full_name=full_name)
    try:
        person.full_clean(exclude=["password"])
        validate_password(password, person)
    except ValidationError as error:
        raise NotAllowed(" ".join(error.messages)) from error
    person.set_password(password)
    person.save(force_insert=True)
    log.record_with(
        Kind.PERSON_CHANGED, by, subject=f"person {username}", summary=f"added as {person.get_role_display()}",
        args={"username": username, "role": role, "full_name": full_name},
    )  # fmt: skip
    return person
