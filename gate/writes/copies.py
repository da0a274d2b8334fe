"""Where writes repeat what an entry holds: for the page of a redaction, which names each place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.urls import reverse

from audit.copies import Copy
from audit.kinds import Kind
from audit.models import Entry
from gate.writes.models import WriteRequest

WRITE = re.compile(r"W-([1-9][0-9]{0,17})", re.ASCII)
KEEPS = "keeps its statement, parameters, reasons, what admission saw and previewed rows: what was approved stays."


def of(entry: Entry) -> Iterable[Copy]:
    """The write that an entry is about, and its other entries; and the writes of the investigation that made a call."""
    writes = WriteRequest.objects.none()
    if matched := WRITE.fullmatch(entry.subject):
        writes = WriteRequest.objects.filter(pk=int(matched[1]))
    elif entry.kind in (Kind.CALL_STARTED, Kind.CALL_FINISHED) and entry.run_id.isdecimal():
        writes = WriteRequest.objects.filter(investigation=int(entry.run_id))
    for write in writes:
        yield Copy(write.ref, reverse("writes:write", args=[write.pk]), KEEPS)
        for one in Entry.objects.filter(subject=write.ref).exclude(pk=entry.pk).order_by("seq"):
            page = reverse("audit:entry", args=[one.seq])
            yield Copy(one.ref, page, "is about the same write and may repeat it; ask to redact it too.")
