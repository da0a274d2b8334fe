"""Where questions of metrics repeat what an entry holds: for the page of a redaction, and gone with the entry."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.models import Q
from django.urls import reverse

from audit.copies import Copy
from audit.models import Entry
from evidence.models import MetricAsk


def of(entry: Entry) -> Iterable[Copy]:
    """The questions that the call of an entry answered."""
    if entry.call_id is None:
        return
    repeats = Q()
    for seq in Entry.objects.filter(call_id=entry.call_id).values_list("seq", flat=True):
        repeats |= Q(audit_id=f"A-{seq}") | Q(answer__contains={"golden": [{"audit_id": f"A-{seq}"}]})
    for ask in MetricAsk.objects.filter(repeats).select_related("version").order_by("pk"):
        name = ask.version.name
        yield Copy(name, reverse("metrics:one", args=[name]), "shows what was asked and answered; it is taken away.")


def forget() -> None:
    """Take away the questions whose calls stood in months of the log that were dropped."""
    with connection.cursor() as cursor:
        cursor.execute("select evidence_forget_copies()")


def clear(redaction: int) -> None:
    """Take away the questions that the redacted call answered."""
    with connection.cursor() as cursor:
        cursor.execute("select evidence_clear_copies(%s)", [redaction])
