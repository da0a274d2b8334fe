"""The sealer: it puts committed entries into the Merkle tree in an order that no late commit can slip behind.

Each round takes the entries whose transaction lies below every one that still runs, appends a leaf for each, and signs
the tree. Leaves are dense and never change; a checkpoint that was signed is never contradicted.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit import canonical, log, merkle, notes, proofs, reading
from audit.kinds import Kind
from audit.merkle import Frontier, Node
from audit.models import Entry
from audit.notes import Checkpoint, SigningKey

CHANNEL = "audit_sealed"
MOST_IN_A_ROUND = 10_000  # leaves of one transaction: its checkpoint is signed within a second
HELD_AFTER = timedelta(seconds=10)  # an entry that waits longer is waiting for somebody
FIRST_ID = UUID(int=0)


class CannotSeal(Exception):
    """The sentence that says why nothing may be sealed, and what an operator does about it."""

    state = "stopped"


class AnotherSealer(CannotSeal):
    """Somebody else appends to this tree."""


class WrongKey(CannotSeal):
    """The last checkpoint was not signed with the key that this sealer holds."""

    state = "wrong_key"


class Restored(CannotSeal):
    """The log stands in another cluster than it was written in."""

    state = "restored"


class Tampered(CannotSeal):
    """What is stored does not give the root that was signed."""

    state = "tampered"


@dataclass(frozen=True)
class Place:
    """How far the sealer has looked: within an epoch, entries are taken by transaction and then by id."""

    epoch: int
    xid: str = "0"
    entry_id: UUID = FIRST_ID


@dataclass(frozen=True)
class Row:
    """What of an entry goes into its leaf, and where it stands in the order of sealing."""

    id: UUID
    seq: int
    at: datetime
    db_role: str
    digest: bytes
    xid: str

    def leaf(self) -> bytes:
        """The hash of its leaf."""
        record = canonical.leaf_record(
            entry_id=str(self.id), seq=self.seq, at=self.at, db_role=self.db_role, digest=self.digest
        )
        return merkle.leaf_hash(record)


# What is read from the tables within one statement sees one snapshot, and so does the horizon beside it.
NEXT = """
select id, seq, at, db_role, digest, xid::text as taken_with from audit_entry
where epoch = %s and (xid, id) > (%s::xid8, %s) and xid < pg_snapshot_xmin(pg_current_snapshot())
order by xid, id limit %s
"""
# Entries of before a restore: their transaction numbers mean nothing any more, so they are taken by number.
LEFT_OVER = """
select id, seq, at, db_role, digest, '0' as taken_with from audit_entry e
where epoch < %s and not exists (select from audit_leaf l where l.entry_id = e.id)
order by seq, id limit %s
"""
FIRST_UNSEALED = "select at from audit_entry where epoch = %s and (xid, id) > (%s::xid8, %s) order by xid, id limit 1"
LAST = "select size, root, note, epoch, last_xid::text, last_id from audit_checkpoint order by size desc limit 1"
EPOCH = (
    "select number, e.system_identifier, c.system_identifier from audit_epoch e, pg_control_system() c "
    "order by number desc limit 1"
)


class Sealer:
    """One sealer at work on one log, with the key or, while keys are changed, the keys that it signs with."""

    def __init__(self, keys: list[SigningKey]) -> None:
        self.keys = keys
        self.frontier = Frontier()
        self.place = Place(1)
        self.waits_for: str | None = None  # the horizon that has to pass before a new epoch is begun

    def start(self) -> None:
        """Take up where the last checkpoint ends. Raises CannotSeal when it may not go on from there."""
        _lock()
        last = _one(LAST)
        if last is None:
            self._record_keys("The log's first key")
            return
        size, root, note, epoch, xid, entry_id = last
        self._check_keys(note)
        self.frontier = _frontier(size, bytes(root))
        self.place = Place(epoch, xid, entry_id)

    def round(self) -> int:
        """Seal what may be sealed now, at most MOST_IN_A_ROUND leaves; how many. Raises CannotSeal."""
        try:
            with transaction.atomic():
                return self._seal_next(self._check_epoch())
        except (IntegrityError, psycopg.IntegrityError) as clash:  # COPY is not one of Django's, nor its errors
            raise Tampered(f"A leaf that was to be appended stands there already ({clash}); run verify_log.") from clash

    def _seal_next(self, epoch: int) -> int:
        if epoch != self.place.epoch:
            return self._begin(epoch)
        rows = _rows(NEXT, [epoch, self.place.xid, self.place.entry_id, MOST_IN_A_ROUND])
        return self._append(rows, Place(epoch, rows[-1].xid, rows[-1].id)) if rows else 0

    def held_since(self) -> datetime | None:
        """When the next entry to be sealed was written, when it is committed and has waited too long; else None."""
        first = _one(FIRST_UNSEALED, [self.place.epoch, self.place.xid, self.place.entry_id])
        at: datetime | None = first[0] if first else None
        return at if at is not None and timezone.now() - at > HELD_AFTER else None

    def _begin(self, epoch: int) -> int:
        """Go on in a new epoch, once the entries of before it are sealed."""
        # Whoever stamped the old epoch may still be about to commit: wait until all of them have ended.
        if self.waits_for is None:
            self.waits_for = _one("select pg_snapshot_xmax(pg_current_snapshot())::text")[0]
        if not _one("select pg_snapshot_xmin(pg_current_snapshot()) >= %s::xid8", [self.waits_for])[0]:
            return 0
        rows = _rows(LEFT_OVER, [epoch, MOST_IN_A_ROUND])
        if rows:
            return self._append(rows, self.place)
        self.place, self.waits_for = Place(epoch), None
        return 0

    def _append(self, rows: list[Row], place: Place) -> int:
        # A copy: a transaction that fails leaves the tree in memory where it was.
        frontier = Frontier(self.frontier.size, list(self.frontier.peaks))
        leaves = [(row.id, row.leaf()) for row in rows]
        completed = [node for _, leaf in leaves for node in frontier.append(leaf)]
        self._store(leaves, completed)
        self._sign(frontier, place)
        transaction.on_commit(lambda: self._advance(frontier, place))
        return len(rows)

    def _store(self, leaves: list[tuple[UUID, bytes]], completed: list[tuple[Node, bytes]]) -> None:
        with connection.cursor() as cursor:
            with cursor.copy("copy audit_leaf (idx, entry_id, h) from stdin") as copy:
                for index, (entry_id, leaf) in enumerate(leaves, start=self.frontier.size):
                    copy.write_row((index, entry_id, leaf))
            cursor.executemany(
                "insert into audit_node (lvl, idx, h) values (%s, %s, %s)",
                [(node.level, node.index, hashed) for node, hashed in completed],
            )

    def _sign(self, frontier: Frontier, place: Place) -> None:
        root = frontier.root()
        note = notes.signed(Checkpoint(self.keys[0].name, frontier.size, root), self.keys)
        with connection.cursor() as cursor:
            cursor.execute(
                "insert into audit_checkpoint (size, root, note, epoch, last_xid, last_id) "
                "values (%s, %s, %s, %s, %s, %s)",
                [frontier.size, root, note, place.epoch, place.xid, place.entry_id],
            )
            cursor.execute("select pg_notify(%s, %s)", [CHANNEL, str(frontier.size)])

    def _advance(self, frontier: Frontier, place: Place) -> None:
        self.frontier, self.place = frontier, place

    def _check_epoch(self) -> int:
        number, then, now = _one(EPOCH)
        if then != now:
            raise Restored(
                "The log was restored into another cluster, so nothing is sealed. Look at what was lost, "
                "then say why in manage.py reopen_log --reason …"
            )
        return int(number)

    def _check_keys(self, note: str) -> None:
        if not self.keys[0].public.has_signed(note):
            self._check_was_lost(note)
        for key in self.keys[1:]:
            if not key.public.has_signed(note):
                self._introduce(key)

    def _check_was_lost(self, note: str) -> None:
        if not _was_reopened_for(str(self.keys[0].public)):
            raise WrongKey(
                "The last checkpoint was signed with another key, so nothing is sealed. Give the sealer that key, "
                "or, when it is lost, say so in manage.py reopen_log --new-key PUBLIC --reason …"
            )
        self._record_keys("A key in place of one that was lost")

    def _introduce(self, key: SigningKey) -> None:
        """Record a new key, vouched for by the old one."""
        vouched = self.keys[0].signature(f"{key.public}\n").strip()
        self._record_keys("A new key, vouched for by the one before it", vouched=vouched)

    def _record_keys(self, summary: str, **more: str) -> None:
        public = [str(key.public) for key in self.keys]
        log.record(
            Kind.LOG_SEALED_KEY, log.Actor.process(), subject="log", summary=summary, args={"keys": public, **more}
        )


def _lock() -> None:
    if not _one("select pg_try_advisory_lock(hashtext('counterseal.seal'))")[0]:
        raise AnotherSealer("Another sealer is at work on this log; stop it, or leave the sealing to it.")


def _frontier(size: int, signed_root: bytes) -> Frontier:
    """The stored tree's right edge, when it gives the root that was signed and no leaf stands beyond it."""
    try:
        found = proofs.frontier(size)
    except proofs.TreeBroken as broken:
        raise Tampered(f"{broken} Nothing is sealed. Run verify_log.") from broken
    beyond = _one("select count(*) from audit_leaf where idx >= %s", [size])[0]
    if found.root() != signed_root or beyond:
        raise Tampered("The stored tree does not give the root that was signed; nothing is sealed. Run verify_log.")
    return found


def _was_reopened_for(public_key: str) -> bool:
    """Whether an operator wrote, after the last checkpoint, that sealing goes on with this key."""
    newest = reading.newest_sealed_seq()
    later = Entry.objects.filter(kind=Kind.LOG_REOPENED, seq__gt=newest)
    contents = reading.contents_of(later).values()
    return any(content.is_readable and content.args.get("public_key") == public_key for content in contents)


def _one(statement: str, values: list[Any] | None = None) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def _rows(statement: str, values: list[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [Row(key, seq, at, role, bytes(digest), xid) for key, seq, at, role, digest, xid in cursor.fetchall()]
