"""Which columns a condition holds to a value, read from the parsed statement alone."""

from __future__ import annotations

import pytest

from gate.writes.parameters import Parameter
from gate.writes.probes import counting, keys
from gate.writes.statement import canonical
from gate.writes.undo import IMAGES


@pytest.mark.parametrize(
    ("text", "count", "held"),
    [
        ("update shop.jobs set state = $1 where job_id = $2 and state = $3", 3, {"job_id", "state"}),
        ("update shop.jobs set state = 'a' where 7 = job_id", 0, {"job_id"}),
        ("update shop.jobs set state = 'a' where job_id in (1, 2, $1)", 1, {"job_id"}),
        ("update shop.jobs as j set state = 'a' where j.job_id = $1 and (j.kind = 'x' and j.state = 'y')", 1,
         {"job_id", "kind", "state"}),
        ("delete from shop.jobs where shop.jobs.job_id = 7", 0, {"job_id"}),
        ("delete from shop.jobs", 0, set()),
        ("delete from shop.jobs where job_id > 7", 0, set()),
        ("delete from shop.jobs where job_id <> 7", 0, set()),
        ("delete from shop.jobs where job_id not in (7)", 0, set()),
        ("delete from shop.jobs where job_id = 7 or true", 0, set()),
        ("delete from shop.jobs where not (job_id = 7)", 0, set()),
        ("delete from shop.jobs where job_id = job_id", 0, set()),
        ("delete from shop.jobs where job_id = (select max(job_id) from shop.lie)", 0, set()),
        ("delete from shop.jobs where job_id::text = '7'", 0, set()),
        ("delete from shop.jobs where job_id = any (select 7)", 0, set()),
        ("delete from shop.jobs where job_id in (1, attempts)", 0, set()),
        # A name may be another table's, and a value may come out of one.
        ("delete from shop.jobs using shop.lie where job_id = 7", 0, set()),
        ("delete from shop.jobs j using shop.lie l where l.job_id = 7", 0, set()),
        ("delete from shop.jobs j using shop.lie l where j.job_id = l.job_id", 0, set()),
        ("delete from shop.jobs j using shop.lie l where j.job_id = 7 and j.job_id = l.job_id", 0, {"job_id"}),
        ("delete from shop.jobs j using (select job_id as n from shop.lie) l where j.job_id = l.n", 0, set()),
        # A lateral table has its values from the one beside it, and under an alias a table's own name is another's.
        ("update shop.jobs j set state = 'a' from shop.lie l, lateral (select l.job_id as n) o where j.job_id = o.n", 0,
         set()),
        ("update shop.jobs j set state = 'a' from shop.jobs where shop.jobs.job_id = 7", 0, set()),
        ("delete from shop.jobs where kind = 'a' collate \"und-x-icu\"", 0, set()),
        # An undo has its rows in a parameter.
        (f"delete from shop.jobs as t using {IMAGES} where t.job_id = (u.image -> 'after' ->> 'job_id')::bigint", 1,
         {"job_id"}),
        ("insert into shop.jobs (job_id) values (1)", 0, set()),
    ],
)  # fmt: skip
def test_what_must_hold_of_every_row(text: str, count: int, held: set[str]) -> None:
    assert keys.held(canonical(text, count)) == held


@pytest.mark.parametrize(
    ("text", "count", "is_stated", "rows"),
    [
        ("insert into shop.jobs (job_id) values (1), ($1)", 1, True, 2),
        ("insert into shop.jobs (job_id) select job_id from shop.lie", 0, False, None),
        ("insert into shop.jobs (job_id) values ((select max(job_id) from shop.lie))", 0, False, 1),
        ("insert into shop.jobs (job_id) values (jsonb_array_elements($1)::text::bigint)", 1, True, None),
        (f"insert into shop.jobs (job_id) select (u.image ->> 'a')::bigint from {IMAGES}", 1, True, None),
    ],
)
def test_whether_an_insert_says_its_rows_itself(text: str, count: int, is_stated: bool, rows: int | None) -> None:
    statement = canonical(text, count)
    assert (keys.names_its_rows(statement), keys.stated_rows(statement)) == (is_stated, rows)


def test_the_values_that_stand_there() -> None:
    text = (
        "update shop.jobs set state = $1 where job_id in ($2, 8) and kind = 'payout' and price = 1.5 and locked_by = $3"
    )
    found = keys.values(canonical(text, 3), ["queued", "7", None])
    assert found == {"job_id": ["7", "8"], "kind": ["payout"], "price": ["1.5"], "locked_by": []}


@pytest.mark.parametrize("value", ["6 + 1", "'78'::varchar(1)", "7.4::int", "'74e-1'::numeric::int", "length($1)"])
def test_a_value_that_only_the_database_works_out(value: str) -> None:
    text = f"delete from shop.jobs where job_id = {value}"
    assert keys.values(canonical(text, text.count("$")), ["a"]) == {"job_id": [None]}


def test_what_counts_is_one_select_with_the_parameters_that_it_needs() -> None:
    statement = canonical("update shop.jobs set state = $1 where job_id = $3 and kind = $2", 3)
    given = [Parameter("text", "queued"), Parameter("text", "payout"), Parameter("bigint", "7")]
    text, used = counting.as_count(statement, given, shown_in="shop_read")
    assert text == (
        "SELECT count(*) AS rows FROM (SELECT 1 FROM shop_read.jobs WHERE job_id = $2::text::bigint AND"
        " kind = $1::text::text LIMIT 101) found"
    )
    assert used == given[1:]


def test_a_name_with_its_schema_is_read_where_the_table_is_shown() -> None:
    text, _ = counting.as_count(canonical("delete from shop.jobs where shop.jobs.job_id = 7", 0), [], shown_in="seen")
    assert "FROM seen.jobs WHERE seen.jobs.job_id = 7" in text


def test_one_row_of_values_is_counted_as_the_rows_that_it_gives() -> None:
    statement = canonical("insert into shop.jobs (job_id) values (jsonb_array_elements($1)::text::bigint)", 1)
    text, _ = counting.as_count(statement, [Parameter("jsonb", "[1, 2]")], shown_in="seen")
    assert ("VALUES" in text, "jsonb_array_elements" in text) == (False, True)


@pytest.mark.parametrize(("number", "words"), [(0, "none"), (1, "one"), (2, "few"), (100, "few"), (101, "many")])
def test_a_number_as_policies_name_it(number: int, words: str) -> None:
    assert counting.in_words(number) == words
