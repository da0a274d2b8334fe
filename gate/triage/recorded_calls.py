"""The recorded calls that a verdict is given, read back from the log and checked against it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from audit import reading
from audit.kinds import Kind
from audit.models import Entry
from gate.triage.cases import RecordedCall


def load(incident_id: int, cited: Iterable[str], tools: Iterable[str] | None, until: datetime) -> list[RecordedCall]:
    """All finished calls of `tools` (None: of any) on the incident up to a moment, and whatever else was cited."""
    numbers = [seq for audit_id in cited if (seq := reading.seq_of(audit_id)) is not None]
    own = Q(incident_id=incident_id) if tools is None else Q(incident_id=incident_id, tool__in=list(tools))
    wanted = own | Q(seq__in=numbers)
    entries = list(Entry.objects.filter(wanted, kind=Kind.CALL_FINISHED, at__lte=until).order_by("seq"))
    contents, began = reading.contents_of(entries), _started(entries)
    return [_call(entry, contents[entry.pk], began) for entry in entries]


def _started(entries: list[Entry]) -> dict[UUID, datetime]:
    """When each call began, by call id: a finish alone does not say what moment its answer is of."""
    ids = [entry.call_id for entry in entries if entry.call_id is not None]
    started = Entry.objects.filter(kind=Kind.CALL_STARTED, call_id__in=ids)
    return {call_id: at for call_id, at in started.values_list("call_id", "at") if call_id is not None}


def _call(entry: Entry, content: reading.Content, began: dict[UUID, datetime]) -> RecordedCall:
    called_at = began.get(entry.call_id) if entry.call_id is not None else None
    return RecordedCall(
        audit_id=entry.ref,
        incident_id=entry.incident_id,
        run_id=entry.run_id,
        tool=entry.tool,
        tool_version=entry.tool_version,
        tool_hash=entry.tool_hash,
        source=entry.source,
        status=entry.status,
        called_at=called_at if called_at is not None else entry.at,
        finished_at=entry.at,
        args=content.args,
        result=content.result,
        truncated=entry.truncated or (content.is_intact and not content.is_readable),
        # A finish without its start is not a whole record of a call.
        is_intact=content.is_intact and called_at is not None,
        digest=bytes(entry.digest).hex(),
        entry_id=str(entry.pk),
    )
