"""Adding and inviting people, and their passwords."""

from __future__ import annotations

import secrets

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from audit import log, tokens
from audit.kinds import Kind
from gate.errors import NotAllowed
from gate.people import changes, guards, guessing, identities, visits
from gate.people.models import Change, PasswordLink, Person


def draw_password() -> str:
    """A password that nobody chose: four groups of letters and digits, about 95 bits."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"  # without those that look alike
    return "-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(4))


@transaction.atomic
def add_person(username: str, *, role: str, full_name: str, password: str, by: log.Actor) -> Person:
    """A new person who can sign in. Raises NotAllowed for a name that is taken or malformed, or a weak password."""
    person = _new(username, role, full_name)
    try:
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


@transaction.atomic
def invite(username: str, *, role: str, full_name: str, by: Person, email: str = "") -> tuple[Person, str]:
    """A new person without a password, and the token of the link that sets it, shown only now. Raises NotAllowed.

    They begin as a viewer: any other role is a change that a second admin confirms.
    """
    changes.lock()
    with changes.recorded_refusal(by, f"person {username}", role=role):
        guards.check_may_change(Person.objects.get(pk=by.pk))
        person = _new(username, Person.Role.VIEWER, full_name, email)
    person.set_unusable_password()
    person.save(force_insert=True)
    log.record_with(
        Kind.PERSON_CHANGED, by.actor(), subject=f"person {username}", summary="invited as viewer",
        args={"username": username, "role": person.role, "full_name": full_name, "email": email},
    )  # fmt: skip
    if role != person.role:
        changes.draft(person, act=Change.Act.ROLE, role=role, by=by, reason="Invited for this role.")
    return person, changes.draw_link(person, by)


def _new(username: str, role: str, full_name: str, email: str = "") -> Person:
    person = Person(username=username, role=role, full_name=full_name, email=email)
    try:
        person.full_clean(exclude=["password"])
    except ValidationError as error:
        raise NotAllowed(" ".join(error.messages)) from error
    return person


def link(token: str) -> PasswordLink:
    """The link behind a token. Raises NotAllowed when it was used, is over, or its person was deactivated."""
    found = PasswordLink.objects.filter(digest=tokens.digest(token), used_at=None, expires_at__gt=timezone.now())
    one = found.select_related("person").filter(person__is_active=True).first()
    if one is None:
        raise NotAllowed("This link was used, or replaced, or is older than 3 days. Ask an admin for another.")
    return one


@transaction.atomic
def use_link(token: str, password: str) -> Person:
    """Set a password with a link, once. Raises NotAllowed."""
    changes.lock()
    used = link(token)
    used.used_at = timezone.now()
    used.save(update_fields=["used_at"])
    _set_password(used.person, password, "set a password with a link")
    visits.end(used.person.visits.all())
    identities.disconnect(used.person)  # whoever connected one may be whom the new password is to keep out
    return used.person


@transaction.atomic
def change_password(person: Person, password: str) -> None:
    """Set one's own password; the caller has asked for the old one."""
    changes.lock()
    _set_password(person, password, "changed their password")


@transaction.atomic
def change_address(person: Person, email: str) -> None:
    """Set one's own e-mail address, or none; the caller has asked for the password again."""
    changes.lock()
    was, person.email = Person.objects.get(pk=person.pk).email, email
    person.save(update_fields=["email"])
    changes.void_links(person)  # those that went to the old address
    log.record_with(
        Kind.PERSON_CHANGED, person.actor(), subject=f"person {person.username}",
        summary="changed their e-mail address", args={"email": email, "was": was},
    )  # fmt: skip


def _set_password(person: Person, password: str, summary: str) -> None:
    person.set_password(password)
    person.save(update_fields=["password"])
    changes.void_links(person)
    guessing.forget_again(person.username)
    log.record_with(Kind.PERSON_CHANGED, person.actor(), subject=f"person {person.username}", summary=summary)
