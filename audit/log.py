"""The two ways into the log. Nothing else writes entries.

Callers MUST have `record` return before they show the effect that it describes: no entry, no effect.
`record_with` joins the caller's transaction: the change and its entry are both there or neither is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any, TypedDict, Unpack
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from psycopg import Cursor

from audit import canonical, header, nudges, payloads, streams, work
from audit.kinds import COUNTED, Kind

HEADER_VERSION = 1


@dataclass(frozen=True)
class Actor:
    """Who did it, as they were called then: a person, an agent with its owner, a monitor, or one of our processes."""

    kind: str
    name: str
    principal: str  # the person who answers for it; for a person or a process, itself

    @classmethod
    def process(cls) -> Actor:
        """The process that is running now."""
        return cls("process", settings.PROCESS, settings.PROCESS)

    @classmethod
    def person(cls, person: Any) -> Actor:
        """Somebody who signs in, as they are called now."""
        return cls("person", str(person), person.get_username())


class About(TypedDict, total=False):
    """What an entry may say besides its kind and actor. Everything left out is recorded as empty or null."""

    subject: str  # I-318, V-2041, W-577, "tool find_job v2"
    summary: str  # one line for the list, put together by our code; cut when it is long
    run_id: str  # the investigation
    call_id: UUID | None
    parent: UUID | None  # a finish names its start
    tool: str
    tool_version: int | None
    tool_hash: str
    source: str
    certificate: str
    incident_id: int | None
    status: str  # ok, refused, failed, stale, …
    duration_ms: int | None
    error_class: str
    error: str
    args: Any
    result: Any
    truncated: bool  # the result was cut by a limit of the tool


@dataclass(frozen=True)
class Recorded:
    """The receipt of an entry: its number, key, server time, and the digest that it was written under."""

    id: UUID
    seq: int
    at: datetime
    digest: bytes

    @property
    def ref(self) -> str:
        """The id that people read and findings cite, like A-48213."""
        return f"A-{self.seq}"


def record(kind: Kind, actor: Actor, **about: Unpack[About]) -> Recorded:
    """Commit one entry on a connection of its own, whatever becomes of the caller's transaction.

    Raises psycopg.Error when it could not be committed; the caller MUST then not go on.
    """
    with streams.own_session() as (cursor, stream):
        receipt = _insert(cursor, stream.next(), kind, actor, about)
        stream.advance()
    return receipt


def record_with(kind: Kind, actor: Actor, **about: Unpack[About]) -> Recorded:
    """Write one entry in the caller's transaction. Raises TransactionManagementError outside of one.

    Savepoints MUST come from `transaction.atomic`: those made by hand would leave a hole in the writer's numbers.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("record_with joins a transaction; open one, or use record.")
    with connection.cursor() as cursor:
        position = streams.of_transaction(connection)
        receipt = _insert(cursor, position, kind, actor, about)
    streams.advance_on_commit(connection)
    return receipt


def _insert(cursor: Cursor[Any] | Any, at: streams.Position, kind: Kind, actor: Actor, about: About) -> Recorded:
    salt = os.urandom(32)
    args, result = payloads.pack(about.get("args")), payloads.pack(about.get("result"))
    said = _header(kind, actor, about, at)
    said.update(_sizes(args, "args"))
    said.update(_sizes(result, "result"))
    said["truncated"] = about.get("truncated", False) or args.is_cut or result.is_cut
    commitments = canonical.commitment(salt[:16], args.kept), canonical.commitment(salt[16:], result.kept)
    values = _in_order(said)
    said["args_c"], said["result_c"] = (one.hex() for one in commitments)
    digest = canonical.entry_digest(said)
    parts = payloads.compress(args.kept), payloads.compress(result.kept)
    cursor.execute(_STATEMENT, [*values, *commitments, digest, salt, *parts, payloads.CODEC, kind in COUNTED])
    row = cursor.fetchone()
    assert row is not None  # the statement returns the row that it inserted
    entry_id, seq, moment = row[:3]
    work.also(entry=f"A-{seq}", subject=str(said["subject"]))
    return Recorded(entry_id, seq, moment, digest)


def _sizes(packed: payloads.Packed, name: str) -> dict[str, canonical.Scalar]:
    return {f"{name}_bytes": packed.full_length, f"{name}_sha256": packed.full_sha256}


def _header(kind: Kind, actor: Actor, about: About, at: streams.Position) -> dict[str, canonical.Scalar]:
    call_id, parent = about.get("call_id"), about.get("parent")
    said: dict[str, canonical.Scalar] = {
        "header_version": HEADER_VERSION,
        "kind": str(kind.value),
        "actor_kind": actor.kind,
        "actor": actor.name,
        "principal": actor.principal,
        "subject": about.get("subject", ""),
        "summary": about.get("summary", ""),
        "run_id": about.get("run_id", ""),
        "call_id": str(call_id) if call_id else None,
        "parent": str(parent) if parent else None,
        "tool": about.get("tool", ""),
        "tool_version": about.get("tool_version"),
        "tool_hash": about.get("tool_hash", ""),
        "source": about.get("source", ""),
        "certificate": about.get("certificate", ""),
        "incident_id": about.get("incident_id"),
        "status": about.get("status", "ok"),
        "duration_ms": about.get("duration_ms"),
        "error_class": about.get("error_class", ""),
        "error": about.get("error", ""),
        "writer": settings.PROCESS,
        "writer_run": at.run,
        "writer_seq": at.number,
    }
    return {
        name: header.storable(name, value) if value and isinstance(value, str) else value
        for name, value in said.items()
    }


_in_order = itemgetter(*header.FIELDS[:-2])  # the commitments are hashed as text and stored as bytes

# One statement writes entry and payload: there is no moment at which one exists without the other. What may change a
# number that pages show is announced, without a word of what it was. Calls are not: they change none, and transactions
# that notify commit one after the other.
_STATEMENT = f"""
with entry as (
  insert into audit_append ({", ".join(header.COLUMNS)})
  values ({", ".join(["%s"] * len(header.COLUMNS))}) returning id, seq, at
), payload as (
  insert into audit_payload (entry_id, salt, args, result, codec) select id, %s, %s, %s, %s from entry
)
select id, seq, at, case when %s then pg_notify('{nudges.CHANNEL}', '') end from entry
"""
