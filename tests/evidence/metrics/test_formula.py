"""A formula is one stable SELECT over exposed views, bound by the decision point in each of them."""

from __future__ import annotations

import pytest

from evidence.metrics import formula, visibility

BOUND = "j.recorded_at <= :decision_point"
RUN = "r.recorded_at <= :decision_point"


def test_what_a_formula_reads_and_answers() -> None:
    found = formula.parse(
        f"select j.id as entity, sum(a.seconds) as quantity from vis_job j join vis_attempt a on a.job_id = j.id "
        f"and a.recorded_at <= :decision_point where {BOUND} and j.kind = :scope ->> 'job_kind' group by j.id"
    )
    assert found.columns == ("entity", "quantity")
    assert found.relations == {"job", "attempt"}
    assert found.fields == {"job.id", "job.recorded_at", "job.kind", "attempt.seconds", "attempt.job_id",
                            "attempt.recorded_at"}  # fmt: skip
    assert found.scope == {"job_kind"}
    assert ":" not in found.sql
    visibility.check(found)


def test_parameters_are_not_looked_for_in_texts_and_casts() -> None:
    text = "select j.id::text as a, ':scope é' as b from vis_job j where j.r <= :decision_point::timestamptz"
    assert formula.parse(text).sql == text.replace(":decision_point", "$1")


def test_a_semicolon_behind_it_is_no_part_of_it() -> None:
    text = "select j.é as a from vis_job j"
    assert formula.parse(f"{text} ;\n").sql.strip() == formula.parse(text).sql == text


REFUSED = [
    ("delete from vis_job", "Only a SELECT"),
    ("select j.id as a from vis_job j; select 1 as b", "exactly one statement"),
    ("select", "at least one column"),
    ("selec 1", "grammar"),
    ("select j.id as a from vis_job j for update", "lock"),
    ("select j.id as a into x from vis_job j", "INTO"),
    ("with x as (delete from vis_job returning id) select x.id as a from x", "writes"),
    ("select now() as a from vis_job j", "may not call now"),
    ("select random() as a from vis_job j", "may not call random"),
    ("select clock_timestamp() as a from vis_job j", "may not call clock_timestamp"),
    ("select pg_sleep(1) as a from vis_job j", "pg_sleep"),
    ("select nextval('x') as a from vis_job j", "nextval"),
    ("select dblink('x', 'y') as a from vis_job j", "dblink"),
    ("select shop.sum(j.id) as a from vis_job j", "may not call sum"),
    ("select current_date as a from vis_job j", "SQLValueFunction"),
    ("select current_timestamp as a from vis_job j", "SQLValueFunction"),
    ("select 'now'::timestamptz as a from vis_job j", "moment of the call"),
    ("select j.id as a from vis_job j where j.at < 'NOW'", "moment of the call"),
    ("select j.id as a from vis_job j where j.at < ' tomorrow 10:00'", "moment of the call"),
    ("select j.id as a from vis_job j where j.at < ',now;'", "moment of the call"),
    ("select j.a / j.b as a from vis_job j", "may not use /"),
    ("select j.a % j.b as a from vis_job j", "may not use %"),
    ("select j.a || j.b as a from vis_job j", r"may not use \|\|"),
    ("select avg(j.a) as a from vis_job j", "may not call avg"),
    ("select round(j.a) as a from vis_job j", "may not call round"),
    ("select j.a::float8 as a from vis_job j", "may not cast to float8"),
    ("select 'x'::regclass as a from vis_job j", "may not cast to regclass"),
    ("select j.a as a from vis_job j tablesample system (10)", "RangeTableSample"),
    ("select j.a as a from generate_series(0, 1) j", "RangeFunction"),
    ("select * from vis_job j", "never all of them|A_Star"),
    ("select j.* from vis_job j", "never all of them|A_Star"),
    ("select id as a from vis_job j", "with its relation"),
    ("select j as a from vis_job j", "with its relation"),
    ("select k.id as a from vis_job j", "k is no relation"),
    ("select (j.a).b as a from vis_job j", "A_Indirection"),
    ("select j.id as a from job j", "job is none"),
    ("select j.id as a from label.outcome j", "outcome is none"),
    ("select j.id as a from pg_class j", "pg_class is none"),
    ("select j.a as a from vis_job j(a, b)", "does not rename"),
    ("select j.id as a from vis_job j natural join vis_run r", "joins with ON"),
    ("select j.id as a from vis_job j join vis_run r using (id)", "joins with ON"),
    ("select x.id as a from (vis_job j join vis_run r on j.id = r.id) x", "joins with ON"),
    ("select j.id as a from vis_job j union all select j.id as a from vis_run j", "stands for two"),
    ("with vis_job as (select j.id as id from vis_x j) select k.id as a from vis_job k", "does not begin with"),
    ("with recursive x as (select j.id as id from vis_x j) select x.id as a from x", "recursive"),
    ("with a as (select b.id as id from b), b as (select j.id as id from vis_job j) select a.id as a from a",
     "b is none"),
    ("select p.id as a from (with p as (select j.id as id from vis_job j) select p.id as id from p) q, p",
     "at its beginning|WITH"),
    ("select j.id as a from vis_job j where j.id = $1", "names its parameters"),
    ("select j.id as a from vis_job j where j.id = :job", "and no other"),
    ("select j.id as a from vis_job j where j.id = : scope", "and no other"),
    ("select j.id as a from vis_job j -- restart it", "no comment"),
    ("select j.id as a /* restart it */ from vis_job j", "no comment"),
    ("select j.id as a from vis_job j where :scope is not null", "key by key"),
    ("select j.id as a from vis_job j where j.b ->> 'x' = 'y'", "is for the scope"),
    ("select j.id as a from vis_job j where :scope ->> j.k = 'y'", "is for the scope"),
    ("select sum(j.a) from vis_job j", "has a name"),
    ("values (1)", "VALUES|grammar"),
    ("select sum(j.a) over (rows between 1 preceding and current row) as a from vis_job j", "has no frame"),
    ("select array[j.a] as a from vis_job j", "A_ArrayExpr"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_what_a_formula_may_not_be(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        formula.parse(text)


# Whatever PostgreSQL 13 to 18 read a clock, a session, a server's state or chance by, and texts that become a moment.
CALLS = """
now() pg_catalog.now() "now"() transaction_timestamp() statement_timestamp() clock_timestamp() timeofday()
current_date current_time current_time(3) current_timestamp current_timestamp(3) localtime localtime(0) LOCALTIMESTAMP
localtimestamp(2) age(j.at) age(j.xmin) mxid_age(j.x) date_trunc('day',j.at) to_timestamp(0) to_timestamp('now','')
to_date('now','') random() random(1,2) random_normal() setseed(0) gen_random_uuid() uuidv4() uuidv7()
uuid_extract_timestamp(j.id) nextval('s') currval('s') lastval() txid_current() txid_current_snapshot()
pg_current_xact_id() pg_current_snapshot() pg_current_wal_lsn() pg_postmaster_start_time() pg_conf_load_time()
pg_backend_pid() pg_xact_commit_timestamp(j.xmin) pg_last_xact_replay_timestamp() pg_stat_get_db_xact_commit(1)
pg_sleep(1) pg_relation_size('x') pg_read_file('x') inet_server_addr() version() current_user session_user system_user
current_setting('TimeZone') timezone('UTC',j.at) isfinite(j.at) timestamptz(j.note) timestamptz('now')
"""
MOMENTS = [
    "timestamptz 'now'", "timestamp 'now'", "date 'today'", "'today'::date", "'Tomorrow'::date", "interval 'now'",
    "cast('yesterday' as timestamp)", "'now'::time", "'now'::timetz", "time 'allballs'", "'infinity'::timestamptz",
    "E'\\x6eow'::timestamptz", "U&'\\006eow'::timestamptz", "$$now$$::timestamptz", "lower('NOW')::timestamptz",
    "('no' || 'w')::timestamptz", "coalesce(null, 'now')::timestamptz", "extract(epoch from 'now'::timestamptz)",
    "extract(epoch from now())", "extract(epoch from current_date)",
    "j.at - 'now'", "greatest(j.at, 'now')", "nullif(j.at, 'now')", "j.at between 'today' and 'tomorrow'",
    "j.at in ('now')", "array['now']::timestamptz[]", "(j.at, j.at) overlaps (j.at, 'now')", "j.at at time zone 'UTC'",
    "j.note::timestamptz", "j.note::date", "j.note::text::timestamptz", "cast(j.note as timestamp with time zone)",
    "j.note::timestamp(3)", "j.note::pg_catalog.timestamptz", "lower(j.note)::timestamp", "min(j.note)::timestamptz",
    "coalesce(j.note, '2026-01-01')::timestamptz", "(case when j.a = 1 then j.note end)::date",
    "(select p.note from p)::timestamptz", "j.xmin::text", "j.cmin", "j.cmax", "j.ctid",
]  # fmt: skip


@pytest.mark.parametrize("text", [*CALLS.split(), *MOMENTS])
def test_no_answer_depends_on_when_or_where_it_is_asked(text: str) -> None:
    with pytest.raises(ValueError, match=r"may not|moment|overwritten|grammar|beyond a read"):
        visibility.check(
            formula.parse(
                f"with p as (select k.note as note from vis_k k where k.recorded_at <= :decision_point) "
                f"select {text} as a from vis_job j where {BOUND}"
            )
        )


def test_a_moment_that_is_a_moment_is_read() -> None:
    moments = f"extract(epoch from (:scope ->> 'since')::timestamptz), '2026-05-01'::date, {BOUND}::timestamptz"
    for text in moments.split(", "):
        visibility.check(formula.parse(f"select {text} as a from vis_job j where {BOUND}"))


UNBOUND = [
    "select j.id as a from vis_job j",
    "select j.id as a from vis_job j where j.recorded_at < :decision_point or j.id = 1",
    f"select j.id as a from vis_job j where {BOUND} or j.id = 1",
    f"select j.id as a from vis_job j where not ({BOUND})",
    "select j.id as a from vis_job j where j.recorded_at >= :decision_point",
    "select j.id as a from vis_job j where j.created_at <= :decision_point",
    "select j.id as a from vis_job j where j.recorded_at <= :decision_point + j.later",
    "select j.id as a from vis_job j where j.recorded_at <= (:scope ->> 'at')::timestamptz",
    "select j.id as a from vis_job j where j.recorded_at <= :decision_point::date",
    f"select j.id as a from vis_job j where case when j.id = 1 then {BOUND} end",
    f"select j.id as a from vis_job j join vis_run r on r.id = j.id where {BOUND}",
    f"select j.id as a from vis_job j, vis_run r where {BOUND}",
    f"select j.id as a from vis_job j left join vis_run r on r.id = j.id and {BOUND} and {RUN}",
    f"select j.id as a from vis_job j right join vis_run r on {BOUND} and {RUN}",
    f"select j.id as a from vis_job j full join vis_run r on {BOUND} and {RUN}",
    f"select j.id as a from vis_job j where {BOUND} and exists (select 1 from vis_run r where r.id = j.id)",
    f"select j.id as a from vis_job j where {BOUND} and j.id in (select r.id from vis_run r)",
    f"select j.id as a from vis_job j where {BOUND} union all select r.id as a from vis_run r",
    f"with x as (select r.id as id from vis_run r) select j.id as a from vis_job j join x on x.id = j.id where {BOUND}",
    "select x.id as a from (select r.id as id from vis_run r) x",
    f"select j.id as a, (select r.id from vis_run r) as b from vis_job j where {BOUND}",
    f"select j.id as a from vis_job j group by j.id having {BOUND}",
]  # fmt: skip


@pytest.mark.parametrize("text", UNBOUND)
def test_a_relation_that_is_not_bound_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not bound by the decision point"):
        visibility.check(formula.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        f"select j.id as a from vis_job j where {BOUND}",
        f"select j.id as a from vis_job j where (j.id = 1 and ({BOUND}::timestamptz))",
        f"select j.id as a from vis_job j left join vis_run r on r.id = j.id and {RUN} where {BOUND}",
        f"select j.id as a from vis_job j join vis_run r on {BOUND} and {RUN}",
        "select vis_job.id as a from vis_job where vis_job.recorded_at <= :decision_point",
        f"with x as (select j.id as id from vis_job j where {BOUND}) select x.id as a from x",
        f"select r.id as a from vis_job j right join vis_run r on {BOUND} where {RUN}",
    ],
)
def test_a_relation_that_is_bound_on_every_way_passes(text: str) -> None:
    visibility.check(formula.parse(text))


@pytest.mark.parametrize("column", ["updated_at", "xmin", "last_modified"])
def test_what_a_later_change_overwrites_is_not_read(column: str) -> None:
    with pytest.raises(ValueError, match="is overwritten"):
        visibility.check(formula.parse(f"select j.id as a from vis_job j where {BOUND} and j.{column} is null"))
