"""What each role of the shop may and may not do, and that provisioning again changes nothing."""

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from gate.demo import shop
from tests.demo.conftest import PASSWORDS

HISTORY = [
    "job", "job_policy", "attempt", "attempt_end", "queue", "start", "wait", "minute", "slo", "deploy", "charge",
    "refund_event", "dispute_event", "delivery_event", "charging",
]  # fmt: skip
VIEWS = ["jobs", "job_attempts", "log_lines", "deploys", "charges", "refunds", *(f"vis_{name}" for name in HISTORY)]


def rows_of(connection, table):
    return connection.execute(f"select t::text from {table} as t order by 1").fetchall()


@pytest.mark.parametrize("view", VIEWS)
def test_the_reader_reads_each_view(shop_as, view):
    assert shop_as(shop.READER).execute(f"select count(*) from shop_read.{view}").fetchone()[0] > 0


WRITES_OF_A_READER = [
    *(f"delete from shop_read.{view} where false" for view in VIEWS),
    "update shop_read.jobs set state = 'failed'",
    "insert into shop_read.deploys values (1, 'search', '1', 'ada', now())",
    "select count(*) from shop.jobs",
    "select count(*) from history.job",
    "select count(*) from held_out.job_outcome",
    "create temporary table t (n int)",
    "create table shop_read.t (n int)",
    "create schema mine",
    "do $$ begin end $$",
    "select shop.touch_updated_at()",
    "set role shop_writer",
]


@pytest.mark.parametrize("statement", WRITES_OF_A_READER)
def test_the_reader_cannot_write_even_when_its_transaction_could(shop_as, statement):
    reader = shop_as(shop.READER)
    reader.execute("begin read write")
    # 42501 and nothing else: "the transaction is read-only" would say nothing about the credential
    with pytest.raises(InsufficientPrivilege):
        reader.execute(statement)


def test_the_views_show_no_customer_and_no_payload(shop_as):
    shown = {
        column
        for (column,) in shop_as(shop.OWNER).execute(
            "select attname from pg_attribute join pg_class c on c.oid = attrelid"
            " where relnamespace = (select oid from pg_namespace where nspname = 'shop_read') and attnum > 0"
        )
    }
    assert not shown & {"customer_email", "payload", "message"}


def test_every_view_is_a_security_barrier_of_a_role_that_cannot_log_in(shop_as):
    views = shop_as(shop.OWNER).execute(
        "select relname, reloptions, pg_get_userbyid(relowner), (select rolcanlogin from pg_roles where oid = relowner)"
        " from pg_class where relkind = 'v' and relnamespace ="
        " (select oid from pg_namespace where nspname = 'shop_read')"
    ).fetchall()  # fmt: skip
    assert sorted(name for name, *_ in views) == sorted(VIEWS)
    assert all(rest == [["security_barrier=true"], shop.VIEWS, False] for _, *rest in views)


def test_the_doctor_reads_catalogs_and_no_table(shop_as):
    doctor = shop_as(shop.DOCTOR)
    assert doctor.execute("select rolsuper from pg_roles where rolname = 'shop_reader'").fetchone() == (False,)
    with pytest.raises(InsufficientPrivilege):
        doctor.execute("select count(*) from shop_read.jobs")


@pytest.mark.parametrize(
    "statement",
    [
        "insert into shop.log_lines (at, job_kind, worker, message) values (now(), 'a', 'b', 'c')",
        "delete from shop.log_lines where false",
        "update shop.deploys set version = '1' where false",
        "insert into shop.job_events (job_id, changed_by) values (1, 'somebody')",
        "delete from shop.job_events where false",
        "update shop.gate_ledger set write_ref = 'W-1' where false",
        "delete from shop.gate_ledger where false",
        "truncate shop.gate_ledger",
        "alter table shop.jobs disable trigger all",
        "create table shop.t (n int)",
        "create temporary table t (n int)",
    ],
)
def test_the_writer_cannot_touch_history_nor_take_a_row_out_of_the_ledger(shop_as, statement):
    with pytest.raises(InsufficientPrivilege):
        shop_as(shop.WRITER).execute(statement)


def test_a_write_to_a_job_moves_its_time_and_leaves_an_event(shop_as):
    writer = shop_as(shop.WRITER)
    with writer.transaction(force_rollback=True):
        before = writer.execute("select updated_at from shop.jobs where job_id = 90433").fetchone()
        writer.execute("update shop.jobs set state = 'queued', locked_by = null where job_id = 90433")
        assert writer.execute("select updated_at from shop.jobs where job_id = 90433").fetchone() > before
        told = writer.execute("select changed_by, was, became from shop.job_events where job_id = 90433").fetchall()
        assert told[-1] == (shop.WRITER, "running", "queued")


def test_the_ledger_takes_an_approval_once(shop_as):
    writer = shop_as(shop.WRITER)
    row = "insert into shop.gate_ledger (approval_id, write_ref, proposal_digest, effect)"
    row += " values ('00000000-0000-4000-8000-000000000001', 'W-1', 'd', '{}')"
    with writer.transaction(force_rollback=True):
        writer.execute(row)
        with pytest.raises(psycopg.errors.UniqueViolation), writer.transaction():
            writer.execute(row)


def test_provisioning_again_changes_nothing_and_keeps_what_a_write_changed(shop_as, superuser):
    writer, owner = shop_as(shop.WRITER), shop_as(shop.OWNER)
    writer.execute("update shop.charges set reconciled = true where charge_id = 'ch_8877'")
    tables = [f"shop.{name}" for name in ("jobs", "job_attempts", "deploys", "charges", "refunds")]
    before = [rows_of(owner, table) for table in tables]
    catalog = "select relname, relacl::text, reloptions::text from pg_class where relnamespace::regnamespace::text"
    catalog += " in ('shop', 'shop_read', 'history', 'held_out') order by relnamespace, 1"
    acls = owner.execute(catalog).fetchall()
    shop.provision(superuser, PASSWORDS)
    assert [rows_of(owner, table) for table in tables] == before
    assert owner.execute(catalog).fetchall() == acls
    assert owner.execute("select reconciled from shop.charges where charge_id = 'ch_8877'").fetchone() == (True,)
    writer.execute("update shop.charges set reconciled = false where charge_id = 'ch_8877'")
