"""The log cannot be changed: not by a process, and by its owner only against a trigger on every partition."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from audit import log, tasks
from audit.header import COLUMNS
from audit.kinds import Kind
from audit.models import Entry
from gate.config.roles import PROCESSES, WRITES_KINDS, role_name

ADA = log.Actor("person", "Ada Okafor", "ada")
RUNNING = [process for process in PROCESSES if process != "owner"]
MONTH = datetime.now(UTC).strftime("%Y%m")
FORBIDDEN = [
    "update audit_entry set actor = 'someone else'",
    "update audit_payload set result = null",
    "delete from audit_entry",
    "delete from audit_payload",
    "truncate audit_entry",
    "truncate audit_payload",
    "merge into audit_entry e using (select 1) s on true when matched then delete",
    f"select * from audit_entry_{MONTH}",
    f"update audit_entry_{MONTH} set actor = 'someone else'",
    f"insert into audit_entry_{MONTH} default values",
    f"truncate audit_payload_{MONTH}",
    "insert into audit_entry_default default values",
    "alter table audit_entry disable trigger all",
    f"alter table audit_entry_{MONTH} disable trigger refuse_change",
    f"alter table audit_entry detach partition audit_entry_{MONTH}",
    f"drop table audit_entry_{MONTH}",
    f"alter table audit_payload detach partition audit_payload_{MONTH}",
    f"drop table audit_payload_{MONTH}",
    f"delete from audit_payload_{MONTH}",
    "alter table audit_entry detach partition audit_entry_default",
    "truncate audit_payload_default",
    "drop table audit_entry",
    "select audit_drop_month('audit_entry', current_date)",
    "select audit_said('log.retained', '')",
    "update audit_retained set entries = 0",
    "insert into audit_retained select '2020-01-01', 0, 0, 0, 0, 0, 0, gen_random_uuid()",
    "delete from audit_hold",
    "delete from audit_redaction",
    "alter table audit_redaction disable trigger step",
    "set session_replication_role = replica",
    "select setval('audit_entry_number', 1)",
    "select nextval('audit_entry_number')",
    'grant insert ("log.restored") on audit_kind to current_user',
    "insert into audit_kind default values",
    "create or replace view audit_append as select * from audit_entry",
    "update audit_append set actor = 'someone else'",
    "delete from audit_append",
    "insert into audit_entry (kind) values ('comment.added')",
    "alter table audit_entry alter column epoch set default 7",
    "select audit_guard_partition('audit_entry')",
    "create or replace function audit_refuse() returns trigger language plpgsql as 'begin return new; end'",
]


def run(statement: str, parameters: list | None = None) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)


@pytest.mark.parametrize("process", RUNNING)
def test_no_process_can_change_the_log(as_role, process) -> None:
    as_role(process)
    for statement in FORBIDDEN:
        with pytest.raises(DatabaseError) as refused:
            run(statement)
        assert getattr(refused.value.__cause__, "sqlstate", "") in {"42501", "23514"}, statement


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["audit_entry", f"audit_entry_{MONTH}", "audit_payload", f"audit_payload_{MONTH}"])
@pytest.mark.parametrize("act", ["update {} set {} = {}", "delete from {}", "truncate {}"])
def test_triggers_refuse_the_owner_too(table, act) -> None:
    log.record(Kind.COMMENT_ADDED, ADA)
    column = "actor" if "entry" in table else "codec"
    with pytest.raises(DatabaseError, match="append-only"):
        run(act.format(table, column, column))


@pytest.mark.django_db
def test_a_replica_session_does_not_skip_the_triggers(cluster_socket) -> None:
    receipt = log.record(Kind.COMMENT_ADDED, ADA)
    name = connection.settings_dict["NAME"]
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name, autocommit=True) as superuser:
        superuser.execute("set session_replication_role = replica")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            superuser.execute("update audit_entry set actor = 'x' where id = %s", [receipt.id])


@pytest.mark.django_db
def test_every_partition_has_every_trigger_always_on() -> None:
    expected = {
        "audit_entry": {"refuse_change", "refuse_truncate"},
        "audit_payload": {"refuse_change", "refuse_truncate"},
    }
    with connection.cursor() as cursor:
        for parent, names in expected.items():
            cursor.execute("select relid::regclass::text from pg_partition_tree(%s)", [parent])
            tables = [table for (table,) in cursor.fetchall()]
            assert len(tables) >= 6  # the parent, this month, three more, and the default
            for table in tables:
                cursor.execute(
                    "select tgname, tgenabled from pg_trigger where tgrelid = %s::regclass and not tgisinternal"
                    " or tgrelid = %s::regclass and tgparentid <> 0",
                    [table, table],
                )
                found = dict(cursor.fetchall())
                assert set(found) == names, table
                assert set(found.values()) == {"A"}, table


@pytest.mark.parametrize("process", [process for process in PROCESSES if process != "owner"])
def test_a_role_writes_its_own_kinds_and_no_other(as_role, process) -> None:
    as_role(process)
    mine, refused = set(WRITES_KINDS[process]), r"violates check option|permission denied for view"
    for kind in Kind:
        if kind in mine:
            log.record(kind, ADA)
        else:
            with pytest.raises(psycopg.Error, match=refused):
                log.record(kind, ADA)


COPY = f"insert into audit_append ({', '.join(COLUMNS)}) select {', '.join(COLUMNS)} from audit_entry where id = %s"
SERVER_SAYS = {
    "id": "uuidv7()",
    "seq": "1",
    "at": "now()",
    "xid": "pg_current_xact_id()",
    "epoch": "1",
    "db_role": "current_user",
}


@pytest.mark.django_db
def test_everything_but_the_header_is_said_by_the_server() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select attname from pg_attribute where attrelid = 'audit_entry'::regclass and attnum > 0")
        assert {name for (name,) in cursor.fetchall()} == {*COLUMNS, *SERVER_SAYS}


@pytest.mark.parametrize("process", [process for process in RUNNING if WRITES_KINDS[process]])
@pytest.mark.parametrize("column", SERVER_SAYS)
def test_what_the_server_says_nobody_else_may(as_role, process, column) -> None:
    """Not even what it would say itself; and not by another way than the log's own statement."""
    as_role("people")
    receipt = log.record(Kind.COMMENT_ADDED, ADA)
    as_role(process)
    said = SERVER_SAYS[column]
    for statement in (
        f"insert into audit_append ({column}) values ({said})",
        f"insert into audit_append ({column}) overriding system value values ({said})",
        f"insert into audit_append select * from audit_append where id = '{receipt.id}'",
        f"insert into audit_entry ({column}) values ({said})",
    ):
        with pytest.raises(DatabaseError, match="permission denied for"):
            run(statement)


def test_the_server_says_who_when_and_in_which_order(as_role) -> None:
    as_role("people")
    first, second = (log.record(Kind.COMMENT_ADDED, ADA) for _ in range(2))
    with connection.cursor() as cursor:
        cursor.execute(
            "select db_role, epoch, uuid_extract_version(id), now() - at < interval '1 minute', seq, xid::text::bigint"
            " from audit_entry where id = any(%s) order by seq",
            [[first.id, second.id]],
        )
        (*one, seq, xid), (*other, next_seq, next_xid) = cursor.fetchall()
    assert one == other == [role_name("people"), 1, 7, True]
    assert next_seq > seq
    assert next_xid > xid


def test_the_role_that_writes_is_the_one_that_was_set(as_role, superuser) -> None:
    """However a session came to its role."""
    as_role("people")
    receipt = log.record(Kind.COMMENT_ADDED, ADA)
    superuser.execute(f"grant {role_name('people')} to {role_name('worker')} with set true, inherit false")
    as_role("worker")
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"set local role {role_name('people')}")
            cursor.execute(f"{COPY} returning seq", [receipt.id])
            cursor.execute("select db_role from audit_entry where seq = %s", cursor.fetchone())
            assert cursor.fetchone() == (role_name("people"),)
        with pytest.raises(DatabaseError, match="violates check option"):
            run(COPY, [receipt.id])
    finally:
        superuser.execute(f"revoke {role_name('people')} from {role_name('worker')}")


def test_no_path_leads_the_check_astray(as_role, superuser) -> None:
    """Functions and operators of a schema that is searched first decide nothing."""
    role = role_name("worker")
    name = connection.settings_dict["NAME"]
    with psycopg.connect(host=str(superuser.info.host), user="postgres", dbname=name, autocommit=True) as root:
        root.execute(f"""
            create schema shadow; grant usage on schema shadow to {role};
            create function shadow.yes(text, text) returns boolean language sql as 'select true';
            create operator shadow.= (leftarg = text, rightarg = text, function = shadow.yes);
            create function shadow.clock_timestamp() returns timestamptz language sql as 'select now()';
        """)
        try:
            as_role("people")
            receipt = log.record(Kind.COMMENT_ADDED, ADA)
            as_role("worker")
            with pytest.raises(DatabaseError, match="violates check option"), transaction.atomic():
                run("set local search_path = shadow, pg_catalog, public")
                run(COPY.replace("= %s", "operator(pg_catalog.=) %s"), [receipt.id])
        finally:
            root.execute("drop schema shadow cascade")


@pytest.mark.django_db
def test_entries_go_to_the_partition_of_their_month() -> None:
    receipt = log.record(Kind.COMMENT_ADDED, ADA)
    with connection.cursor() as cursor:
        cursor.execute("select tableoid::regclass::text from audit_entry where id = %s", [receipt.id])
        assert cursor.fetchone() == (f"audit_entry_{MONTH}",)
        cursor.execute("select tableoid::regclass::text from audit_payload where entry_id = %s", [receipt.id])
        assert cursor.fetchone() == (f"audit_payload_{MONTH}",)
    assert Entry.objects.get(pk=receipt.id).seq == receipt.seq


@pytest.mark.parametrize("process", RUNNING)
def test_only_the_worker_makes_partitions(as_role, process) -> None:
    as_role(process)
    if process == "worker":
        tasks.ensure_partitions()
        return
    with pytest.raises(DatabaseError, match="permission denied for function audit_ensure_partitions"):
        tasks.ensure_partitions()


@pytest.mark.django_db
def test_making_partitions_again_changes_nothing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from pg_partition_tree('audit_entry')")
        before = cursor.fetchone()
        cursor.execute("select audit_ensure_partitions(3)")
        cursor.execute("select count(*) from pg_partition_tree('audit_entry')")
        assert cursor.fetchone() == before
