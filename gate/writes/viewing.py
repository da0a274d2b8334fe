"""That a person looked at what they approve, and for how long: by the clock of the database, from the first page on."""

from __future__ import annotations

import math

from django.conf import settings
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Now

from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import targets
from gate.writes.models import Preview, Viewing, WriteRequest

PAGE = ""  # the write's own page; a group of rows has its key


def note(person: Person, seen: Preview | None) -> None:
    """Remember that the person's page shows this preview now. The first time counts."""
    if seen is not None and not _of(person, seen).exists():
        # Two tabs at once bring one row about.
        Viewing.objects.bulk_create([Viewing(person=person, preview=seen, group=PAGE)], ignore_conflicts=True)


def check(person: Person, write: WriteRequest, seen: Preview | None) -> None:
    """Raises NotAllowed when the person's page has not shown this effect for as long as its risk asks for."""
    asked = seconds(write)
    left = asked - _looked(person, seen)
    if left > 0:
        raise NotAllowed(
            f"Look at {write.ref} for {_in_words(asked)} before you approve it; {_in_words(math.ceil(left))} more."
        )


def seconds(write: WriteRequest) -> int:
    """How long the page of this write is looked at before it can be approved."""
    return int(settings.VIEWING_SECONDS[targets.of(write.target).policy.risk])


def _in_words(number: int) -> str:
    return f"{number} second{'' if number == 1 else 's'}"


def _looked(person: Person, seen: Preview | None) -> float:
    if seen is None:
        return 0.0
    age = ExpressionWrapper(Now() - F("at"), output_field=DurationField())
    found = _of(person, seen).annotate(age=age).order_by("at").values_list("age", flat=True).first()
    return found.total_seconds() if found is not None else 0.0


def _of(person: Person, seen: Preview) -> QuerySet[Viewing]:
    # Another preview of the same effect shows the same page.
    return Viewing.objects.filter(person=person, preview__write=seen.write_id, preview__digest=seen.digest, group=PAGE)
