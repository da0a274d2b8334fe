"""No table or partition of the log, made now or later, can be changed by a process: by the catalogs, and by trying."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from django.db import Error, connection, transaction

from gate.config.roles import PROCESSES, role_name

pytestmark = pytest.mark.django_db(transaction=True)
RUNNING = [process for process in PROCESSES if process != "owner"]
# What is evidence: it is inserted once. `audit_search` is made from it, and can be made anew.
EVIDENCE = {
    "audit_entry", "audit_payload", "audit_leaf", "audit_node", "audit_checkpoint", "audit_epoch", "audit_retained",
    "audit_verification", "audit_verificationask",
}  # fmt: skip
DERIVED = {"audit_search"}
# The other tables of the app, whose rows have states. A new table has to be put into one of these sets.
STATES = {
    "audit_agent", "audit_agenttoken", "audit_agentuse", "audit_definition", "audit_heartbeat", "audit_hold",
    "audit_kind", "audit_link", "audit_outbox", "audit_override", "audit_redaction", "audit_savedview",
    "audit_sealstate", "audit_searchstate", "audit_verifierstate", "audit_witnessed",
}  # fmt: skip
MAY = {("worker", "audit_search", "update")}  # a row that is made anew
RELATIONS = """
select c.relname, coalesce(pg_partition_root(c.oid), c.oid)::regclass::text, coalesce(i.inhparent::regclass::text, ''),
  (select attname from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped order by attnum limit 1)
from pg_class c left join pg_inherits i on i.inhrelid = c.oid
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname like 'audit\\_%'
order by 1
"""
TRIGGERS = "select tgname, tgenabled from pg_trigger where tgrelid = %s::regclass and not tgisinternal"
HELD = """
select r.rolname, c.relname, privilege from pg_class c, pg_roles r,
  unnest(array['DELETE', 'TRUNCATE', 'TRIGGER', 'REFERENCES', 'MAINTAIN', 'UPDATE', 'SELECT', 'INSERT']) privilege
where c.oid = any(%s::regclass[]) and r.rolname = any(%s) and case when privilege in ('UPDATE', 'SELECT', 'INSERT')
  then has_any_column_privilege(r.oid, c.oid, privilege) else has_table_privilege(r.oid, c.oid, privilege) end
"""
ABOVE = """
select rolname from pg_roles where rolname = any(%(roles)s) and (rolsuper or rolcreaterole or rolbypassrls
  or pg_has_role(oid, %(owner)s::regrole, 'MEMBER') or has_parameter_privilege(oid, 'session_replication_role', 'SET'))
"""


@dataclass(frozen=True)
class Relation:
    name: str
    root: str
    parent: str  # empty for a table that is no partition
    column: str


def relations(*roots: str) -> list[Relation]:
    with connection.cursor() as cursor:
        cursor.execute(RELATIONS)
        return [found for row in cursor.fetchall() if (found := Relation(*row)).root in roots or not roots]


@pytest.fixture
def with_later_months(own_log: str, as_role: Callable[[str], None]) -> str:
    """A log with partitions beyond those that were there when it was made, as the worker makes them each hour."""
    as_role("worker")
    with connection.cursor() as cursor:
        cursor.execute("select audit_ensure_partitions(5)")
    as_role("owner")
    return own_log


def test_every_table_of_the_app_is_known_here(with_later_months: str) -> None:
    assert {found.root for found in relations()} == EVIDENCE | DERIVED | STATES


def test_every_table_and_partition_refuses_change_whoever_asks(with_later_months: str) -> None:
    found = relations(*EVIDENCE)
    assert len([one for one in found if one.parent]) >= 2 * 7, "This month, five more, and the default one."
    with connection.cursor() as cursor:
        for one in found:
            cursor.execute(TRIGGERS, [one.name])
            triggers = dict(cursor.fetchall())
            assert {triggers.get("refuse_change"), triggers.get("refuse_truncate")} == {"A"}, one.name


def test_no_role_holds_a_right_to_change_any_of_them(with_later_months: str) -> None:
    found = relations(*EVIDENCE, *DERIVED)
    roles = {role_name(process): process for process in RUNNING}
    partitions = {one.name for one in found if one.parent}
    with connection.cursor() as cursor:
        cursor.execute(HELD, [[one.name for one in found], list(roles)])
        held = {(roles[role], table, privilege.lower()) for role, table, privilege in cursor.fetchall()}
        cursor.execute(ABOVE, {"roles": list(roles), "owner": role_name("owner")})
        assert cursor.fetchall() == []
    assert {right for right in held if right[2] not in ("select", "insert")} == MAY
    assert {right for right in held if right[1] in partitions} == set(), (
        "A partition is reached through its table alone."
    )


def attempts(one: Relation) -> Iterator[tuple[str, str]]:
    """What changes a table, in words and as a statement."""
    yield "update", f"update {one.name} set {one.column} = {one.column}"
    yield "delete", f"delete from {one.name}"
    yield "truncate", f"truncate {one.name}"
    yield "merge", f"merge into {one.name} using (select 1) s on true when matched then delete"
    yield "disable", f"alter table {one.name} disable trigger all"
    yield "drop trigger", f"drop trigger refuse_change on {one.name}"
    yield "drop", f"drop table {one.name}"
    yield "rule", f"create rule r as on insert to {one.name} do instead nothing"
    if one.parent:
        yield "detach", f"alter table {one.parent} detach partition {one.name}"


@pytest.mark.parametrize("process", RUNNING)
def test_every_way_to_change_one_of_them_is_refused(
    process: str, with_later_months: str, as_role: Callable[[str], None]
) -> None:
    found = relations(*EVIDENCE, *DERIVED)
    as_role(process)
    ran = [
        (process, one.name, what)
        for one in found
        for what, statement in attempts(one)
        if (process, one.name, what) not in MAY and state_of(statement) not in ("42501", "42704")
    ]
    assert ran == []
    assert state_of("set session_replication_role = replica") == "42501"


def state_of(statement: str) -> str:
    """The SQLSTATE that a statement was refused with; empty when it ran. It is undone."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
            transaction.set_rollback(True)
    except Error as problem:
        return str(getattr(problem.__cause__, "sqlstate", ""))
    return ""
