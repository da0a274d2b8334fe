"""The log's rows as the verifier takes them. Whatever an intruder has put into a column, reading it never fails."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from django.db import connection

from audit.verify.entries import FIELDS, PARTS, Entry, Part

BATCH = 1000
LARGEST_PAYLOAD = 256 * 1024
HEADER = FIELDS[1]
# What a row must hold is asked for so that it is there even when somebody has taken the constraints away.
ENTRIES = f"""
select id, coalesce(seq, -1), greatest(least(coalesce(at, 'epoch'), '9999-12-30Z'), '0001-01-02Z'),
  coalesce(db_role, ''), coalesce(digest, ''), coalesce(epoch, 0), coalesce(xid::text, '0'), {", ".join(HEADER)}
from audit_entry where id = any(%s)
"""
# Of what is longer than any whole payload, no more is read: a column holds a gigabyte.
MOST_STORED = LARGEST_PAYLOAD + LARGEST_PAYLOAD // 8
PAYLOADS = (
    f"select entry_id, coalesce(salt, ''), substr(args, 1, {MOST_STORED}), substr(result, 1, {MOST_STORED}), codec "
    "from audit_payload where entry_id = any(%s)"
)
LEAVES = "select idx, entry_id, coalesce(h, '') from audit_leaf where idx > %s order by idx limit %s"
NODES = "select lvl, idx, h from audit_node join unnest(%s::int[], %s::int8[]) n (l, i) on lvl = l and idx = i"
CHECKPOINT = (
    "select size, greatest(least(coalesce(at, 'epoch'), '9999-12-30Z'), '0001-01-02Z'), coalesce(root, ''), "
    "coalesce(note, ''), epoch, last_xid::text, last_id from audit_checkpoint"
)
CHECKPOINTS = f"""
({CHECKPOINT} where size > %(start)s and size <= %(end)s order by size)
union all ({CHECKPOINT} where size > %(end)s order by size limit 1)
order by 1
"""
UNSEALED = """
select id, coalesce(epoch, 0) as era, coalesce(xid, '0') as taken_with from audit_entry e
where (coalesce(epoch, 0), coalesce(xid, '0'), id) > (%s, %s::xid8, %s)
  and not exists (select from audit_leaf l where l.entry_id = e.id)
order by 2, 3, 1 limit %s
"""


class Leaf(NamedTuple):
    """A row of the tree's lowest level: there are as many as entries, so it is made as cheaply as can be."""

    index: int  # type: ignore[assignment]  # in place of what tuples have, which nobody needs here
    entry_id: UUID
    hash: bytes


@dataclass(frozen=True)
class Checkpoint:
    """A row of the signed checkpoints, with the sealer's bookmark."""

    size: int
    at: datetime
    root: bytes
    note: str
    place: tuple[int, int, str]


def rows(statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    """What a statement returns."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def leaves(start: int | None = None) -> Iterator[list[Leaf]]:
    """All leaves by index, or those from `start` on, in batches."""
    last = -1 << 63 if start is None else start - 1
    while found := _leaves(last, BATCH):
        yield found
        last = found[-1].index


def leaves_between(start: int, end: int) -> list[Leaf]:
    """The leaves from `start` up to `end`: no more than a subtree that is not kept has."""
    return _leaves(start - 1, end - start)


def _leaves(last: int, most: int) -> list[Leaf]:
    """Those behind `last`. Asked for as bytes, not as text: there are millions, and it takes half as long."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return [*map(Leaf._make, cursor.execute(LEAVES, [last, most], binary=True))]


def nodes(wanted: Sequence[tuple[int, int]]) -> dict[tuple[int, int], bytes]:
    """The stored nodes of these levels and indices."""
    found = rows(NODES, [[level for level, _ in wanted], [index for _, index in wanted]]) if wanted else []
    return {(level, index): bytes(hashed or b"") for level, index, hashed in found}


def checkpoints(start: int, end: int) -> list[Checkpoint]:
    """The checkpoints above `start` up to `end` leaves, and the first one beyond."""
    found = rows(CHECKPOINTS, {"start": start, "end": end})
    return [
        Checkpoint(size, at, bytes(root), note, (epoch or 0, int(xid or 0), str(last)))
        for size, at, root, note, epoch, xid, last in found
    ]


def impossible_checkpoints() -> list[int]:
    """The sizes that checkpoints cannot have, and those that several have."""
    found = rows("select size from audit_checkpoint group by size having size < 1 or count(*) > 1 order by 1")
    return [size for (size,) in found]


def unsealed(after: tuple[int, int, str] | None = None) -> Iterator[list[Entry]]:
    """The entries without a leaf, in the order in which they would be sealed, in batches.

    `after`: a place in that order, below which nothing is looked for.
    """
    last = (-1 << 31, "0", UUID(int=0)) if after is None else (after[0], str(after[1]), UUID(after[2]))
    while found := rows(UNSEALED, [*last, BATCH]):
        entries = entries_of([row[0] for row in found])
        yield [entries[key] for key, *_ in found if key in entries]
        last = (found[-1][1], str(found[-1][2]), found[-1][0])


def of_kind(*kinds: str) -> list[Entry]:
    """The entries of a few kinds that are rare, by number."""
    found = rows("select id from audit_entry where kind = any(%s)", [list(kinds)])
    return sorted(entries_of([key for (key,) in found]).values(), key=lambda entry: entry.seq)


def entries_of(keys: list[UUID]) -> dict[UUID, Entry]:
    """The entries with these keys, with their payloads. Nothing is checked yet."""
    payloads = {row[0]: row[1:] for row in rows(PAYLOADS, [keys])}
    return {row[0]: _entry(row, payloads.get(row[0])) for row in rows(ENTRIES, [keys])}


def _entry(row: tuple[Any, ...], payload: tuple[Any, ...] | None) -> Entry:
    key, seq, at, role, digest, epoch, xid, *columns = row
    parts = _parts(payload) if payload else dict.fromkeys(PARTS, Part())
    return Entry(
        id=str(key),
        seq=seq,
        at=at,
        db_role=role,
        digest=bytes(digest),
        header={name: _hashed(value) for name, value in zip(HEADER, columns, strict=True)},
        args=parts["args"],
        result=parts["result"],
        place=(epoch, int(xid), str(key)),
    )


def _hashed(value: Any) -> Any:
    """A column as it was hashed when the entry was written."""
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    return str(value) if isinstance(value, UUID) else value


def _parts(payload: tuple[Any, ...]) -> dict[str, Part]:
    salt, args, result, codec = payload
    salts = {"args": bytes(salt)[:16], "result": bytes(salt)[16:]}
    return {name: _part(salts[name], stored, codec) for name, stored in (("args", args), ("result", result))}


def _part(salt: bytes, stored: Any, codec: str | None) -> Part:
    if stored is None:
        return Part()
    if codec != "zlib":
        return Part(damage=f"Its payload is stored as {codec}, which this program does not know.")
    unpacking = zlib.decompressobj()
    try:
        kept = unpacking.decompress(bytes(stored), LARGEST_PAYLOAD + 1)
    except zlib.error:
        return Part(damage="Its arguments or result are damaged and cannot be unpacked.")
    if not unpacking.eof or unpacking.unused_data or len(kept) > LARGEST_PAYLOAD:
        return Part(damage="Its arguments or result are not one whole payload.")
    return Part(salt, kept)
