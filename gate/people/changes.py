"""Roles, deactivation and password links change by two hands: one admin drafts, another confirms.

While there is one admin alone, they may do both; that is recorded and shown as *solo*. An admin who could act alone
could make a second self, or take over somebody's account, and be the second hand of their own writes.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import log, refusing, seconding, tokens
from audit.kinds import Kind
from gate.people import guards, leaving
from gate.people.models import Change, PasswordLink, Person

Act, Status = Change.Act, Change.Status
LINK_LASTS = timedelta(days=3)


def recorded_refusal(by: Person, subject: str, **args: Any) -> AbstractContextManager[None]:
    """Have a refusal of somebody in the log before it is shown."""
    return refusing.recorded_refusal(Kind.PERSON_REFUSED, by, subject, **args)


@transaction.atomic
def draft(person: Person, *, act: str, by: Person, reason: str, role: str = "") -> Change:
    """A change that waits for a second admin. Raises NotAllowed."""
    lock()
    person.refresh_from_db()
    with recorded_refusal(by, _subject(person), act=act, role=role):
        guards.check_may_change(_fresh(by))
        guards.check_fits(person, act, role)
        guards.check_none_waits(person)
    change = Change.objects.create(person=person, act=act, role=role, reason=reason, drafted_by=by)
    record(change, by, f"drafted: {in_words(change)}")
    return change


@transaction.atomic
def confirm(pk: int, *, by: Person) -> str:
    """Make a change true. The answer is the token of a password link, shown only now, or "". Raises NotAllowed."""
    lock()
    change = _get(pk)
    with recorded_refusal(by, _subject(change.person), act=change.act, change=pk):
        solo = guards.check_can_confirm(change, _fresh(by))
    seconding.decide(change, by, Status.CONFIRMED, solo=solo)
    token, more = _apply(change, by)
    record(change, by, f"confirmed{', solo' if solo else ''}: {in_words(change)}", **more)
    return token


@transaction.atomic
def withdraw(pk: int, *, by: Person) -> Change:
    """Take a drafted change back; any admin may. Raises NotAllowed."""
    lock()
    change = _get(pk)
    with recorded_refusal(by, _subject(change.person), act=change.act, change=pk):
        seconding.check_may_decide(guards.CHANGING, change, _fresh(by))
    seconding.decide(change, by, Status.WITHDRAWN)
    record(change, by, f"withdrawn: {in_words(change)}")
    return change


def lock() -> None:
    """Changes of people come one after another: two at once could each leave the other as the last admin."""
    seconding.lock("people")


def _get(pk: int) -> Change:
    return Change.objects.select_related("person", "drafted_by").get(pk=pk)


def _fresh(by: Person) -> Person:
    # The role that the request was let in with may have changed while it waited for the lock.
    return Person.objects.get(pk=by.pk)


def _apply(change: Change, by: Person) -> tuple[str, dict[str, Any]]:
    person = change.person
    if change.act == Act.RESET:
        return draw_link(person, by), {}
    if change.act == Act.ROLE:
        person.role = change.role
    else:
        person.is_active = change.act == Act.REACTIVATE
    person.save(update_fields=["role", "is_active"])
    if change.act != Act.DEACTIVATE:
        return "", {}
    void_links(person)  # or one that is still out would open again with a reactivation
    return "", leaving.let_go(person, by).as_args()


def draw_link(person: Person, by: Person) -> str:
    """A new link for the person, in the caller's transaction; those before it are void. Its token."""
    void_links(person)
    token, kept = tokens.draw("csp")
    PasswordLink.objects.create(person=person, digest=kept, made_by=by, expires_at=timezone.now() + LINK_LASTS)
    return token


def void_links(person: Person) -> None:
    """Make every link of the person useless, in the caller's transaction."""
    now = timezone.now()
    PasswordLink.objects.filter(person=person, used_at=None, expires_at__gt=now).update(expires_at=now)


def record(change: Change, by: Person, summary: str, **more: Any) -> None:
    """One entry about a change of somebody, in the caller's transaction."""
    log.record_with(
        Kind.PERSON_CHANGED, by.actor(), subject=_subject(change.person), summary=summary,
        args={"change": change.pk, "act": change.act, "role": change.role, "reason": change.reason,
              "drafted_by": change.drafted_by.username, "solo": change.solo, **more},
    )  # fmt: skip


def in_words(change: Change) -> str:
    """A change in a few words: role on-call."""
    return f"role {change.get_role_display()}" if change.act == Act.ROLE else str(change.get_act_display())


def _subject(person: Person) -> str:
    return f"person {person.username}"
