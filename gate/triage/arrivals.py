"""What came to an inbox since it was drawn. A row never moves under the reader's hands: what is new says so instead."""

from __future__ import annotations

import re

from django.db.models import Max, Model, QuerySet

from audit.templatetags.ui import counted
from gate.people.models import Person
from gate.triage import inbox
from gate.triage.models import Draft
from gate.writes.models import Admission, WriteRequest

MARK = re.compile(r"(\d{1,18})-(\d{1,18})")


def newest() -> str:
    """The newest draft and the newest admission of a write there are, for the page that is drawn now.

    A write comes to an inbox when admission has let it in, which may be after others that were proposed later.
    """
    return f"{_last(Draft)}-{_last(Admission)}"


def _last(model: type[Model]) -> int:
    return int(model._default_manager.aggregate(last=Max("pk"))["last"] or 0)


def since(seen: str, person: Person) -> str:
    """What waits for a person and is newer than `seen`: "1 new draft, 2 new writes.", or nothing."""
    mark = MARK.fullmatch(seen)
    if mark is None:
        return ""
    drafts, writes = inbox.open_drafts().filter(pk__gt=int(mark[1])), _let_in_since(int(mark[2]))
    new = [
        _new(drafts, "new draft") if person.has_perm("gate.review_draft") else "",
        _new(writes, "new write") if person.has_perm("gate.decide_write") else "",
    ]
    said = ", ".join(part for part in new if part)
    return f"{said}." if said else ""


def _let_in_since(seen: int) -> QuerySet[WriteRequest]:
    return inbox.open_writes().filter(pk__in=Admission.objects.filter(pk__gt=seen).values("write"))


def _new(waiting: QuerySet[Draft] | QuerySet[WriteRequest], noun: str) -> str:
    number = waiting[: inbox.MOST_COUNTED].count()
    return counted(number, noun) if number else ""
