"""Rows that decide something, and the entries that vouch for them.

Every act that makes or changes such a row says in its entry, in the same transaction, how the row stands from then on:
its table, its number, and a digest over what decides. The newest word about a row counts. A verification holds all rows
against it (audit/verify_vouched.py), and whoever is about to rely upon one asks here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection, models

from audit import reading
from audit.kinds import Kind
from audit.models import Agent, AgentToken, Definition, Entry, Hold, Link, Override, Redaction

TAG = b"audit-row/v1\0"
# By model, what the digest covers. A column that a later version adds is not among these: what was said of rows before
# knows nothing of it. A redaction's record is set after its entry, and held against it by the verifier.
COVERED: Mapping[type[models.Model], tuple[str, ...]] = {
    Agent: (
        "id", "name", "owner_id", "owner_name", "created_at", "stopped_at", "calls_per_hour", "open_investigations",
        "proposals_per_day",
    ),
    AgentToken: ("id", "agent_id", "label", "digest", "scopes", "issued_at", "expires_at", "revoked_at"),
    Definition: (
        "id", "kind", "name", "version", "body", "digest", "reason", "status", "drafted_by_id", "drafted_at",
        "activated_by_id", "activated_at", "solo", "retired_at",
    ),
    Hold: (
        "id", "incident_id", "month", "reason", "held_by_id", "held_at", "lifted_by_id", "lifted_at", "why_lifted",
    ),
    Link: ("id", "entry_seq", "subject", "url", "note", "paths", "cited_at"),
    Override: (
        "id", "verification", "sealer", "reason", "asked_by_id", "asked_by_name", "asked_at", "status", "decided_by_id",
        "decided_by_name", "decided_at", "solo",
    ),
    Redaction: (
        "id", "entry_seq", "entry_id", "part", "reason", "asked_by_id", "asked_at", "status", "decided_by_id",
        "decided_at",
    ),
}  # fmt: skip
RARE = (
    Kind.AGENT_CHANGED, Kind.TOKEN_ISSUED, Kind.TOKEN_REVOKED,
    Kind.DEFINITION_DRAFTED, Kind.DEFINITION_SHADOWED, Kind.DEFINITION_ACTIVATED, Kind.DEFINITION_RETIRED,
    Kind.LOG_HELD, Kind.LOG_OVERRIDDEN, Kind.LOG_REDACTION_ASKED, Kind.LOG_REDACTED,
)  # fmt: skip
KINDS = (*RARE, Kind.VERDICT_RENDERED)
Said = list[Any]  # table, number, digest


def rows(*made: models.Model) -> list[Said]:
    """How rows stand that the open transaction has made or changed: what its entry's arguments say as "rows"."""
    return [_said(row) for row in made]


def is_vouched(row: models.Model, subject: str) -> bool:
    """Whether the newest word about a row, in the entries about a subject, is that it stands as it does."""
    now = _said(row)
    entries = Entry.objects.filter(subject=subject, kind__in=KINDS).order_by("-seq")
    for entry in entries.iterator(50):
        for said in said_in(reading.content_of(entry).args):
            if said[:2] == now[:2]:
                return bool(said == now)
    return False


def said_in(args: Any) -> Sequence[Said]:
    """What an entry's arguments say of rows."""
    found = args.get("rows") if isinstance(args, dict) else None
    return [one for one in found if _is_said(one)] if isinstance(found, list) else []


def _is_said(one: Any) -> bool:
    return isinstance(one, list) and [type(part) for part in one] == [str, int, str]


def digest(table: str, values: Iterable[tuple[str, str | None]]) -> str:
    """SHA-256 over a tag and table and columns as JSON with sorted keys, each column as the database writes it; hex."""
    text = json.dumps([table, dict(values)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(TAG + text.encode()).hexdigest()


def columns(model: type[models.Model]) -> str:
    """What to select of a table so that no session's settings decide how it is written. Times are seconds."""
    return ", ".join(_as_text(model, name) for name in COVERED[model])


def _as_text(model: type[models.Model], name: str) -> str:
    is_time = isinstance(model._meta.get_field(name), models.DateField)
    return f"extract(epoch from {name})::text" if is_time else f"{name}::text"


def _said(row: models.Model) -> Said:
    model, table = type(row), row._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"select {columns(model)} from {table} where id = %s", [row.pk])
        return [table, row.pk, digest(table, zip(COVERED[model], cursor.fetchone(), strict=True))]
