"""What a preview shows and an execution does, the same on both servers that the wheel carries: 18, and one below it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gate.writes import actions, execution, older_servers, preview, quorum
from gate.writes.models import Preview
from tests.writes import older
from tests.writes.conftest import REQUEUE, TABLES, WRITER, body

pytestmark = pytest.mark.django_db

EVENTS = "grant select on shop.job_events to writes_test_writer"
NOTE = (
    "create or replace function shop.note() returns trigger language plpgsql security definer as $$ begin"
    " insert into shop.job_events (what, job_id) values ({}); return null; end $$"
)
# A trigger that updates a keyed row of another table.
COUNTED = (
    "; alter table shop.lie add primary key (id), add seen int not null default 0;"
    " create function shop.count() returns trigger language plpgsql security definer as $$ begin"
    " update shop.lie set seen = seen + 1 where id = 1; return null; end $$;"
    " create trigger count after update on shop.jobs for each row execute function shop.count()"
)


@pytest.fixture(scope="module")
def older_socket() -> Iterator[Path]:
    with older.server() as socket:
        yield socket


@pytest.fixture(params=["18", "older"])
def shop(
    request: Any, superuser: Any, cluster_socket: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[psycopg.Connection[Any]]:
    socket = cluster_socket if request.param == "18" else request.getfixturevalue("older_socket")
    name = f"both_{id(monkeypatch)}"
    with psycopg.connect(host=str(socket), user="postgres", dbname="postgres", autocommit=True) as admin:
        if admin.execute("select 1 from pg_roles where rolname = %s", [WRITER]).fetchone() is None:
            admin.execute(f"create role {WRITER} login password 'w'")
        admin.execute(f'create database "{name}"')
        monkeypatch.setenv("WRITES_TEST_DSN", f"host={socket} user={WRITER} password=w dbname={name}")
        with psycopg.connect(host=str(socket), user="postgres", dbname=name, autocommit=True) as connection:
            connection.execute(TABLES)
            yield connection
        admin.execute(f'drop database "{name}" with (force)')


def seen(write: Any) -> Preview:
    found = quorum.latest_preview(write)
    assert found is not None
    return found


def table(made: Preview, name: str) -> dict[str, Any]:
    (found,) = (one for one in made.blast if one["table"] == name)
    return dict(found)


def test_the_two_servers_are_what_they_should_be(shop: Any, request: Any) -> None:
    knows_both = shop.info.server_version >= older_servers.KNOWS_BOTH
    assert knows_both == ("18" in request.node.name)


def test_an_update_shows_rows_before_and_after_and_runs(approved: Any, job: Any) -> None:
    write = approved()
    made = seen(write)
    (row,) = made.rows
    assert (made.error, row["key"], made.volatile) == ("", {"job_id": "7"}, ["updated_at"])
    assert (row["before"]["state"], row["after"]["state"], row["before"]["payload"]) == (
        "running", "queued", '{"a":  1}',
    )  # fmt: skip
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("executed", "queued")


def test_a_changed_row_is_refused_with_what_changed(approved: Any, shop: Any, job: Any) -> None:
    write = approved()
    shop.execute("update shop.jobs set attempts = 3 where job_id = 7")
    execution.execute(write.pk)
    write.refresh_from_db()
    (row,) = write.execution.rows
    assert (write.status, row["before"]["attempts"], row["after"]["attempts"]) == ("refused_stale", "0", "3")
    assert job(7) == "running"


def test_inserts_and_deletes_show_one_side(previewed: Any) -> None:
    (inserted,) = seen(previewed("insert into shop.jobs (job_id, kind, state) values (99, 'a', 'b')")).rows
    assert (inserted["before"], inserted["after"]["state"]) == (None, "b")
    (deleted,) = seen(previewed("delete from shop.lie")).rows
    assert (deleted["before"]["state"], deleted["after"]) == ("a lie", None)


def test_another_table_cannot_pass_for_the_row_before(previewed: Any) -> None:
    forged = "update shop.jobs set state = 'x' from shop.lie as {} where {}.job_id = jobs.job_id and jobs.job_id = 1"
    (row,) = seen(previewed(forged.format("old", "old"))).rows
    assert (row["before"]["state"], row["after"]["state"]) == ("running", "x")
    assert "specified more than once" in seen(previewed(forged.format("jobs", "jobs"))).error


def test_cascades_and_triggers_show_the_rows_of_other_tables(previewed: Any, shop: Any) -> None:
    shop.execute(EVENTS)
    made = seen(previewed("delete from shop.jobs where job_id = 1"))
    children, events = table(made, "shop.children"), table(made, "shop.job_events")
    assert [row["before"]["child_id"] for row in children["rows"]] == ["1", "2"]
    assert (children["why"], [row["after"] for row in children["rows"]]) == ("", [None, None])
    assert (events["why"], events["rows"][0]["after"]["what"], events["volatile"]) == ("", "DELETE", ["id"])


DELETED = "delete from shop.jobs where job_id = 1"


@pytest.mark.parametrize(
    ("binding", "statement", "changed", "table_name", "before", "after"),
    [
        # As many rows as were approved, each time, and not the approved ones.
        ("strict", DELETED, "delete from shop.children where child_id = 2; insert into shop.children values (3, 1)",
         "shop.children", {"child_id": "2", "job_id": "1"}, {"child_id": "3", "job_id": "1"}),
        ("strict", REQUEUE, NOTE.format("'other', 7"), "shop.job_events",
         {"job_id": "7", "what": "UPDATE"}, {"job_id": "7", "what": "other"}),
        ("touched", REQUEUE, NOTE.format("'UPDATE', 8"), "shop.job_events",
         {"job_id": "7", "what": "UPDATE"}, {"job_id": "8", "what": "UPDATE"}),
        ("strict", REQUEUE, "update shop.lie set state = 'seen'", "shop.lie",
         {"id": "1", "job_id": "1", "state": "a lie", "seen": "0"},
         {"id": "1", "job_id": "1", "state": "seen", "seen": "0"}),
        ("touched", REQUEUE, "update shop.lie set seen = 5", "shop.lie",
         {"id": "1", "job_id": "1", "state": "a lie", "seen": "0"},
         {"id": "1", "job_id": "1", "state": "a lie", "seen": "5"}),
    ],
)  # fmt: skip
def test_what_it_does_to_other_tables_is_approved_row_by_row(
    define: Any, approved: Any, shop: Any, job: Any, binding: str, statement: str, changed: str, table_name: str,
    before: Any, after: Any,
) -> None:  # fmt: skip
    if binding != "strict":  # which the target is already
        define("target", "shop", body(binding=binding))
    shop.execute(EVENTS + COUNTED)
    write = approved(statement)
    assert (seen(write).error, table(seen(write), table_name)["why"]) == ("", "")
    shop.execute(changed)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("refused_stale", "running")
    assert f"but not what it does to {table_name}" in write.execution.error
    (row,) = write.execution.rows
    assert (row["table"], row["before"], row["after"]) == (table_name, before, after)


@pytest.mark.parametrize("statement", [REQUEUE, DELETED])
def test_what_changes_in_other_tables_besides_keeps_nothing_back(
    define: Any, approved: Any, shop: Any, statement: str
) -> None:
    define("target", "shop", body(binding="touched"))
    shop.execute(EVENTS + COUNTED)
    write = approved(statement)
    shop.execute("update shop.lie set state = 'seen'; insert into shop.job_events (job_id, what) values (3, 'x')")
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, write.execution.error) == ("executed", "")


def test_what_cannot_be_read_again_before_the_commit_is_not_committed(
    approved: Any, shop: Any, job: Any
) -> None:  # fmt: skip
    shop.execute(EVENTS)
    write = approved()
    shop.execute("revoke select on shop.job_events from writes_test_writer")
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, write.execution.rows, job(7)) == ("refused_stale", [], "running")
    assert "cannot be checked now" in write.execution.error


def test_an_updated_row_of_another_table_is_paired_by_its_key(previewed: Any, shop: Any) -> None:
    shop.execute(
        "create function shop.move() returns trigger language plpgsql security definer as $$ begin"
        " update shop.children set job_id = 2 where job_id = new.job_id; return null; end $$;"
        "create trigger move after update on shop.jobs for each row execute function shop.move()"
    )
    made = table(seen(previewed("update shop.jobs set state = 'x' where job_id = 1")), "shop.children")
    assert [(row["before"]["job_id"], row["after"]["job_id"]) for row in made["rows"]] == [("1", "2"), ("1", "2")]
    assert made["why"] == ""


def test_a_block_of_its_own_hides_rows_and_that_is_said(previewed: Any, shop: Any) -> None:
    shop.execute(
        EVENTS + ";create or replace function shop.note() returns trigger language plpgsql security definer as $$ begin"
        " begin insert into shop.job_events (job_id, what) values (new.job_id, 'hidden');"
        " exception when others then null; end; return null; end $$"
    )
    made = table(seen(previewed()), "shop.job_events")
    assert (made["counts"], made["rows"]) == ([1, 0, 0], [])
    assert "not as many as were counted" in made["why"]


def test_a_row_under_another_sessions_lock_is_said_to_be_missing(propose: Any, mia: Any, shop: Any) -> None:
    shop.execute(
        "create function shop.move() returns trigger language plpgsql security definer as $$ begin"
        " update shop.children set job_id = 2 where job_id = new.job_id; return null; end $$;"
        "create trigger move after update on shop.jobs for each row execute function shop.move()"
    )
    write = propose("update shop.jobs set state = 'x' where job_id = 1")
    with psycopg.connect(shop.info.dsn) as rival:
        rival.execute("select 1 from shop.children where child_id = 1 for key share")
        preview.make(actions.ask_preview(write, mia).pk)
    made = table(seen(write), "shop.children")
    assert "not as many as were counted" in made["why"]
    assert made["counts"] == [0, 2, 0]


def test_what_the_writer_may_not_read_is_said(previewed: Any) -> None:
    made = table(seen(previewed()), "shop.job_events")
    assert (made["rows"], made["counts"]) == ([], [1, 0, 0])
    assert "role may not do this" in made["why"]


def test_the_same_preview_has_the_same_digest_each_time(previewed: Any, mia: Any, shop: Any) -> None:
    shop.execute(EVENTS)
    write = previewed()
    first = seen(write)
    preview.make(actions.ask_preview(write, mia).pk)
    assert (seen(write).pk != first.pk, seen(write).digest) == (True, first.digest)


def test_a_row_that_a_trigger_keeps_from_changing_is_no_row(previewed: Any, shop: Any) -> None:
    shop.execute(
        "create function shop.keep() returns trigger language plpgsql as $$ begin return null; end $$;"
        "create trigger keep before update on shop.jobs for each row execute function shop.keep()"
    )
    made = seen(previewed())
    assert (made.error, made.row_count, made.footprint, made.blast) == ("", 0, {}, [])


def test_a_row_that_moves_to_another_partition_is_one_row(previewed: Any, shop: Any) -> None:
    shop.execute(
        "create table shop.p (id int primary key, v int) partition by range (id);"
        "create table shop.p_a partition of shop.p for values from (1) to (10);"
        "create table shop.p_b partition of shop.p for values from (10) to (20);"
        "insert into shop.p values (1, 1), (11, 1); grant select, insert, update, delete on shop.p to"
        " writes_test_writer"
    )
    made = seen(previewed("update shop.p set v = 2"))
    assert (made.error, made.blast, [row["after"]["v"] for row in made.rows]) == ("", [], ["2", "2"])


def test_a_key_that_changes_cannot_be_paired_below_18(previewed: Any, shop: Any) -> None:
    made = seen(previewed("update shop.children set child_id = 77 where child_id = 1"))
    if shop.info.server_version >= older_servers.KNOWS_BOTH:
        assert (made.error, made.rows[0]["before"]["child_id"]) == ("", "1")
    else:
        assert "does not tell which row became which" in made.error


def test_with_touched_binding_other_columns_may_change(define: Any, approved: Any, shop: Any, job: Any) -> None:
    define("target", "shop", body(binding="touched"))
    write = approved()
    assert seen(write).bound == ["job_id", "locked_by", "state"]
    shop.execute("update shop.jobs set attempts = 3 where job_id = 7")
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, write.execution.error, job(7)) == ("executed", "", "queued")


@pytest.mark.parametrize("changed", ["locked_by = 'worker-8'", "state = 'done'"])
def test_with_touched_binding_what_is_set_or_asked_about_may_not(
    define: Any, approved: Any, shop: Any, changed: str
) -> None:
    define("target", "shop", body(binding="touched"))
    write = approved()
    shop.execute(f"update shop.jobs set {changed} where job_id = 7")
    execution.execute(write.pk)
    write.refresh_from_db()
    assert write.status == "refused_stale"
    assert "attempts" not in (write.execution.rows[0]["after"] or {}) or changed == "state = 'done'"


def test_with_touched_binding_a_new_trigger_changes_the_effect(define: Any, approved: Any, shop: Any) -> None:
    define("target", "shop", body(binding="touched"))
    write = approved()
    shop.execute(
        "create function shop.more() returns trigger language plpgsql as $$ begin new.price := 0; return new; end $$;"
        "create trigger more before update on shop.jobs for each row execute function shop.more()"
    )
    execution.execute(write.pk)
    write.refresh_from_db()
    assert write.status == "refused_stale"


def test_a_delete_takes_every_column_whatever_the_binding(define: Any, approved: Any, shop: Any) -> None:
    define("target", "shop", body(binding="touched"))
    write = approved("delete from shop.jobs where job_id = 9")
    assert seen(write).bound is None
    shop.execute("update shop.jobs set attempts = 3 where job_id = 9")
    execution.execute(write.pk)
    write.refresh_from_db()
    assert write.status == "refused_stale"
