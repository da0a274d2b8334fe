"""A SELECT of the one shape is read as PostgreSQL reads it, and anything else is not read at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.triage.grammars.sql_select import Aggregate, Condition, Select, parse
from gate.triage.readers.document import Unreadable

READ = [
    ("select a from t", Select("t", ("a",), (), (), None)),
    ("select a, b from t where a = 'x'", Select("t", ("a", "b"), (), (Condition("a", "=", "x", None),), None)),
    ("SELECT T.A FROM public.T AS t WHERE 'x' = t.a LIMIT 7;", Select("t", ("a",), (), (Condition(
        "a", "=", "x", None),), 7)),
    ("select * from t where (a = 1) and (b = 'y' and c >= '2026-01-14T09:00:00Z')", Select("t", ("*",), (), (
        Condition("a", "=", 1, None), Condition("b", "=", "y", None),
        Condition("c", ">=", "2026-01-14T09:00:00Z", None)), None)),
    ("select a from t where a = $2 order by b desc", Select("t", ("a",), (), (Condition("a", "=", None, 2),), None)),
    ("select a as a from t -- where b = 1", Select("t", ("a",), (), (), None)),
    ("select a from t where a = 'it''s'", Select("t", ("a",), (), (Condition("a", "=", "it's", None),), None)),
    ("select a from t where a = E'x\\'y'", Select("t", ("a",), (), (Condition("a", "=", "x'y", None),), None)),
    ("select count(*) from t", Select("t", (), (Aggregate("count", "*", "count"),), (), None)),
    ("select count(1) as n, max(c) from t", Select("t", (), (
        Aggregate("count", "*", "n"), Aggregate("max", "c", "max")), (), None)),
    ("select a from t where c >= timestamptz '2026-01-14'", Select("t", ("a",), (), (
        Condition("c", ">=", "2026-01-14", None),), None)),
    ("table t", Select("t", ("*",), (), (), None)),
]  # fmt: skip
NOT_READ = [
    "", ";", "select", "select 1", "values (1)", "delete from t", "update t set a = 1 returning a",
    "explain select a from t", "select a from t; select b from t", "select a into u from t",
    "with t as (select 1 as a) select a from t", "select a from t union select a from u",
    "select a from (select a from t) t", "select a from t, u", "select a from t join u on true",
    "select a from only t", "select a from t tablesample system (1)", "select a from t as t(b)",
    "select a from db.public.t", "select a from archive.t", "select a from f()", "select a from lateral f() t",
    "select distinct a from t", "select distinct on (b) a from t", "select a from t group by a",
    "select count(*) from t group by b", "select count(*) from t having count(*) = 0", "select a from t for update",
    "select a from t offset 1", "select a from t limit 1 offset 1", "select a from t limit all",
    "select a from t limit $1", "select a from t limit 1 + 1",
    "select a from t order by a fetch first 1 row with ties", "select a from t limit (select 1)",
    "select b as a from t", "select 'x' as a from t", "select a::text from t", "select a || 'x' from t",
    "select u.a from t", "select coalesce(a, 'x') from t", "select case when true then 'x' end as a from t",
    "select null as a from t", "select a, count(*) from t", "select *, a from t", "select a, a from t",
    "select count(*), count(*) from t", "select count(*) + 0 from t", "select count(a) from t",
    "select count(distinct a) from t", "select sum(a) from t", "select count(*) filter (where a = 1) from t",
    "select count(*) over () from t", "select public.count(*) from t", "select max(a + 1) from t",
    "select max(distinct a) from t", "select now() from t", "select count('x') from t", "select a from t where true",
    "select a from t where a", "select a from t where not a = 1", "select a from t where a = 1 or b = 2",
    "select a from t where a <> 1", "select a from t where a < 1", "select a from t where a > 1",
    "select a from t where 1 >= a", "select a from t where a = b", "select a from t where a = null",
    "select a from t where a is null", "select a from t where a in ('x')", "select a from t where a like 'x'",
    "select a from t where a between 1 and 2", "select a from t where a = any ('{x}')",
    "select a from t where (a, b) = (1, 2)", "select a from t where a = 'x'::text",
    "select a from t where a::text = 'x'", "select a from t where lower(a) = 'x'", "select a from t where a = 1.5",
    "select a from t where a = true", "select a from t where c >= now()",
    "select a from t where c >= '2026-01-14'::date", "select a from t where c >= '2026-01-14'::timestamp",
    "select a from t where c >= '2026-01-14'::timestamptz(0)", "select a from t where c >= current_date",
    "select a from t where exists (select 1)", "select a from t where a = (select 'x')",
    "select a from t where a operator(public.=) 'x'", "select a from t order by f(a)", "select a from t order by 1",
    "select a from t where a = 'x", "select a\0 from t", "\ud800",
    "select a from t where " + "(" * 50 + "a = 1" + ")" * 50, "select a from t where a = '" + "x" * 2000 + "'",
]  # fmt: skip


@pytest.mark.parametrize(("text", "meant"), READ, ids=[text for text, _ in READ])
def test_a_select_of_the_shape_is_read(text: str, meant: Select) -> None:
    assert parse(text) == meant


@pytest.mark.parametrize("text", NOT_READ, ids=[ascii(text)[:60] for text in NOT_READ])
def test_anything_else_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable, match=r"(?s)the statement .*, so what its answer means is not read\."):
        parse(text)


@given(text=st.text() | st.text(alphabet="select from where and or='*(),;tab10 "))
def test_whatever_is_written_it_is_read_or_refused(text: str) -> None:
    try:
        asked = parse(text)
    except Unreadable:
        return
    assert asked.relation != ""
    assert (asked.columns == ()) != (asked.aggregates == ())
