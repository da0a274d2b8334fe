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

from audit import canonical, masking, payloads, streams, work
from audit.kinds import Kind

HEADER_VERSION = 1
LONGEST_TEXT = 500  # characters of a header's text: it stands in indexes, whose rows PostgreSQL limits
LONGEST_SUMMARY = 200
LONGEST_ERROR = 4000
LONGEST = {"summary": LONGEST_SUMMARY, "error": LONGEST_ERROR}
# Texts that somebody outside may have written, as the name that a stranger typed or a database's error. The digest is
# over them and no redaction reaches them: what looks like a secret must not get in.
MASKED = frozenset({"actor", "principal", "subject", "summary", "tool", "error"})


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
    header = _header(kind, actor, about, at)
    header.update(_sizes(args, "args"))
    header.update(_sizes(result, "result"))
    header["truncated"] = about.get("truncated", False) or args.is_cut or result.is_cut
    commitments = canonical.commitment(salt[:16], args.kept), canonical.commitment(salt[16:], result.kept)
    values = _in_order(header)
    header["args_c"], header["result_c"] = (one.hex() for one in commitments)
    digest = canonical.entry_digest(header)
    parts = payloads.compress(args.kept), payloads.compress(result.kept)
    cursor.execute(_STATEMENT, [*values, *commitments, digest, salt, *parts, payloads.CODEC])
    row = cursor.fetchone()
    assert row is not None  # the statement returns the row that it inserted
    entry_id, seq, moment = row
    work.also(entry=f"A-{seq}", subject=str(header["subject"]))
    return Recorded(entry_id, seq, moment, digest)


def _sizes(packed: payloads.Packed, name: str) -> dict[str, canonical.Scalar]:
    return {f"{name}_bytes": packed.full_length, f"{name}_sha256": packed.full_sha256}


def _header(kind: Kind, actor: Actor, about: About, at: streams.Position) -> dict[str, canonical.Scalar]:
    call_id, parent = about.get("call_id"), about.get("parent")
    header: dict[str, canonical.Scalar] = {
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
        name: _storable(name, value) if value and isinstance(value, str) else value for name, value in header.items()
    }


def _storable(name: str, value: str) -> str:
    """Text that PostgreSQL can hold and index. An agent's tool name or a database's error may be anything at all."""
    # Whole: of half a secret, nothing would tell what it is. So callers hand in their texts uncut.
    text = masking.mask(value) if name in MASKED else value
    if not text.isascii() or "\0" in text:
        text = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    longest = LONGEST.get(name, LONGEST_TEXT)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# The header's fields in the order of the statement. The digest covers exactly these.
HEADER_FIELDS = (
    "header_version", "kind", "actor_kind", "actor", "principal", "subject", "summary", "run_id", "call_id", "parent",
    "tool", "tool_version", "tool_hash", "source", "certificate", "incident_id", "status", "duration_ms",
    "error_class", "error", "args_bytes", "args_sha256", "result_bytes", "result_sha256", "truncated",
    "writer", "writer_run", "writer_seq",
    "args_c", "result_c",
)  # fmt: skip
_in_order = itemgetter(*HEADER_FIELDS[:-2])  # the commitments are hashed as text and stored as bytes

# One statement writes entry and payload: there is no moment at which one exists without the other.
_STATEMENT = f"""
with entry as (
  insert into audit_entry ({", ".join(HEADER_FIELDS)}, digest)
  values ({", ".join(["%s"] * len(HEADER_FIELDS))}, %s) returning id, seq, at
), payload as (
  insert into audit_payload (entry_id, salt, args, result, codec) select id, %s, %s, %s, %s from entry
)
select id, seq, at from entry
"""
