"""The person behind a request."""

from typing import cast

from django.http import HttpRequest

from gate.people.models import Person


def person_of(request: HttpRequest) -> Person:
    """The signed-in person; the login middleware lets nobody else through to the views that ask."""
    return cast(Person, request.user)
