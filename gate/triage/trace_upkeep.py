"""A trace is kept as long as the log keeps the entry of its upload."""

from __future__ import annotations

from audit.models import Entry
from gate.triage.trace_models import Trace

PRUNED = "Its entry was pruned from the log, and its text with it."


def clear_pruned() -> None:
    """Clear the text and the report of each trace whose entry is gone. Safe to run twice at once."""
    held = Trace.objects.filter(content__isnull=False, entry_seq__isnull=False)
    numbers = {pk: seq for pk, seq in held.values_list("pk", "entry_seq") if seq is not None}
    there = set(Entry.objects.filter(seq__in=list(numbers.values())).values_list("seq", flat=True))
    gone = [pk for pk, seq in numbers.items() if seq not in there]
    Trace.objects.filter(pk__in=gone).update(content=None, report=None, why=PRUNED)
