"""Tamperings that make anew what depends on what they change: digests, leaves, nodes, roots, signatures."""

from __future__ import annotations

import json
import zlib
from typing import Any
from uuid import UUID

from audit import canonical, merkle, notes
from audit.drill.tampering import ENTRY, LEAF, UNSEALED, Session, one, rows
from audit.verify.entries import FIELDS


def edit_payload(session: Session) -> None:
    """One character of the stored result of an entry becomes another."""
    key, stored = one(session, f"select entry_id, result from audit_payload where entry_id = {ENTRY}")
    text = zlib.decompress(stored)
    changed = zlib.compress(text[:-1] + bytes([text[-1] ^ 1]))
    session.execute("update audit_payload set result = %s where entry_id = %s", [changed, key])


def rehash(session: Session, key: UUID) -> None:
    """Give an entry the digest that its columns have now."""
    row = one(session, f"select {', '.join(FIELDS[1])} from audit_entry where id = %s", [key])
    header = {name: _hashed(value) for name, value in zip(FIELDS[1], row, strict=True)}
    session.execute("update audit_entry set digest = %s where id = %s", [canonical.entry_digest(header), key])


def _hashed(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, str | int) else str(value)


def edit_and_rehash(session: Session) -> None:
    """Another actor, and the digest that fits."""
    rehash(session, one(session, f"update audit_entry set actor = actor || 'x' where id = {ENTRY} returning id")[0])


def edit_payload_and_rehash(session: Session) -> None:
    """Another result, with a commitment and a digest that fit."""
    key, salt = one(session, f"select entry_id, salt from audit_payload where entry_id = {ENTRY}")
    text = b'{"forged":[]}'
    session.execute("update audit_payload set result = %s where entry_id = %s", [zlib.compress(text), key])
    session.execute(
        "update audit_entry set result_c = %s, result_bytes = %s where id = %s",
        [canonical.commitment(salt[16:], text), len(text), key],
    )
    rehash(session, key)


def delete_and_renumber(session: Session) -> None:
    """Entry, payload and leaf go, and the later leaves move up."""
    index, key = one(session, f"delete from audit_leaf where idx = {LEAF} returning idx, entry_id")
    session.execute("delete from audit_entry where id = %s", [key])
    session.execute("delete from audit_payload where entry_id = %s", [key])
    session.execute("update audit_leaf set idx = idx + 1000000000 where idx > %s", [index])
    session.execute("update audit_leaf set idx = idx - 1000000001 where idx >= 1000000000")


def forge_with_leaf(session: Session) -> None:
    """An entry is given another number, and its leaf is made to fit."""
    session.execute(f"update audit_entry set seq = seq + 1000000 where id = {ENTRY}".encode())
    remake_leaf(session)


def remake_leaf(session: Session) -> None:
    """Give the leaf the hash that its entry has now."""
    statement = f"select id, seq, at, db_role, digest from audit_entry where id = {ENTRY}"
    key, seq, at, role, digest = one(session, statement)
    record = canonical.leaf_record(entry_id=str(key), seq=seq, at=at, db_role=role, digest=digest)
    session.execute("update audit_leaf set h = %s where entry_id = %s", [merkle.leaf_hash(record), key])


def rewrite_with_new_key(session: Session) -> None:
    """An entry is edited, and everything above it is made anew: digest, leaf, nodes, roots, signed with another key."""
    edit_and_rehash(session)
    remake_leaf(session)
    sizes = {size for (size,) in rows(session, "select size from audit_checkpoint")}
    origin = one(session, "select split_part(note, E'\\n', 1) from audit_checkpoint limit 1")[0]
    key, tree = notes.new_key(origin), merkle.Frontier()
    for (hashed,) in rows(session, "select h from audit_leaf order by idx"):
        for node, made in tree.append(hashed):
            session.execute("update audit_node set h = %s where lvl = %s and idx = %s", [made, node.level, node.index])
        if tree.size in sizes:
            _sign_anew(session, notes.Checkpoint(origin, tree.size, tree.root()), key)


def _sign_anew(session: Session, made: notes.Checkpoint, key: notes.SigningKey) -> None:
    session.execute(
        "update audit_checkpoint set root = %s, note = %s where size = %s",
        [made.root, notes.signed(made, [key]), made.size],
    )


def hide_in_another_month(session: Session) -> None:
    """The entry stands again, with another actor, in a later month's partition, where its key is not looked for."""
    table = one(
        session,
        "select inhrelid::regclass::text from pg_inherits where inhparent = 'audit_entry'::regclass "
        "and inhrelid::regclass::text ~ '_[0-9]{6}$' order by 1 desc limit 1",
    )[0]
    session.execute("update pg_class set relispartition = false where oid = %s::regclass", [table])
    session.execute(f"insert into {table} select * from audit_entry where id = {ENTRY}".encode())
    session.execute(f"update {table} set actor = actor || 'x'".encode())
    session.execute("update pg_class set relispartition = true where oid = %s::regclass", [table])


def prune_by_claim(session: Session) -> None:
    """An entry is deleted, and another one says that a retention dropped it."""
    month, index = one(
        session, f"select to_char(uuid_extract_timestamp(entry_id), 'YYYYMM'), idx from audit_leaf where idx = {LEAF}"
    )
    _prune(session, month, index)


def prune_by_unfit_claim(session: Session) -> None:
    """The same, and what the record says again of earlier ones is no list."""
    month, index = one(
        session, f"select to_char(uuid_extract_timestamp(entry_id), 'YYYYMM'), idx from audit_leaf where idx = {LEAF}"
    )
    _prune(session, month, index, restates=5)


def prune_by_month_that_never_was(session: Session) -> None:
    """An entry is deleted, and another one says that it went with a month that has no entry."""
    _prune(session, "202001", one(session, f"select idx from audit_leaf where idx = {LEAF}")[0])


def claim_redaction(session: Session) -> None:
    """An entry says that arguments and result were redacted, and they are there: somebody has put them back."""
    key, seq = one(session, f"select id, seq from audit_entry where id = {ENTRY}")
    say_otherwise(session, "log.redacted", {"entry": seq, "entry_id": str(key), "part": "both"})


def bloat_payload(session: Session) -> None:
    """A result that unpacks to a hundred times what is ever kept."""
    stored = zlib.compress(b"0" * 30_000_000)
    session.execute(f"update audit_payload set result = %s where entry_id = {ENTRY}".encode(), [stored])


def month_of_entry(session: Session) -> Any:
    """The name of the partition that the entry lies in."""
    return one(session, f"select tableoid::regclass::text from audit_entry where id = {ENTRY}")[0]


def rename_month(session: Session) -> None:
    """The partition of the entry's month is called after a month that is none."""
    table = month_of_entry(session)
    session.execute(f"alter table {table} rename to audit_entry_202613".encode())


def move_payloads_to_default(session: Session) -> None:
    """Payloads of the entry's month stand where no retention takes them away."""
    table = one(session, f"select tableoid::regclass::text from audit_payload where entry_id = {ENTRY}")[0]
    session.execute(f"alter table audit_payload detach partition {table}".encode())
    session.execute(f"insert into audit_payload select * from {table}".encode())


def prune_young_month(session: Session) -> None:
    """An entry is deleted, and another one says that it went with a month that has only just ended."""
    month, index = one(
        session, f"select to_char(now() - interval '1 month', 'YYYYMM'), idx from audit_leaf where idx = {LEAF}"
    )
    _prune(session, month, index)


def _prune(session: Session, month: str, index: int, restates: Any = ()) -> None:
    said = {
        "partition": f"audit_entry_{month}", "first_leaf": index, "last_leaf": index, "entries": 1, "restates": restates
    }  # fmt: skip
    session.execute(f"delete from audit_payload where entry_id = {ENTRY}".encode())
    session.execute(f"delete from audit_entry where id = {ENTRY}".encode())
    say_otherwise(session, "log.retained", said)


def claim_verification(session: Session) -> None:
    """An entry that is not sealed yet says that the log was verified, and no row says what was found."""
    say_otherwise(session, "log.verified", {"verification": 1_000_000_000, "row": "00" * 32})


def say_otherwise(session: Session, kind: str, said: dict[str, Any]) -> None:
    """The newest entry becomes one of another kind with other arguments, and the digest that fits."""
    text = json.dumps(said).encode()
    key, salt = one(
        session,
        "select p.entry_id, p.salt from audit_payload p join audit_entry e on e.id = p.entry_id "
        f"where e.id in {UNSEALED} order by e.seq desc limit 1",
    )
    session.execute("update audit_payload set args = %s where entry_id = %s", [zlib.compress(text), key])
    session.execute(
        "update audit_entry set kind = %s, args_c = %s, args_bytes = %s where id = %s",
        [kind, canonical.commitment(salt[:16], text), len(text), key],
    )
    rehash(session, key)


def edit_unsealed(session: Session) -> None:
    """The newest entry, which is not sealed yet, gets another actor and the digest that fits."""
    newest = f"(select id from audit_entry where id in {UNSEALED} and kind not like 'log.%' order by seq desc limit 1)"
    rehash(session, one(session, f"update audit_entry set actor = actor || 'x' where id = {newest} returning id")[0])


def truncate_month(session: Session) -> None:
    """The partition of the entry's month is emptied."""
    table = month_of_entry(session)
    session.execute(f"truncate {table}".encode())


def drop_guard_of_month(session: Session) -> None:
    """The partition of the entry's month loses what refuses TRUNCATE."""
    table = month_of_entry(session)
    session.execute(f"drop trigger refuse_truncate on {table}".encode())


def check_on_month(session: Session) -> None:
    """The partition of the entry's month refuses entries of one kind from now on, whether or not it has some."""
    table = month_of_entry(session)
    session.execute(f"alter table {table} add constraint never check (kind <> 'call.refused') not valid".encode())
