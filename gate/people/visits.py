"""Where somebody is signed in, and signing out there. A visit ends with its session."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth import login
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from audit import log
from audit.kinds import Kind
from gate.people.models import Person, Visit

SEEN_EVERY = timedelta(minutes=1)


def begin(request: HttpRequest, person: Person) -> None:
    """Sign somebody in with this browser."""
    login(request, person)
    if request.session.session_key is None:  # somebody else was signed in here; their session was flushed
        request.session.create()
    Visit.objects.filter(person=person).exclude(session_key__in=_live()).delete()
    Visit.objects.update_or_create(
        session_key=_key(request),
        defaults={
            "person": person,
            "address": request.META.get("REMOTE_ADDR", "")[:45],
            "browser": request.headers.get("User-Agent", "").replace("\0", "")[:200],
        },
    )


def see(request: HttpRequest) -> None:
    """Note that the browser was here just now, at most once a minute."""
    now = timezone.now()
    Visit.objects.filter(session_key=_key(request), seen_at__lt=now - SEEN_EVERY).update(seen_at=now)


def of(person: Person) -> QuerySet[Visit]:
    """The browsers that are signed in now, the one last seen first."""
    return live().filter(person=person).order_by("-seen_at")


def live() -> QuerySet[Visit]:
    """Every browser whose session goes on."""
    return Visit.objects.filter(session_key__in=_live())


def _live() -> QuerySet[Session, str]:
    return Session.objects.filter(expire_date__gt=timezone.now()).values_list("session_key", flat=True)


def goes_on(session_key: str, pk: int, auth_hash: str) -> bool:
    """Whether a session is still that person's: not over, not signed out, not deactivated, the password the same."""
    person = Person.objects.filter(pk=pk, is_active=True).first()
    is_theirs = person is not None and constant_time_compare(person.get_session_auth_hash(), auth_hash)
    return is_theirs and _live().filter(session_key=session_key).exists()


def end_this(request: HttpRequest) -> None:
    """Forget the browser that is being signed out."""
    Visit.objects.filter(session_key=_key(request)).delete()


@transaction.atomic
def end_others(request: HttpRequest, person: Person, pk: int | None = None) -> int:
    """Sign out one other browser of the person, or all others. How many there were."""
    others = Visit.objects.filter(person=person).exclude(session_key=_key(request))
    ended = end(others if pk is None else others.filter(pk=pk))
    if ended:
        log.record_with(
            Kind.PERSON_CHANGED, person.actor(), subject=f"person {person.username}",
            summary=f"signed out elsewhere: {ended} of their sessions", args={"ended": ended},
        )  # fmt: skip
    return ended


def end(visits: QuerySet[Visit]) -> int:
    """End sessions, in the caller's transaction. How many."""
    keys = list(visits.values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    Visit.objects.filter(session_key__in=keys).delete()
    return len(keys)


def keep_after_new_password(request: HttpRequest, was: str) -> None:
    """The session that set a new password goes on under a new key."""
    Visit.objects.filter(session_key=was).update(session_key=_key(request))


def _key(request: HttpRequest) -> str:
    return request.session.session_key or ""
