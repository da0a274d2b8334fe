"""The writer's own table in the target: its row commits together with the change, or neither does."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql

from gate.writes.models import Preview, WriteRequest
from gate.writes.targets import WriteTarget

# What makes a row the proof that something ran once: no second row under its key, and none lost, hidden or made up.
IS_PROOF = """
select c.relkind = 'r' and c.relpersistence = 'p' and not c.relrowsecurity
  and not exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal)
  and not exists (select from pg_catalog.pg_rewrite r where r.ev_class = c.oid)
  and exists (
    select from pg_catalog.pg_index i
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'approval_id' and a.attnum = i.indkey[0]
     where i.indrelid = c.oid and i.indnkeyatts = 1 and i.indpred is null
       and i.indisunique and i.indimmediate and i.indisvalid
  )
  from pg_catalog.pg_class c where c.oid = pg_catalog.to_regclass(%s)
"""
MAY_USE = """
select pg_catalog.has_table_privilege(c.oid, 'INSERT') and pg_catalog.has_table_privilege(c.oid, 'SELECT')
  from pg_catalog.pg_class c where c.oid = pg_catalog.to_regclass(%s)
"""


class Unusable(Exception):
    """The ledger could not prove that a write ran once; the sentence says what is wrong."""


def check(connection: psycopg.Connection[Any], target: WriteTarget) -> None:
    """Raises Unusable when the ledger is missing, closed to the writer, or no proof. Only for a target that has one."""
    if connection.execute(MAY_USE, [target.ledger]).fetchone() != (True,):
        raise Unusable(f"The writer needs {target.ledger} with INSERT and SELECT; ask whoever runs {target.name}.")
    if connection.execute(IS_PROOF, [target.ledger]).fetchone() != (True,):
        raise Unusable(
            f"{target.ledger} proves nothing unless it is a plain table with approval_id as its key, and without"
            f" triggers, rules and row security; ask whoever runs {target.name}."
        )


def enter(
    connection: psycopg.Connection[Any], target: WriteTarget, key: UUID, seen: Preview, xid: str
) -> None:  # fmt: skip
    """Write the row of an approved proposal; one of an open transaction is waited for.

    Raises psycopg.errors.UniqueViolation when it has run, Unusable, or another psycopg.Error.
    """
    check(connection, target)
    # The approved effect: the commit happens only if the effect found equals it.
    kept = {"effect_digest": seen.effect_digest, "row_count": seen.row_count, "footprint": seen.footprint, "xid": xid}
    connection.execute(
        _on(target, "INSERT INTO {} (approval_id, write_ref, proposal_digest, effect) VALUES (%s, %s, %s, %s)"),
        [str(key), seen.write.ref, seen.write.proposal_digest, json.dumps(kept)],
    )


def effect_of(
    connection: psycopg.Connection[Any], target: WriteTarget, key: UUID, write: WriteRequest
) -> dict[str, Any] | None:  # fmt: skip
    """The effect that was written under a key; None when the row is not there or is another proposal's."""
    row = connection.execute(
        _on(target, "SELECT effect::text FROM {} WHERE approval_id = %s AND proposal_digest = %s"),
        [str(key), write.proposal_digest],
    ).fetchone()
    return dict(json.loads(row[0])) if row else None


def _on(target: WriteTarget, statement: str) -> sql.Composed:
    assert target.ledger is not None  # without one there is another proof: see gate.writes.proofs
    return sql.SQL(statement).format(sql.Identifier(*target.ledger.split(".")))
