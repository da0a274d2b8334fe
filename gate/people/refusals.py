"""Sign-ins that were refused. Guessing a password a thousand times makes a count, not a thousand entries."""

from __future__ import annotations

from audit import log
from audit.counting import Counting
from audit.kinds import Kind
from gate.people.models import Person

RECORDED_EACH = 5  # of one name in a minute
UNKNOWN = "someone unknown"


def record(typed: str, *, waits: bool = False) -> None:
    """A refused sign-in. A password is sometimes typed into the wrong field, so only names that exist are kept."""
    known = Person.objects.filter(username=typed).exists()
    name = typed if known else UNKNOWN
    if counting.is_free(name):
        _record(name, _why(known, waits))


def record_at_provider(name: str, issuer: str, why: str) -> None:
    """A sign-in through the provider that was refused, or something else that was to be done there."""
    if counting.is_free(name):
        _record(name, f"through {issuer}: {why}")


def record_second_step(person: Person, why: str) -> None:
    """A right password whose second step was refused."""
    if counting.is_free(person.username):
        _record(person.username, f"after the password: {why}")


def _why(known: bool, waits: bool) -> str:
    if waits:
        return "too many tries; the password was not looked at"
    return "a wrong password" if known else "no such person"


def _record_count(name: str, number: int) -> None:
    _record(name, f"{number} more refused sign-ins within a minute")


def _record(name: str, summary: str) -> None:
    log.record(
        Kind.PERSON_REFUSED, log.Actor("person", name, name), subject=name, status="refused", summary=summary
    )  # fmt: skip


counting = Counting(_record_count, free=RECORDED_EACH)
