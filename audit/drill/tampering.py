"""What a tampering is and how it is done: by somebody with the superuser's rights, and with the log's triggers off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

Session = psycopg.Connection[Any]
# The leaf that most tamperings are about: `apply` says which, and where nobody has said it is the hundredth.
LEAF = "coalesce(nullif(current_setting('counterseal.leaf', true), ''), '100')::bigint"
ENTRY = f"(select entry_id from audit_leaf where idx = {LEAF})"
OTHER = f"(select entry_id from audit_leaf where idx = {LEAF} + 1)"
UNSEALED = "(select id from audit_entry where not exists (select from audit_leaf where entry_id = id))"
LAST = "(select max(size) from audit_checkpoint)"
CUT = "(select size from audit_checkpoint order by size desc offset 1 limit 1)"  # the checkpoint before the last
DROP_TAIL = (
    f"delete from audit_entry where not exists (select from audit_leaf where entry_id = id and idx < {CUT})",
    "delete from audit_payload where not exists (select from audit_entry where id = entry_id)",
    f"delete from audit_node where (idx + 1) << lvl > {CUT}",
    f"delete from audit_leaf where idx >= {CUT}",
    f"delete from audit_checkpoint where size = {LAST}",
)
COPY_ENTRY = """
insert into audit_entry select (jsonb_populate_record(e, jsonb_build_object({changes}))).* from audit_entry e
where id = {entry}
"""
TRIGGERS = """
select tgrelid::regclass::text, tgname from pg_trigger
where not tgisinternal and tgparentid = 0 and tgenabled = 'A' and tgrelid::regclass::text like 'audit\\_%'
"""


@dataclass(frozen=True)
class Tampering:
    """One way to change the log, and what has to be found: with the database alone, and with what was published."""

    name: str
    do: Callable[[Session], None]
    inside: frozenset[str]
    outside: frozenset[str] = frozenset()  # in addition, with pins and receipts
    loosens: bool = False  # it is about the triggers themselves, so they are not put back


def apply(session: Session, one: Tampering, leaf: int) -> None:
    """Do one tampering in the open transaction of a session. `leaf` is the one that most of them are about."""
    session.execute("select set_config('counterseal.leaf', %s, true)", [str(leaf)])
    if one.loosens:
        one.do(session)
        return
    with triggers_off(session):
        one.do(session)


@contextmanager
def triggers_off(session: Session) -> Iterator[None]:
    """The log's triggers do nothing in the meantime, and stand as before afterwards."""
    found = rows(session, TRIGGERS)
    for table, name in found:
        session.execute(_trigger("disable", table, name))
    yield
    for table, name in found:
        if one(session, "select to_regclass(%s)", [table])[0] is not None:
            session.execute(_trigger("enable always", table, name))


def _trigger(how: str, table: str, name: str) -> sql.Composed:
    return sql.SQL(f"alter table {{}} {how} trigger {{}}").format(sql.Identifier(table), sql.Identifier(name))


def rows(session: Session, statement: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """What a statement of ours returns."""
    return session.execute(statement.encode(), values).fetchall()


def one(session: Session, statement: str, values: list[Any] | None = None) -> tuple[Any, ...]:
    """Its only row. Raises LookupError when there is none."""
    found = rows(session, statement, values)
    if not found:
        raise LookupError("The log has no such row.")
    return found[0]


def codes(*named: str) -> frozenset[str]:
    """The codes of findings."""
    return frozenset(named)


def run(*statements: str) -> Callable[[Session], None]:
    """A tampering that consists of statements."""

    def do(session: Session) -> None:
        for statement in statements:
            session.execute(statement.encode())

    return do


def edit(column: str, value: str) -> Callable[[Session], None]:
    """Another value in a column of one sealed entry."""
    return run(f"update audit_entry set {column} = {value} where id = {ENTRY}")


def edit_part(column: str, value: str) -> Callable[[Session], None]:
    """Another value in a column of one payload."""
    return run(f"update audit_payload set {column} = {value} where entry_id = {ENTRY}")


def swap(column: str, table: str = "audit_entry", key: str = "id") -> Callable[[Session], None]:
    """Two neighbors exchange a column."""
    return run(
        f"update {table} t set {column} = o.{column} from {table} o "
        f"where t.{key} in ({ENTRY}, {OTHER}) and o.{key} in ({ENTRY}, {OTHER}) and o.{key} <> t.{key}"
    )
