"""The guarded read: what comes back, how it is limited, and what it refuses."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import postgast
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence import allowing, grammar, naming, reader
from evidence.reader import Limits, ReadResult, Refused


def refusal(dsn: str, sql: str, params: list[Any] | None = None, **limits: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        reader.read(dsn, sql, params, limits=Limits(**limits))
    assert caught.value.code
    assert str(caught.value) == caught.value.sentence
    assert caught.value.sentence.endswith(".")
    return caught.value


def one(dsn: str, sql: str, params: list[Any] | None = None) -> Any:
    return reader.read(dsn, sql, params).rows[0]["a"]


def test_rows_are_dicts_of_json_types(reader_dsn: str) -> None:
    found = reader.read(reader_dsn, "select 1 as a, 2.50 as b, null as c, true as d, 'x'::text as e")
    assert found == ReadResult(
        [{"a": 1, "b": Decimal("2.50"), "c": None, "d": True, "e": "x"}], ["a", "b", "c", "d", "e"], False
    )
    assert type(found.rows[0]["a"]) is int
    assert str(found.rows[0]["b"]) == "2.50"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'NaN'::numeric", "NaN"),
        ("'Infinity'::float8", "Infinity"),
        ("'-Infinity'::numeric", "-Infinity"),
        ("'\\xdeadbeef'::bytea", "\\xdeadbeef"),
        ("date '2026-02-03'", "2026-02-03"),
        ("timestamptz '2026-02-03 04:05:06+02'", "2026-02-03T02:05:06+00:00"),
        ("array[1, 2, null]", [1, 2, None]),
        ("array[[1.5], [2.5]]", [[Decimal("1.5")], [Decimal("2.5")]]),
        ("""'{"n": {"m": [1, 1.0, 1e3, 0.1]}}'::jsonb""",
         {"n": {"m": [1, Decimal("1.0"), 1000, Decimal("0.1")]}}),
        ("""'{"n": 1e3}'::json""", {"n": Decimal("1E+3")}),
        ("12345678901234567890123456789", 12345678901234567890123456789),
        ("1e-400::numeric", Decimal("1e-400")),
        ("0.1::float8", Decimal("0.1")),
        ("row(1, 'x')", {"f1": 1, "f2": "x"}),
    ],
)  # fmt: skip
def test_types_come_back_exactly(reader_dsn: str, expression: str, value: Any) -> None:
    found = one(reader_dsn, f"select {expression} as a")
    assert found == value
    assert type(found) is type(value)


def test_an_integer_longer_than_python_reads_comes_back(reader_dsn: str) -> None:
    assert one(reader_dsn, "select 10::numeric ^ 6000 as a") == Decimal(10) ** 6000


@pytest.mark.parametrize(
    ("sql", "value", "back"),
    [
        ("$1::int", 7, 7),
        ("$1 * $1", 70_000 // 2, 1_225_000_000),
        ("$1 + 0", 2**40, 2**40),
        ("$1 + 0", 10**30, 10**30),
        ("$1::text", "it's; --", "it's; --"),
        ("$1", "x", "x"),
        ("$1::text", None, None),
        ("$1", True, True),
        ("$1", [1, 2, 3], [1, 2, 3]),
        ("$1", [1, None, 2**40], [1, None, 2**40]),
        ("$1::text[]", ["a", None], ["a", None]),
        ("$1::int[]", [], []),
        ("$1", [1, "a", {"b": 2}], [1, "a", {"b": 2}]),
        ("$1", {"a": [1, Decimal("1.50")]}, {"a": [1, Decimal("1.50")]}),
        ("$1", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
        ("$1", date(2026, 1, 2), "2026-01-02"),
        ("$1", Decimal("12.340"), Decimal("12.340")),
        ("$1", Decimal("NaN"), "NaN"),
        ("$1", 1.5, Decimal("1.5")),
    ],
)
def test_parameters_of_each_type(reader_dsn: str, sql: str, value: Any, back: Any) -> None:
    assert one(reader_dsn, f"select {sql} as a", [value]) == back


def test_a_parameter_is_never_text_of_the_statement(reader_dsn: str) -> None:
    sql = "select count(*) as a from app_ro.jobs where state = $1"
    assert one(reader_dsn, sql, ["x' or 'a'='a"]) == 0
    assert one(reader_dsn, sql, ["failed"]) == 125


@pytest.mark.parametrize("value", ["a\0b", "\ud800", object(), {1, 2}, {"a": float("nan")}])
def test_a_value_that_postgresql_cannot_hold_is_refused(reader_dsn: str, value: Any) -> None:
    refusal(reader_dsn, "select $1::text as a", [value])


def test_a_placeholder_without_a_value_is_refused(reader_dsn: str) -> None:
    assert refusal(reader_dsn, "select $2::text as a", ["x"]).code == "parameters"


def test_an_empty_result_still_has_columns(reader_dsn: str) -> None:
    found = reader.read(reader_dsn, "select id, state as s from app_ro.jobs where false")
    assert found == ReadResult([], ["id", "s"], False)


def test_rows_beyond_the_limit_are_cut_and_said(reader_dsn: str) -> None:
    sql = "select generate_series(1, $1) as g"
    assert not reader.read(reader_dsn, sql, [1000]).truncated
    cut = reader.read(reader_dsn, sql, [1001])
    assert cut.truncated
    assert [row["g"] for row in cut.rows] == list(range(1, 1001))
    endless = reader.read(reader_dsn, sql, [2_000_000_000], limits=Limits(rows=5))
    assert (len(endless.rows), endless.truncated) == (5, True)


def test_bytes_beyond_the_limit_are_cut_and_said(reader_dsn: str) -> None:
    wide = reader.read(reader_dsn, "select repeat('x', 60000) as a from generate_series(1, 100000)")
    assert wide.truncated
    assert len(wide.rows) == 16
    huge = reader.read(reader_dsn, "select repeat('x', 50000000) as a")
    assert huge == ReadResult([], ["a"], True)
    letters = reader.read(reader_dsn, "select repeat('é', 600000) as a")  # characters are not bytes
    assert letters.truncated


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) as a from app_ro.jobs a, app_ro.jobs b, app_ro.jobs c, app_ro.jobs d",
        "with recursive r as (select 1 as i union all select i + 1 from r) select count(*) as a from r",
        "select a.id from app_ro.jobs a, app_ro.jobs b, app_ro.jobs c where a.id + b.id + c.id < 0",
    ],
)
def test_a_read_ends_when_its_time_is_over(reader_dsn: str, sql: str) -> None:
    started = time.monotonic()
    assert refusal(reader_dsn, sql, seconds=0.3).code == "timeout"
    assert time.monotonic() - started < 30  # without a limit they would take days


def test_a_slow_stream_of_rows_ends_when_its_time_is_over(dsn_of: Any) -> None:
    slow = "select g, pg_sleep(0.02)::text as s from generate_series(1, 900000) g"
    started = time.monotonic()
    assert refusal(dsn_of("postgres"), slow, seconds=0.5).code == "timeout"
    assert time.monotonic() - started < 30  # without a limit it would take hours


def test_a_lock_is_not_waited_for(reader_dsn: str, scratch_owner: Any) -> None:
    scratch_owner.execute("begin")
    scratch_owner.execute("lock table app.jobs in access exclusive mode")
    assert refusal(reader_dsn, "select id from app_ro.jobs", lock_seconds=0.1).code == "locked"
    scratch_owner.execute("rollback")


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("", "not_one_statement"),
        ("select 1; select 2", "not_one_statement"),
        ("set statement_timeout = 0", "not_a_read"),
        ("begin", "not_a_read"),
        ("select 1 into x", "not_a_read"),
        ("select id from app_ro.jobs for share", "not_a_read"),
        ("select * from (select id from app_ro.jobs for update) s", "not_a_read"),
        ("with x as (delete from app.jobs returning 1) select * from x", "not_a_read"),
        ("with x as (merge into app.jobs j using app.jobs k on false when matched then do nothing returning 1)"
         " select * from x", "not_a_read"),
        ("select 1 as a, 2 as a", "duplicate_columns"),
        ("select 'a\0b'", "not_text"),
        ("select '\ud800'", "not_text"),
        ("select " + "(" * 200 + "1" + ")" * 200, "too_nested"),
        ("select " + "not " * 2000 + "true", "too_nested"),
        ("select '" + "x" * 20_000 + "'", "too_long"),
        ("selec 1", "syntax"),
        ("select token from app.secrets", "denied"),
        ("select nothing from app_ro.jobs", "database"),
        ("select 1 / 0 as a", "database"),
        ("select pg_catalog.set_config('a.b', 'c', false)", "forbidden_name"),
        ('select * from "pg_stat_activity"', "forbidden_name"),
    ],
)  # fmt: skip
def test_what_is_not_a_plain_read_is_refused(reader_dsn: str, sql: str, code: str) -> None:
    assert refusal(reader_dsn, sql).code == code


@pytest.mark.parametrize(
    "sql",
    [
        "select 1) as q union all select 'x' from (select 1",
        "select 1\n) as counterseal_row union all select 'x' from (select 1",
        "select 1) as counterseal_row, (select 2",
        "select 1) as counterseal_row limit 1 --",
        "select 1) as counterseal_row /*",
        "select 1 /*",
        "select 'a",
        "select $$a",
        'select "a',
    ],
)
def test_text_that_breaks_out_of_the_cursor_is_refused(reader_dsn: str, sql: str) -> None:
    assert refusal(reader_dsn, sql).code in ("syntax", "breaks_out")


@pytest.mark.parametrize("sql", [
    "select 1 as a;", "select 1 as a ; -- done", "select 1 as a -- done", "select 1 as a /* ) */", "\nselect 1 as a;;",
    "-- first\nselect 1 as a", "select length(')') as a", "select 1 as a from (values (')--')) v",
])  # fmt: skip
def test_comments_and_a_last_semicolon_are_harmless(reader_dsn: str, sql: str) -> None:
    assert one(reader_dsn, sql) == 1


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(alphabet=")(;'\"$-/*\n asq1,", max_size=20))
def test_no_suffix_escapes_the_cursor(suffix: str) -> None:
    """Whatever follows a SELECT, either it is refused or the frame around it is whole."""
    try:
        checked = grammar.check(f"select 1 as a {suffix}", 100)
    except Refused:
        return
    tree = grammar._parse(checked.cursor)
    assert len(tree.stmts) == 1
    select = tree.stmts[0].stmt.declare_cursor_stmt.query.select_stmt
    assert [item.range_subselect.alias.aliasname for item in select.from_clause] == [grammar.ROW]
    assert not select.HasField("limit_count")
    assert select.target_list[0].res_target.val.func_call.funcname[-1].string.sval == "left"


@pytest.mark.parametrize(
    "sql",
    [
        "select public.dblink('dbname=shop', 'delete from app.jobs') as a",
        "select extensions.dblink_exec('dbname=shop', 'delete from app.jobs') as a",
        "select * from tools.crosstab('select 1') as t(a int)",
        "select shop.public.query_to_xml('select 1', true, true, '') as a",
        "select public.pg_stat_statements_reset() as a",
        "select query from public.pg_stat_statements",
        "select * from information_schema.user_mapping_options",
        "select routine_definition from information_schema.routines",
        "select pg_log_standby_snapshot() as a",
        "select chunk_data from pg_toast.pg_toast_2619",
    ],
)  # fmt: skip
def test_a_forbidden_name_is_forbidden_in_every_schema(sql: str) -> None:
    with pytest.raises(Refused) as caught:
        grammar.check(sql, 100)
    assert caught.value.code == "forbidden_name"


@pytest.mark.parametrize("sql", ["select * from gym.routines", "select * from information_schema.columns"])
def test_a_name_of_the_standard_is_free_elsewhere(sql: str) -> None:
    assert grammar.check(sql, 100).placeholders == 0


def test_sql_hidden_in_a_string_is_not_run_even_for_a_superuser(dsn_of: Any, scratch_owner: Any) -> None:
    hidden = f"select (''a'' || pg_terminate_backend({scratch_owner.info.backend_pid}))::tsquery, ''b''::tsquery"
    assert refusal(dsn_of("postgres"), f"select ts_rewrite('a'::tsquery, '{hidden}') as a").code == "forbidden_name"
    assert scratch_owner.execute("select 1").fetchone() == (1,)


def test_the_transaction_is_read_only_even_for_a_superuser(dsn_of: Any, scratch_owner: Any) -> None:
    before = scratch_owner.execute("select max(attempts) from app.jobs").fetchone()
    refused = refusal(dsn_of("postgres"), "select app.touch_job(1) as a")
    assert "read-only" in refused.sentence
    assert scratch_owner.execute("select max(attempts) from app.jobs").fetchone() == before


def test_many_threads_read_at_once(reader_dsn: str) -> None:
    def read(number: int) -> int:
        return int(one(reader_dsn, "select $1::int as a from app_ro.jobs limit 1", [number]))

    with ThreadPoolExecutor(24) as pool:
        assert list(pool.map(read, range(200))) == list(range(200))


def test_slow_reads_run_beside_each_other(dsn_of: Any) -> None:
    def began(_: int) -> float:
        slow = "select extract(epoch from statement_timestamp())::float8 as a from pg_sleep(0.4)"
        return float(one(dsn_of("postgres"), slow))

    with ThreadPoolExecutor(8) as pool:
        starts = sorted(pool.map(began, range(8)))
    # One after the other, each would begin 0.4 s after the one before.
    assert starts[1] - starts[0] < 0.4


def test_a_pooled_connection_that_died_is_replaced(reader_dsn: str, scratch_owner: Any) -> None:
    first = one(reader_dsn, "select pg_backend_pid() as a")
    killed = scratch_owner.execute(
        "select count(pg_terminate_backend(pid, 2000)) from pg_stat_activity where usename = 'strong_reader'"
    ).fetchone()
    assert killed[0] >= 1
    assert one(reader_dsn, "select pg_backend_pid() as a") != first


def test_a_read_that_loses_its_connection_is_not_tried_again(dsn_of: Any, scratch_owner: Any) -> None:
    caught: list[Refused] = []

    def read() -> None:
        with pytest.raises(Refused) as refused:
            one(dsn_of("postgres"), "select pg_sleep(4)::text as a")
        caught.append(refused.value)

    thread = threading.Thread(target=read)
    thread.start()
    kill = (
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where query like 'FETCH%' and state = 'active'"
    )
    for _ in range(100):
        if scratch_owner.execute(kill).fetchone()[0]:
            break
        time.sleep(0.02)
    thread.join(3)
    assert [refused.code for refused in caught] == ["unreachable"]


def test_a_source_that_is_not_there_is_said(tmp_path: Any) -> None:
    assert refusal(f"host={tmp_path} dbname=none user=nobody", "select 1 as a").code == "unreachable"
    assert refusal("this is no connection string", "select 1 as a").code == "unreachable"


def test_what_a_session_did_is_gone_in_the_next_read(dsn_of: Any) -> None:
    one(dsn_of("postgres"), "select pg_backend_pid() as a")
    assert one(dsn_of("postgres"), "select current_setting('transaction_read_only') as a") == "on"
    assert one(dsn_of("postgres"), "select current_setting('statement_timeout') as a") != "0"


@pytest.fixture
def oddly_named(scratch_owner: Any) -> Iterator[None]:
    """Names of the application that are also the catalog's: without a schema they would mean the catalog's."""
    scratch_owner.execute(
        "create view app_ro.pg_class as select 1 as a; create domain app_ro.regclass as text;"
        " create function app_ro.pg_get_viewdef(text) returns text language sql immutable as 'select $1';"
        " grant select on app_ro.pg_class to strong_reader;"
        " revoke execute on function app_ro.pg_get_viewdef(text) from public;"
        " grant execute on function app_ro.pg_get_viewdef(text) to strong_reader"
    )
    yield
    scratch_owner.execute(
        "drop view app_ro.pg_class; drop domain app_ro.regclass; drop function app_ro.pg_get_viewdef(text)"
    )
    reader.close()


@pytest.mark.usefixtures("oddly_named")
def test_only_what_the_role_may_use_may_be_named(reader_dsn: str) -> None:
    reader.close()  # what the role may use is asked anew
    for sql in (
        "select relname from pg_class", "select relname from pg_catalog.pg_class", "select * from app.jobs",
        "select table_name from information_schema.tables", "select 'app.jobs'::regclass::oid as a",
        "select 'app.jobs'::pg_catalog.regclass as a", "select array['app.jobs']::regclass[] as a",
        "select cast('lower' as regproc) as a", "select pg_get_viewdef('app_ro.jobs') as a", "select app.touch_job(1)",
        "select to_regclass('app.jobs')", "select has_table_privilege('app.jobs', 'select')", "select regclassin('x')",
        "select obj_description(1, 'pg_class')", "select format_type(23, null)", "select pg_relation_size('app.jobs')",
        "with pg_class as (select 1 as a) select * from pg_class", "select 1::bigint operator(public.@@@) 2::bigint",
        "select id from app_ro.jobs order by id using operator(public.@@@)", "select * from app_ro.jobs_audited",
        "select id from app_ro.jobs where 1::bigint operator(public.@@@) any (select 2::bigint)",
        "select * from app_ro.jobs tablesample public.note_add (10)", "select null::app.jobs as a",
        "select * from (select pg_get_viewdef(id::text) from app_ro.jobs) s", "select 'postgres=r/x'::aclitem as a",
        "select * from rows from (generate_series(1, 2), pg_get_keywords()) as t",
    ):  # fmt: skip
        assert refusal(reader_dsn, sql).code == "denied", sql
    for sql in (
        "select a from app_ro.pg_class", "select app_ro.pg_get_viewdef('x') as a", "select 'x'::app_ro.regclass as a",
        "with jobs_ as (select 1 as a) select a from jobs_", "select state as a from jobs limit 1",
        "select pg_typeof(1)::text as a",
        "select max(id) as a from app_ro.jobs where id between 1 and 2 and state not like 'x%' and id in (1, 2)",
        "select 1 operator(pg_catalog.+) 1 as a", "select f.state as a from find_job(1) f", "select '{1}'::int[] as a",
    ):  # fmt: skip
        assert len(reader.read(reader_dsn, sql).rows) == 1, sql


def test_what_was_taken_from_the_role_is_refused_soon(reader_dsn: str, scratch_owner: Any, monkeypatch: Any) -> None:
    assert one(reader_dsn, "select count(*) as a from app_ro.payments") == 200
    scratch_owner.execute("revoke select on app_ro.payments from strong_reader")
    try:
        assert "may not do this" in refusal(reader_dsn, "select count(*) as a from app_ro.payments").sentence
        monkeypatch.setattr(allowing, "FRESH_FOR", 0.0)
        assert "may not use" in refusal(reader_dsn, "select count(*) as a from app_ro.payments").sentence
    finally:
        scratch_owner.execute("grant select on app_ro.payments to strong_reader")
    assert one(reader_dsn, "select count(*) as a from app_ro.payments") == 200


def test_a_read_is_made_of_known_nodes_only() -> None:
    tree = postgast.parse("select 1; select 2 for update; merge into x using y on true when matched then delete")
    strange = {type(node).__name__ for _, node in postgast.walk(tree)} - naming.NODES
    assert {"LockingClause", "MergeStmt", "MergeWhenClause"} <= strange
    with pytest.raises(Refused, match="is not made of"):
        naming.named(tree)


def test_a_read_that_was_given_a_transaction_number_is_kept_out(dsn_of: Any, scratch_owner: Any) -> None:
    scratch_owner.execute(
        "create function app_ro.stamped() returns text language sql as 'select pg_current_xact_id()::text'"
    )
    try:
        reader.close()
        assert refusal(dsn_of("postgres"), "select app_ro.stamped() as a").code == "wrote"
    finally:
        scratch_owner.execute("drop function app_ro.stamped()")


def test_a_read_that_wrote_and_then_failed_on_purpose_is_found_all_the_same(dsn_of: Any, scratch_owner: Any) -> None:
    scratch_owner.execute(
        "create function app_ro.stamped() returns text language sql as 'select pg_current_xact_id()::text'"
    )
    try:
        reader.close()
        for sql in (
            "select app_ro.stamped() as a, 1 / (id - id) as b from app_ro.jobs",
            "select a, pg_sleep(9)::text as b from (select app_ro.stamped() as a offset 0) s",
            "select app_ro.stamped() as a, 1 as a",
        ):
            assert refusal(dsn_of("postgres"), sql, seconds=0.5).code == "wrote", sql
    finally:
        scratch_owner.execute("drop function app_ro.stamped()")
