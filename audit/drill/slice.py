"""A slice of the log in a database where it may be tampered with: its entries as they are, sealed anew.

What an entry's leaf covers is copied byte by byte, and its leaf has to be the same. What only orders the sealing is
not: transactions are numbered from the start, and the tree, its three checkpoints and their key are the drill's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from audit import notes, seal, verify_records
from audit.drill.tampering import triggers_off
from audit.kinds import Kind
from audit.models import Checkpoint, Entry
from audit.verify import note
from audit.verify.receipts import Receipt
from audit.verify.run import Outside
from audit.verify_surroundings import KNOWN as COLUMNS

VERIFICATION = {"id", "at", "size", "is_full", "findings", "finding_count", "is_clean", "took_ms"}
FEWEST, MOST = 330, 10_000  # a stored node covers 256 leaves, and some entries stay unsealed
UNSEALED = 30
PARTS = (0.44, 0.79, 1.0)  # of the sealed leaves: where the checkpoints are
ORIGIN = "drill.invalid/log"


class CannotDrill(Exception):
    """The sentence that says why nothing could be drilled."""


class TooFew(CannotDrill):
    """The log is too young to be drilled."""


# The newest leaves under a checkpoint whose entries are all there: retention drops from the other end.
SPAN = """
with newest as (
  select l.idx, e.id is not null and p.entry_id is not null as is_there
  from audit_leaf l left join audit_entry e on e.id = l.entry_id left join audit_payload p on p.entry_id = l.entry_id
  where l.idx < (select max(size) from audit_checkpoint) order by l.idx desc limit %s
)
select coalesce(max(idx) filter (where not is_there) + 1, min(idx), 0), coalesce(max(idx) + 1, 0) from newest
"""
MONTHS = """
select distinct date_trunc('month', uuid_extract_timestamp(entry_id) at time zone 'UTC')::date from drill_leaf
"""
# The order of sealing is that of transactions and, within one, of keys; so a number for each stretch where keys rise.
RENUMBER = """
with placed as (
  select d.idx, e.id, (e.epoch, e.xid) is distinct from (lag(e.epoch) over sealed, lag(e.xid) over sealed)
    or e.id < lag(e.id) over sealed as begins
  from drill_leaf d join audit_entry e on e.id = d.entry_id window sealed as (order by d.idx)
), numbered as (select id, 2 + count(*) filter (where begins) over (order by idx) as number from placed)
update audit_entry e set epoch = 0, xid = number::text::xid8 from numbered n where n.id = e.id
"""
SEALABLE = """
update audit_entry e set epoch = 1 from drill_leaf d
where d.entry_id = e.id and d.idx < (select min(idx) from drill_leaf) + %s
"""
# When the newest entry under it was written: all of them are older than the drill.
DATE_BACK = """
update audit_checkpoint set at = (select max(e.at) from audit_leaf l join audit_entry e on e.id = l.entry_id)
where size = %s
"""
DIFFERING = "select count(*) from drill_leaf d join audit_leaf l using (entry_id) where l.h <> d.h"
# An entry that every tampering can be done to: whole, with its writer's entries right before and after it.
TARGET = """
with here as (
  select l.idx, e.*, p.args, p.result from audit_leaf l
  join audit_entry e on e.id = l.entry_id join audit_payload p on p.entry_id = l.entry_id
)
select h.idx from here h join here o on o.idx = h.idx + 1
where h.idx between 1 and least(%s, 250) and h.kind not like 'log.%%' and h.args_sha256 = '' and h.result_sha256 = ''
  and h.result <> o.result and h.args is not null and o.args is not null
  and exists (select from here b where b.writer_run = h.writer_run and b.writer = h.writer
    and b.writer_seq = h.writer_seq - 1)
  and exists (select from here b where b.writer_run = h.writer_run and b.writer = h.writer
    and b.writer_seq = h.writer_seq + 1)
order by h.idx desc limit 1
"""


@dataclass(frozen=True)
class Slice:
    """A log to tamper with: how many entries, the leaf that most tamperings are about, and what was published of it."""

    entries: int
    copied_to: int  # the number of the newest of them: what comes after was written here
    leaf: int
    outside: Outside


def copy(source: BaseDatabaseWrapper, wanted: int) -> int:
    """Copy the newest sealed entries of a log into the empty one that Django is connected to; how many.

    Raises TooFew when they are.
    """
    with transaction.atomic(), source.cursor() as cursor:
        cursor.execute("begin isolation level repeatable read, read only")
        try:
            return _copy(cursor, wanted)
        finally:
            cursor.execute("rollback")


def _copy(source: Any, wanted: int) -> int:
    source.execute(SPAN, [min(max(wanted, FEWEST), MOST)])
    first, end = source.fetchone()
    if end - first < FEWEST:
        raise TooFew(f"The log has {end - first} sealed entries in a row, and a drill needs {FEWEST}.")
    with connection.cursor() as target:
        target.execute("create table drill_leaf (idx bigint primary key, entry_id uuid not null, h bytea not null)")
        leaves = f"(select * from audit_leaf where idx >= {first} and idx < {end})"
        _pour(source, target, "drill_leaf", {"idx", "entry_id", "h"}, f"{leaves} t")
        _make_months(target)
        with triggers_off(connection.connection):
            for table, key in (("audit_entry", "id"), ("audit_payload", "entry_id")):
                _pour(source, target, table, COLUMNS[table], f"{table} t join {leaves} l on l.entry_id = t.{key}")
            _pour(source, target, "audit_verification", VERIFICATION, f"{_verifications()} t")
    return int(end - first)


def _verifications() -> str:
    """The rows of the verifications that the copied entries record: each has to be there, and no other."""
    numbers = ", ".join(map(str, sorted(verify_records.recorded()))) or "null"
    return f"(select * from audit_verification where id in ({numbers}))"


def _pour(source: Any, target: Any, table: str, columns: set[str], rows: str) -> None:
    ours, theirs = ", ".join(sorted(columns)), ", ".join(f"t.{name}" for name in sorted(columns))
    with (
        source.copy(f"copy (select {theirs} from {rows}) to stdout (format binary)") as out,
        target.copy(f"copy {table} ({ours}) from stdin (format binary)") as into,
    ):
        for piece in out:
            into.write(piece)


def _make_months(target: Any) -> None:
    target.execute(MONTHS)
    months: list[date] = [month for (month,) in target.fetchall()]
    for month in months:
        for parent in ("audit_entry", "audit_payload"):
            target.execute("select audit_ensure_partition(%s::regclass, %s)", [parent, month])


def seal_anew(entries: int, record_guards: Callable[[], object]) -> Slice:
    """Seal what was copied, all but the newest, in three checkpoints, and record what guards it.

    Raises CannotDrill when the leaves are not those that the log has.
    """
    key = notes.new_key(ORIGIN)
    sizes = [int((entries - UNSEALED) * part) for part in PARTS]
    with connection.cursor() as cursor:
        with triggers_off(connection.connection):
            cursor.execute(RENUMBER)
            _pass_transactions(cursor)
            _seal(cursor, seal.Sealer([key]), sizes)
            cursor.execute(SEALABLE, [entries])
        cursor.execute("select setval('audit_entry_number', max(seq)) from audit_entry")
        copied_to = cursor.fetchone()[0]
        cursor.execute(f'grant insert ("{Kind.LOG_SCHEMA.value}") on audit_kind to current_user')
        _compare(cursor)
        record_guards()
        return Slice(entries, copied_to, _target(cursor, sizes[0]), _published(key))


def _seal(cursor: Any, sealer: seal.Sealer, sizes: list[int]) -> None:
    for size in sizes:
        cursor.execute(SEALABLE, [size])
        sealer.round()
        if sealer.frontier.size != size:
            raise CannotDrill("The scratch database could not be sealed: a transaction of its server is open for long.")
        cursor.execute(DATE_BACK, [size])


def _pass_transactions(cursor: Any) -> None:
    """Let this cluster's transactions pass the numbers that were given out: the sealer waits for them."""
    cursor.execute("select max(xid)::text::bigint from audit_entry")
    last = cursor.fetchone()[0]
    while True:
        cursor.execute("select pg_current_xact_id()::text::bigint")
        if cursor.fetchone()[0] > last:
            return


def _compare(cursor: Any) -> None:
    cursor.execute(DIFFERING)
    if differing := cursor.fetchone()[0]:
        raise CannotDrill(f"{differing} entries do not give the leaves that the log has of them. Run verify_log.")


def _target(cursor: Any, below: int) -> int:
    cursor.execute(TARGET, [below - 1])
    found = cursor.fetchone()
    if found is None:
        raise CannotDrill("No entry of the slice has one of its writer before and one after it; take a longer slice.")
    return int(found[0])


def _published(key: notes.SigningKey) -> Outside:
    pins = tuple(note.parse(text) for text in Checkpoint.objects.order_by("size").values_list("note", flat=True))
    given = Entry.objects.values_list("id", "digest")
    receipts = tuple(Receipt(str(entry), bytes(digest).hex()) for entry, digest in given)
    return Outside((note.parse_key(str(key.public)),), pins, receipts)
