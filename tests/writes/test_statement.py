from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.writes.errors import Unfit
from gate.writes.statement import FUNCTIONS, canonical

OK = "update shop.jobs set state = $1 where job_id = $2"

REFUSED = [
    ("select 1", "one INSERT, UPDATE or DELETE"),
    ("", "exactly one statement"),
    ("-- nothing", "exactly one statement"),
    (f"{OK}; drop table shop.jobs", "exactly one statement"),
    ("truncate shop.jobs", "one INSERT, UPDATE or DELETE"),
    ("copy shop.jobs from program 'sh'", "one INSERT, UPDATE or DELETE"),
    ("do $$ begin delete from shop.jobs; end $$", "one INSERT, UPDATE or DELETE"),
    ("merge into shop.jobs using shop.lie on true when matched then delete", "one INSERT, UPDATE or DELETE"),
    ("explain analyze delete from shop.jobs", "one INSERT, UPDATE or DELETE"),
    ("with x as (delete from shop.lie returning *) update shop.jobs set state = 'a'", "WITH is not taken"),
    ("with x as (select 1) update shop.jobs set state = 'a'", "WITH is not taken"),
    ("update shop.jobs set state = 'a' returning *", "RETURNING is not taken"),
    ("insert into shop.jobs (job_id) values (1) on conflict do nothing", "ON CONFLICT is not taken"),
    ("insert into shop.jobs values (1)", "must name its columns"),
    ("update jobs set state = 'a'", "Name the schema"),
    ("update shop.jobs set state = 'a' from lie", "Name the schema"),
    ("update other.shop.jobs set state = 'a'", "Name the schema"),
    ("delete from shop.gate_ledger", "no proposal may name it"),
    ('delete from elsewhere."Gate_Ledger"', "no proposal may name it"),
    ("delete from shop.jobs where exists (select 1 from shop.gate_ledger)", "no proposal may name it"),
    ("update pg_catalog.pg_authid set rolsuper = true", "belongs to the database itself"),
    (
        "update shop.jobs set state = (select rolname from pg_catalog.pg_roles limit 1)",
        "belongs to the database itself",
    ),
    ("delete from information_schema.sql_features", "belongs to the database itself"),
    ("update shop.jobs set state = dblink_exec('x', 'y')", "not on the list of functions"),
    ("update shop.jobs set state = shop.now()", "not on the list of functions"),
    ("delete from shop.jobs where pg_sleep(10) is null", "not on the list of functions"),
    ("update shop.jobs set state = set_config('a', 'b', false)", "not on the list of functions"),
    ("update shop.jobs set state = lo_export(1, '/tmp/x')", "not on the list of functions"),
    ("update shop.jobs set state = nextval('shop.s')", "not on the list of functions"),
    ("update shop.jobs set state = query_to_xml('delete from shop.jobs', true, true, '')", "not on the list"),
    ("update shop.jobs set price = random()", "not on the list of functions"),
    ("update shop.jobs set attempts = 1 where (10::float8).pg_sleep is null", "may read it as a call"),
    ("update shop.jobs set state = (('shop.s'::regclass).nextval)::text", "may read it as a call"),
    ("update shop.jobs set state = ((select 1).pg_terminate_backend)::text", "may read it as a call"),
    ("update shop.jobs set state = (jobs).pg_typeof::text", "may read it as a call"),
    ("update shop.jobs set state = ((array[1])[1].lo_unlink)::text", "may read it as a call"),
    ("update shop.jobs set state = (row(1, 2)).*::text", "may read it as a call"),
    ("update shop.jobs j set state = j.to_jsonb::text", "may read it as a call"),
    ("update shop.jobs set state = shop.jobs.pg_restore_relation_stats", "may read it as a call"),
    ("delete from shop.jobs where (select l.count from shop.lie l) > 1", "may read it as a call"),
    ("update shop.jobs as \"j SET state = 'a' WHERE job_id = 7\" set state = 'b'", "by a plain name"),
    ("update shop.jobs set state = 'a' from shop.lie as \"j\u043ebs\"", "by a plain name"),
    ("update shop.jobs set state = 'a' from shop.lie as l (\"a = 1\")", "by a plain name"),
    ("update shop.jobs set state = (select 'a' as \"WHERE false\")", "by a plain name"),
    ("update shop.jobs set state = 'a' from generate_series(1, 9) g", "A function in FROM"),
    ("update shop.jobs set state = 'a' where job_id operator(shop.=) 1", "not one of PostgreSQL's own"),
    ("update shop.jobs set state = current_user", "writer's own session"),
    ("delete from shop.jobs where current of c", "A cursor is not taken"),
    ("delete from shop.jobs where job_id in (select job_id from shop.lie for update)", "is not taken"),
    ("update shop.jobs set state = (select state from shop.lie tablesample system (1))", "is not taken"),
    ("update shop.jobs set price = sum(price) over ()", "is not taken"),
    ("update shop.jobs set state = e'a\\u202eb'", "U+202E"),
    ("update shop.jobs set state = e'a\\nb'", "U+000A"),
    ("update shop.jobs set state = 'a\u2066b'", "U+2066"),
    ("update shop.jobs set state = 'a' -- \u202e", "U+202E"),
    ("update shop.jobs set st\u200bate = 'a'", "U+200B"),
    ("update shop.jobs set state = 'a\u00adb'", "U+00AD"),
    ("update shop.jobs set state = 'a\U000e0041b'", "U+E0041"),
    ("update shop.jobs set state = 'a\ufe0fb'", "U+FE0F"),
    ("update shop.jobs set state = 'a\u3164b'", "U+3164"),
    ("update shop.jobs set state = 'a\u00a0b'", "U+00A0"),
    ("update shop.jobs set state = 'a\x00b'", "U+0000"),
    ("update shop.jobs set state = '\ud800'", "U+D800"),
    ("update shop.jobs set attempts = " + "not " * 500 + "true", "nested too deeply"),
    ("update shop.jobs set state = '" + "a" * 30_000 + "'", "longer than"),
    ("update shop.jobs set state =", "cannot read the statement"),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_what_is_not_one_plain_change_of_named_tables_is_refused(text: str, sentence: str) -> None:
    count = 2 if "$2" in text else 0
    with pytest.raises(Unfit, match=sentence.replace("+", "\\+").replace("$", "\\$")):
        canonical(text, count)


def test_comments_and_layout_are_gone_from_what_is_hashed() -> None:
    assert canonical("update  shop.jobs\n set state=$1 /* harmless */ where job_id = $2 -- really", 2).text == (
        "UPDATE shop.jobs SET state = $1 WHERE job_id = $2"
    )


@pytest.mark.parametrize("count", [0, 1, 3])
def test_parameters_must_be_the_ones_given(count: int) -> None:
    with pytest.raises(Unfit, match="must be the same"):
        canonical(OK, count)


@pytest.mark.parametrize("text", ["update shop.jobs set state = $2", "update shop.jobs set state = $0"])
def test_parameters_are_dense_from_one_on(text: str) -> None:
    with pytest.raises(Unfit, match="must be the same"):
        canonical(text, 1)


def test_an_element_of_an_array_or_of_json_is_no_call() -> None:
    made = canonical("update shop.jobs set state = (array['a', 'b'])[1] where (payload)['a'] is not null", 0)
    assert made.computed == {"state"}


def test_verb_and_table_are_told_from_the_tree() -> None:
    made = canonical("delete from shop.jobs j using shop.lie l where j.job_id = l.job_id", 0)
    assert (made.verb, made.table) == ("delete", "shop.jobs")


@pytest.mark.parametrize(
    ("text", "computed"),
    [
        ("update shop.jobs set updated_at = now(), run_after = current_timestamp, state = default", set()),
        ("update shop.jobs set state = 'a', price = price + 1", {"state", "price"}),
        ("update shop.jobs set (state, price) = (select 'a', 1)", {"state", "price"}),
        ("update shop.jobs set price = extract(epoch from now())", {"price"}),
        ("insert into shop.jobs (job_id, run_after) values (1, now()), (2, now() + interval '1 day')",
         {"job_id", "run_after"}),
        ("insert into shop.jobs (job_id, run_after) select job_id, now() from shop.lie", {"job_id"}),
        ("insert into shop.jobs (job_id) select 1 union all select 2", {"job_id"}),
    ],
)  # fmt: skip
def test_columns_that_are_computed_are_told_from_the_clock(text: str, computed: set[str]) -> None:
    assert canonical(text, 0).computed == computed


names = st.from_regex(r"[a-z][a-z_]{0,5}", fullmatch=True)
texts = st.text(st.characters(min_codepoint=32, max_codepoint=382), max_size=8)
atoms = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=2).map(str),
    texts.map(lambda text: "'" + text.replace("'", "''") + "'"),
    names.map(lambda name: f'"{name}"'),
    st.sampled_from(["null", "true", "now()", "current_date", "default_value", "b'101'", "x'ff'"]),
)
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "*", "=", "<>", "and", "or", "||", "is distinct from"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map(lambda one: f"(not {one})"),
        inner.map(lambda one: f"coalesce({one}, null)"),
        st.tuples(inner, inner).map(lambda two: f"(case when {two[0]} then {two[1]} end)"),
        inner.map(lambda one: f"({one})::text"),
        st.tuples(inner, inner, inner).map(lambda three: f"({three[0]} between {three[1]} and {three[2]})"),
        inner.map(lambda one: f"(select {one} from shop.lie)"),
    ),
    max_leaves=8,
)


@given(names, expressions, expressions)
def test_the_canonical_text_is_its_own_canonical_text(column: str, value: str, condition: str) -> None:
    try:
        once = canonical(f'update shop.jobs set "{column}" = {value} where {condition}', 0)
    except Unfit:
        return  # what cannot be written back exactly is refused, and that is the other half of the promise
    assert canonical(once.text, 0) == once


@given(st.text(max_size=60))
def test_any_text_is_taken_or_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(Unfit) as refusal:
        canonical(text, 0)
    assert str(refusal.value).endswith((".", "!", "?"))


def test_the_list_of_functions_is_short_and_has_no_effects() -> None:
    harmful = {"nextval", "setval", "pg_sleep", "set_config", "random", "pg_notify", "lo_export", "repeat", "rpad"}
    assert not harmful & FUNCTIONS
    assert len(FUNCTIONS) < 50
