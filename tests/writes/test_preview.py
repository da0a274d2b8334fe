from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

from gate.writes import actions, preview, quorum
from gate.writes.models import Preview
from tests.writes.conftest import body

pytestmark = pytest.mark.django_db


def seen(write: Any) -> Preview:
    found = quorum.latest_preview(write)
    assert found is not None
    return found


def test_a_preview_shows_rows_before_and_after_and_changes_nothing(previewed: Any, job: Any, entries: Any) -> None:
    write = previewed()
    made = seen(write)
    (row,) = made.rows
    assert (made.error, made.row_count, row["key"]) == ("", 1, {"job_id": "7"})
    assert (row["before"]["state"], row["after"]["state"], row["after"]["locked_by"]) == ("running", "queued", None)
    assert row["before"]["payload"] == '{"a":  1}'  # the database's own text, spaces and all
    assert row["before"]["price"] == "7.70"
    assert made.volatile == ["updated_at"]
    assert made.footprint == {"shop.job_events": [1, 0, 0], "shop.jobs": [0, 1, 0]}
    assert (job(7), write.version) == ("running", 3)
    assert [entry.kind for entry in entries(write.ref)] == ["write.proposed", "write.admitted", "write.previewed"]


def test_the_same_preview_has_the_same_effect_each_time(previewed: Any, mia: Any) -> None:
    write = previewed()
    first = seen(write)
    preview.make(actions.ask_preview(write, mia).pk)
    second = seen(write)
    assert (second.pk != first.pk, second.effect_digest, second.digest) == (True, first.effect_digest, first.digest)


def test_a_request_is_answered_once(propose: Any, mia: Any) -> None:
    request = actions.ask_preview(propose(), mia)
    preview.make(request.pk)
    preview.make(request.pk)
    assert Preview.objects.filter(request=request).count() == 1


def test_an_insert_and_a_delete_show_one_side(previewed: Any) -> None:
    (inserted,) = seen(previewed("insert into shop.jobs (job_id, kind, state) values (99, 'a', 'b')")).rows
    assert (inserted["key"], inserted["before"], inserted["after"]["state"]) == ({"job_id": "99"}, None, "b")
    deleted = seen(previewed("delete from shop.lie"))
    assert (deleted.rows[0]["before"]["state"], deleted.rows[0]["after"], deleted.rows[0]["key"]) == ("a lie", None, {})


def test_cascades_and_triggers_are_in_the_footprint(previewed: Any) -> None:
    assert seen(previewed("delete from shop.jobs where job_id = 1")).footprint == {
        "shop.children": [0, 0, 2], "shop.job_events": [1, 0, 0], "shop.jobs": [0, 0, 1],
    }  # fmt: skip


def test_another_table_cannot_pass_for_the_row_before(previewed: Any) -> None:
    made = seen(
        previewed(
            "update shop.jobs set state = 'x' from shop.lie as old where old.job_id = jobs.job_id and jobs.job_id = 1"
        )
    )
    assert made.rows[0]["before"]["state"] == "running"


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("update shop.nothing set a = 1", 'relation "shop.nothing" does not exist'),
        ("update shop.jobs set state = null", "violates not-null constraint"),
        ("insert into shop.jobs (job_id, kind, state) values (1, 'a', 'b')", "violates unique constraint"),
        ("insert into shop.children (child_id, job_id) values (9, 4711)", "violates foreign key constraint"),
        ("delete from shop.job_events", "role may not do this"),
        ("update shop.jobs set state = 'a' where job_id <= 11", "more than 10 rows, the most"),
        ("update shop.jobs set price = extract(epoch from now()) where job_id = 1", "price would get another value"),
        ("update shop.jobs set run_after = 'now'::timestamptz where job_id = 1", "run_after would get another value"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(previewed: Any, statement: str, sentence: str) -> None:
    made = seen(previewed(statement))
    assert sentence in made.error
    assert (made.row_count, made.rows, made.effect_digest) == (None, [], "")


def test_the_clock_and_new_ids_are_assigned_at_execution(previewed: Any, shop: Any) -> None:
    made = seen(previewed("update shop.jobs set run_after = now() where job_id = 1"))
    assert (made.error, made.volatile) == ("", ["run_after", "updated_at"])
    shop.execute("grant insert, select on shop.job_events to writes_test_writer")
    assert seen(previewed("insert into shop.job_events (job_id, what) values (1, 'a')")).volatile == ["id"]


def test_a_lock_is_waited_for_two_seconds(propose: Any, mia: Any, shop: Any) -> None:
    write = propose()
    with psycopg.connect(shop.info.dsn) as rival:
        rival.execute("select 1 from shop.jobs where job_id = 7 for update")
        preview.make(actions.ask_preview(write, mia).pk)
    assert "Another session holds a lock" in seen(write).error


def test_a_trigger_that_changes_the_row_again_is_refused(previewed: Any, shop: Any) -> None:
    shop.execute(
        "create function shop.again() returns trigger language plpgsql as $$ begin if pg_trigger_depth() = 1 then"
        " update shop.jobs set price = 0 where job_id = new.job_id; end if; return null; end $$;"
        "create trigger again after update on shop.jobs for each row execute function shop.again()"
    )
    assert "changes shop.jobs again" in seen(previewed()).error


def test_an_insert_that_a_trigger_changes_again_is_refused(previewed: Any, shop: Any) -> None:
    shop.execute(
        "create function shop.again() returns trigger language plpgsql as $$ begin"
        " update shop.jobs set price = 0 where job_id = new.job_id; return null; end $$;"
        "create trigger again after insert on shop.jobs for each row execute function shop.again()"
    )
    made = seen(previewed("insert into shop.jobs (job_id, kind, state) values (99, 'a', 'b')"))
    assert "changes shop.jobs again" in made.error


def test_partitions_are_one_table(previewed: Any, shop: Any) -> None:
    shop.execute(
        "create table shop.p (id int, r text, v int, primary key (id, r)) partition by list (r);"
        "create table shop.p_a partition of shop.p for values in ('a');"
        "create table shop.p_b partition of shop.p for values in ('b');"
        "insert into shop.p values (1, 'a', 1); grant select, insert, update, delete on shop.p to writes_test_writer"
    )
    made = seen(previewed("update shop.p set r = 'b' where id = 1"))
    assert (made.error, made.footprint) == ("", {"shop.p_a": [0, 0, 1], "shop.p_b": [1, 0, 0]})
    shop.execute(
        "create function shop.again() returns trigger language plpgsql as $$ begin if pg_trigger_depth() = 1 then"
        " update shop.p set v = 0 where id = new.id; end if; return null; end $$;"
        "create trigger again after update on shop.p_a for each row execute function shop.again()"
    )
    assert "changes shop.p again" in seen(previewed("update shop.p set v = 2 where id = 1")).error


def test_a_view_is_no_table(previewed: Any, shop: Any) -> None:
    shop.execute("create view shop.v as select * from shop.jobs; grant all on shop.v to writes_test_writer")
    assert "shop.v is no table" in seen(previewed("update shop.v set state = 'a' where job_id = 1")).error


# Tables whose rows RETURNING would not show as they are.
UNSHOWN = {
    "heirs": ("create table shop.heir (secret text) inherits (shop.jobs)", "inherit from shop.jobs"),
    "a partition elsewhere": (
        "create foreign data wrapper elsewhere; create server far foreign data wrapper elsewhere;"
        "create table shop.p (id int, r text) partition by list (r);"
        "create foreign table shop.p_far partition of shop.p for values in ('a') server far;"
        "grant all on shop.p to writes_test_writer",
        "on another server",
    ),
    "a rule that forges": (
        "create rule forge as on update to shop.jobs do instead update shop.lie set state = 'x' where id = 1"
        " returning 7::bigint, 'a'::text, 'b'::text, 'c'::text, 0, 0::numeric(12,2), now(), '{}'::json, now()",
        "A rule on shop.jobs",
    ),
    "a rule more": (
        "create rule more as on update to shop.jobs do also delete from shop.lie",
        "A rule on shop.jobs",
    ),
}


@pytest.mark.parametrize("what", UNSHOWN)
def test_a_table_whose_rows_would_not_be_shown_is_refused(previewed: Any, shop: Any, what: str) -> None:
    made, sentence = UNSHOWN[what]
    shop.execute(made)
    write = previewed("update shop.p set id = 2") if what == "a partition elsewhere" else previewed()
    assert sentence in seen(write).error


@pytest.mark.parametrize(("statement", "event", "body"), [
    ("delete from shop.jobs where job_id = 9", "delete", "insert into shop.jobs select old.*"),
    ("update shop.jobs set state = 'x' where job_id = 9", "update", "delete from shop.jobs where job_id = new.job_id"),
    ("update shop.jobs set state = 'x' where job_id = 9", "update",
     "insert into shop.jobs (job_id, kind, state) values (77, 'a', 'b')"),
    ("insert into shop.jobs (job_id, kind, state) values (99, 'a', 'b')", "insert",
     "delete from shop.jobs where job_id = new.job_id"),
])  # fmt: skip
def test_a_trigger_that_undoes_or_adds_to_what_is_shown_is_refused(
    previewed: Any, shop: Any, statement: str, event: str, body: str
) -> None:
    shop.execute(
        f"create function shop.again() returns trigger language plpgsql as $$ begin {body}; return null; end $$;"
        f"create trigger again after {event} on shop.jobs for each row execute function shop.again()"
    )
    assert "changes shop.jobs again" in seen(previewed(statement)).error


def test_tables_that_a_trigger_makes_are_in_the_footprint(previewed: Any, shop: Any) -> None:
    shop.execute(
        "create function shop.make() returns trigger language plpgsql security definer as"
        " $$ begin create table shop.made (a int); return null; end $$;"
        "create trigger make after update on shop.jobs for each row execute function shop.make()"
    )
    assert seen(previewed()).footprint["pg_catalog.pg_class"] == [1, 0, 0]


def test_a_target_that_does_not_count_has_no_footprint(previewed: Any, shop: Any) -> None:
    shop.execute("alter role writes_test_writer set track_counts = off")
    try:
        assert "its footprint is not known" in seen(previewed()).error
    finally:
        shop.execute("alter role writes_test_writer reset all")


# What a ledger may not be, for its row would not prove that a write ran once.
NO_PROOF = {
    "no key": "alter table shop.gate_ledger drop constraint gate_ledger_pkey",
    "a key that is checked later": "alter table shop.gate_ledger drop constraint gate_ledger_pkey,"
    " add primary key (approval_id) deferrable",
    "a key of two columns": "alter table shop.gate_ledger drop constraint gate_ledger_pkey,"
    " add primary key (approval_id, write_ref)",
    "a key of some rows": "alter table shop.gate_ledger drop constraint gate_ledger_pkey;"
    " create unique index on shop.gate_ledger (approval_id) where write_ref = ''",
    "rows that a crash loses": "alter table shop.gate_ledger set unlogged",
    "a trigger": "create trigger note before insert on shop.gate_ledger for each row execute function shop.touch()",
    "a rule": "create rule quiet as on insert to shop.gate_ledger do instead nothing",
    "hidden rows": "alter table shop.gate_ledger enable row level security",
}


@pytest.mark.parametrize("what", NO_PROOF)
def test_a_ledger_that_proves_nothing_allows_no_preview(previewed: Any, shop: Any, what: str) -> None:
    shop.execute(NO_PROOF[what])
    assert "shop.gate_ledger proves nothing" in seen(previewed()).error


def test_a_value_that_nobody_could_look_at_is_refused(previewed: Any) -> None:
    grown = "(select x || x from (select x || x as x from (select x || x as x from (select $1 || $1 as x) a) b) c)"
    statement = f"update shop.jobs set kind = {grown}, state = {grown}, locked_by = {grown} where job_id <= 9"
    assert "characters that are shown" in seen(previewed(statement, [{"t": "text", "v": "a" * 10_000}])).error


@pytest.mark.parametrize(
    "changed", [{"statement": "delete from shop.lie -- x"}, {"table": "shop.x"}, {"verb": "insert"}]
)
def test_a_row_that_was_stored_in_another_form_is_not_previewed(propose: Any, mia: Any, changed: Any) -> None:
    from gate.writes.models import WriteRequest

    write = propose("delete from shop.lie")
    WriteRequest.objects.filter(pk=write.pk).update(**changed)
    preview.make(actions.ask_preview(write, mia).pk)
    assert "not in the form that is shown" in seen(write).error


def test_rows_name_their_columns_in_the_tables_order(previewed: Any) -> None:
    (row,) = seen(previewed()).rows
    assert row["columns"] == [
        "job_id", "kind", "state", "locked_by", "attempts", "price", "run_after", "payload", "updated_at",
    ]  # fmt: skip


def test_a_trigger_that_writes_the_ledger_is_refused(previewed: Any, shop: Any) -> None:
    shop.execute(
        "create function shop.forge() returns trigger language plpgsql as $$ begin insert into shop.gate_ledger"
        " values (gen_random_uuid(), 'W-1', '', '{}'); return null; end $$;"
        "create trigger forge after update on shop.jobs for each row execute function shop.forge()"
    )
    assert "would write shop.gate_ledger" in seen(previewed()).error


def test_deferred_constraints_fail_in_the_preview(previewed: Any, shop: Any) -> None:
    shop.execute("alter table shop.children alter constraint children_job_id_fkey deferrable initially deferred")
    assert "foreign key" in seen(previewed("update shop.children set job_id = 4711 where child_id = 1")).error


def test_without_a_ledger_there_is_no_preview(previewed: Any, shop: Any) -> None:
    shop.execute("revoke select on shop.gate_ledger from writes_test_writer")
    assert "needs shop.gate_ledger with INSERT and SELECT" in seen(previewed()).error


def test_without_the_credential_there_is_no_preview(previewed: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("WRITES_TEST_DSN")
    assert "set WRITES_TEST_DSN" in seen(previewed()).error


def test_a_target_that_is_away_is_said(previewed: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("WRITES_TEST_DSN", "host=/nowhere dbname=shop password=not-to-be-shown")
    made = seen(previewed())
    assert "could not be reached" in made.error
    assert "not-to-be-shown" not in made.error


def test_the_roles_own_settings_do_not_change_what_is_seen(previewed: Any, mia: Any, shop: Any) -> None:
    write = previewed("update shop.jobs set run_after = '2026-11-29 10:00:00' where job_id = 1")
    first = seen(write)
    for setting in (
        "timezone = 'Asia/Kolkata'",
        "datestyle = 'German'",
        "search_path = 'shop'",
        "bytea_output = 'escape'",
    ):
        shop.execute(f"alter role writes_test_writer set {setting}")
    try:
        preview.make(actions.ask_preview(write, mia).pk)
    finally:
        shop.execute("alter role writes_test_writer reset all")
    assert seen(write).effect_digest == first.effect_digest


def test_rows_that_move_between_the_two_runs_are_not_bound(propose: Any, mia: Any, shop: Any, monkeypatch: Any) -> None:
    write = propose()
    runs: list[int] = []
    kept = preview._one_run

    def one_run(*given: Any) -> Any:
        if runs:
            shop.execute("update shop.jobs set attempts = attempts + 1 where job_id = 7")
        runs.append(1)
        return kept(*given)

    monkeypatch.setattr(preview, "_one_run", one_run)
    preview.make(actions.ask_preview(write, mia).pk)
    assert "rows changed between the two dry runs" in seen(write).error


def test_a_write_that_does_not_wait_is_not_previewed(approved: Any, mia: Any) -> None:
    from gate.writes.models import PreviewRequest

    write = approved()
    preview.make(PreviewRequest.objects.create(write=write, by=mia).pk)
    assert "is approved, so there is nothing to preview" in seen(write).error


def test_the_row_cap_is_the_targets_own(previewed: Any, define: Any) -> None:
    define("target", "shop", body(row_cap=2))
    assert "more than 2 rows" in seen(previewed("update shop.jobs set state = 'a' where job_id <= 3")).error


def test_typed_parameters_are_bound_under_their_type(previewed: Any) -> None:
    given = [
        {"t": "numeric", "v": "12345678.90"}, {"t": "timestamptz", "v": "2026-11-29T10:35:00+02:00"},
        {"t": "integer", "v": "3"}, {"t": "text", "v": None}, {"t": "jsonb", "v": '{"b": 1, "a":  2}'},
        {"t": "bigint", "v": "2"},
    ]  # fmt: skip
    (row,) = seen(
        previewed(
            "update shop.jobs set price = $1, run_after = $2, attempts = $3, locked_by = $4, payload = $5::text::json"
            " where job_id = $6",
            given,
        )
    ).rows
    after = row["after"]
    assert (after["price"], after["run_after"], after["attempts"]) == ("12345678.90", "2026-11-29 08:35:00+00", "3")
    assert (after["locked_by"], after["payload"]) == (None, '{"a": 2, "b": 1}')


def test_a_value_is_data_whatever_it_says(previewed: Any, job: Any) -> None:
    hostile = "x'; delete from shop.jobs; --"
    made = seen(previewed("update shop.jobs set state = $1 where job_id = 1", [{"t": "text", "v": hostile}]))
    assert made.rows[0]["after"]["state"] == hostile


@pytest.mark.django_db(transaction=True)
def test_two_deliveries_at_once_make_one_preview(propose: Any, mia: Any) -> None:
    from django.db import connection

    request = actions.ask_preview(propose(), mia)

    def deliver() -> None:
        try:
            preview.make(request.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Preview.objects.filter(request=request).count() == 1


WHOLE_ROWS = """
select p.proname from pg_catalog.pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace
   and p.pronargs >= 1 and p.pronargs - p.pronargdefaults <= 1
   and p.proargtypes[0] = any (array['record', '"any"', 'anyelement', 'anynonarray', 'anycompatible',
     'anycompatiblenonarray']::regtype[]::oid[])
"""


def test_every_function_that_could_be_called_as_a_column_is_known(shop: Any) -> None:
    from gate.writes.statement import TAKE_A_ROW

    assert {name for (name,) in shop.execute(WHOLE_ROWS)} <= TAKE_A_ROW
    shop.execute("create function shop.evil(shop.jobs) returns text language sql as $$ select 'called' $$")
    shop.execute("set search_path = pg_catalog, pg_temp")  # as the writer pins it: no other schema's is found
    with pytest.raises(psycopg.errors.UndefinedColumn):
        shop.execute("select j.evil from shop.jobs j")
