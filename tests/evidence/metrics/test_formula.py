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
    ("select array[j.a] as a from vis_job j", "A_ArrayExpr"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_what_a_formula_may_not_be(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        formula.parse(text)


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
