"""Threats to what a person sees before approving: each has a control, and here the test that shows it."""

from __future__ import annotations

import html
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from gate.writes import actions, digests, grouping, lookalikes, preview, quorum
from gate.writes.characters import hidden, spelled_out
from gate.writes.errors import Unfit
from gate.writes.models import Preview, PreviewRequest, WriteRequest
from gate.writes.statement import canonical
from tests.writes.conftest import WRITER, body
from tests.writes.test_screens import page, plain

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_mia(client: Client, mia: Any) -> Client:
    client.force_login(mia)
    return client


def seen(write: Any) -> Preview:
    found = quorum.latest_preview(write)
    assert found is not None
    return found


# 12: words of the proposer that pass for ours

PROSE = (
    "<h2>Approved by security</h2> ![x](http://evil.test/x.png) [sign here](http://evil.test) **pre-approved**"
    " <img src=x onerror=go()> </section><div class='notice notice--ok'>✓ Approved by Ada</div>"
)


def test_12_what_an_agent_writes_is_literal_text_in_a_labelled_box_of_its_own(as_mia: Client, propose: Any) -> None:
    shown = page(as_mia, propose(reason=PROSE, title="<b>Approved</b> by security"))
    assert html.escape("<h2>Approved by security</h2>") in shown
    assert "<img src=x" not in shown
    assert 'evil.test/x.png"' not in shown
    assert "<b>Approved</b>" not in shown
    before, _, box = shown.partition("Reason given by triage-agent")
    assert "pre-approved" not in before
    assert "pre-approved" in box
    assert "Plain text, not part of what is approved." in plain(box)


@pytest.mark.parametrize("odd", ["\x1b[31mred", "\u202edesrever", "\u2066x", "z\u200bz", "\ue000"])
def test_12_prose_holds_no_character_that_acts(propose: Any, odd: str) -> None:
    for where in ({"title": odd}, {"reason": odd}):
        with pytest.raises(Unfit, match="which a reader would not see"):
            propose(**where)


# 13: characters that hide or pass for others

HIDDEN = ["\u202e", "\u2066", "\u200b", "\u00ad", "\U000e0041", "\ufeff", "\u2028", "\u115f", "\u00a0"]


@pytest.mark.parametrize("odd", HIDDEN)
def test_13_a_hidden_character_is_taken_neither_in_a_statement_nor_in_a_parameter(propose: Any, odd: str) -> None:
    with pytest.raises(Unfit, match="which a reader would not see"):
        propose(f"update shop.jobs set state = 'a{odd}b' where job_id = 1")
    with pytest.raises(Unfit, match="which a reader would not see"):
        propose("update shop.jobs set state = $1 where job_id = 1", [{"t": "text", "v": f"a{odd}b"}])


@pytest.mark.parametrize("odd", HIDDEN)
def test_13_a_hidden_character_of_a_row_is_drawn_and_copied_as_its_number(
    as_mia: Client, previewed: Any, shop: Any, odd: str
) -> None:
    shop.execute("update shop.jobs set state = %s where job_id = 7", [f"run{odd}ning"])
    shown = page(as_mia, previewed("update shop.jobs set state = 'x' where job_id = 7"))
    assert f"run‹U+{ord(odd):04X}›ning" in html.unescape(shown)
    assert odd not in html.unescape(shown).split("Before and after")[1].split("Approvals")[0]


def test_13_a_word_of_two_scripts_is_flagged_where_it_stands(as_mia: Client, propose: Any) -> None:
    write = propose(
        'update shop.jobs set "st\u0430te" = $1 where job_id = 1', [{"t": "text", "v": "p\u0430id, \u03bf\u03ba"}],
        title="Set the st\u0430te",
    )  # fmt: skip
    words = plain(page(as_mia, write))
    for sentence in (
        "Not what it looks like. Statement: st‹U+0430›te has letters of Cyrillic and Latin.",
        "Not what it looks like. $1: p‹U+0430›id has letters of Cyrillic and Latin.",
        "Not what it looks like. $1: ‹U+03BF›‹U+03BA› has letters of Greek.",
        "Not what it looks like. Title: st‹U+0430›te has letters of Cyrillic and Latin.",
    ):
        assert sentence in words


@pytest.mark.parametrize("word", ["état", "größe", "Straße", "job_id", "имя", "данные", "名前", "naïve2"])
def test_13_an_honest_word_of_one_script_is_not_flagged(word: str) -> None:
    assert lookalikes.found([("Statement", word)]) == []


@given(st.text(max_size=30))
def test_13_text_that_is_drawn_holds_nothing_hidden(text: str) -> None:
    assert hidden(spelled_out(text)) == ""


def test_13_the_table_is_shown_with_its_schema_and_its_number(as_mia: Client, previewed: Any, shop: Any) -> None:
    (oid,) = shop.execute("select 'shop.jobs'::regclass::oid").fetchone()
    assert f"shop.jobs is the target's table {oid} ." in plain(page(as_mia, previewed()))


# 14: a row that hides among a thousand (more in test_groups)


def test_14_the_odd_row_stands_first_and_the_digest_covers_every_row(
    define: Any, target: Any, shop: Any, as_mia: Client, previewed: Any
) -> None:
    shop.execute(
        "create table shop.many (id int primary key, state text);"
        "insert into shop.many select g, 'running' from generate_series(1, 1000) g;"
        f"grant select, insert, update, delete on shop.many to {WRITER}"
    )
    define("target", "shop", body(row_cap=1000))
    write = previewed("update shop.many set state = case when id = 500 then 'paid' else 'queued' end")
    first = grouping.groups(write.table, seen(write))[0]
    assert [row["key"]["id"] for row in first.rows] == ["500"]
    shown = plain(page(as_mia, write))
    assert shown.index("running → paid") < shown.index("running → queued")
    assert "Approve:" not in shown
    made = seen(write)
    rows = [dict(row) for row in made.rows]
    rows[998] = {**rows[998], "after": {**rows[998]["after"], "state": "paid"}}
    assert digests.of_effect(rows, made.volatile, made.bound) != made.effect_digest


# 15: another table's row instead of the row before


@pytest.mark.parametrize("name", ["old", "new", "lie", "excluded"])
def test_15_no_alias_makes_another_tables_row_pass_for_the_row_before(previewed: Any, name: str) -> None:
    made = seen(
        previewed(
            f'update shop.jobs set state = \'x\' from shop.lie as "{name}" where "{name}".job_id = jobs.job_id'
            " and jobs.job_id = 1"
        )
    )
    assert (made.error, made.rows[0]["before"]["state"], made.rows[0]["after"]["state"]) == ("", "running", "x")


# 16: effects of the preview itself

EFFECTS = [
    "update shop.jobs set state = dblink_exec('dbname=x', 'delete from y')",
    "delete from shop.jobs where pg_sleep(60) is null",
    "update shop.jobs set state = lo_export(1, '/tmp/x')::text",
    "update shop.jobs set state = set_config('session_replication_role', 'replica', false)",
    "update shop.jobs set state = pg_read_file('/etc/passwd')",
    "update shop.jobs set state = pg_terminate_backend(1)::text",
    "update shop.jobs set attempts = nextval('shop.s')",
    "update shop.jobs set state = pg_notify('a', 'b')::text",
    "update shop.jobs set state = pg_advisory_lock(1)::text",
    "update shop.jobs set state = query_to_xml('delete from shop.jobs', true, true, '')::text",
    "insert into shop.jobs (job_id, kind, state) select 1, 'a', pg_logical_emit_message(false, 'a', 'b')::text",
    "update shop.jobs set state = shop.mine()",
]


@pytest.mark.parametrize("statement", EFFECTS)
def test_16_a_function_that_acts_is_refused_when_it_is_proposed(propose: Any, statement: str) -> None:
    with pytest.raises(Unfit, match="not on the list of functions that a write may call"):
        propose(statement)
    assert not WriteRequest.objects.filter(statement__icontains="shop.mine").exists()


def test_16_a_name_on_the_list_is_held_against_the_targets_own_catalog(previewed: Any, shop: Any) -> None:
    shop.execute("set allow_system_table_mods = on")
    shop.execute(
        "create function pg_catalog.lower(int) returns text language plpgsql volatile as"
        " $$ begin perform pg_sleep(0); return 'x'; end $$"
    )
    assert (
        "The function lower of this target may act"
        in seen(previewed("update shop.jobs set state = lower(attempts) where job_id = 1")).error
    )


def test_16_nothing_runs_before_a_person_asks(propose: Any) -> None:
    write = propose()
    assert (write.previews.count(), write.preview_requests.count()) == (0, 0)
    with pytest.raises(PreviewRequest.DoesNotExist):
        preview.make(write.pk)  # it takes a request, and only a person's act makes one


# 17: more than one statement

PAYLOADS = [
    "update shop.jobs set state = 'a'; drop table shop.jobs",
    "update shop.jobs set state = 'a';;delete from shop.jobs",
    "begin; update shop.jobs set state = 'a'; commit",
    "with x as (delete from shop.lie returning *) update shop.jobs set state = 'a'",
    "with x as (update shop.lie set state = 'b') delete from shop.jobs where job_id = 1",
    "insert into shop.jobs (job_id, kind) with y as (delete from shop.lie returning 1) select 1, 'a' from y",
    "update shop.jobs set state = 'a' returning *",
    "delete from shop.jobs returning job_id",
    "insert into shop.jobs (job_id, kind, state) values (1, 'a', 'b') returning 1",
    "insert into shop.jobs (job_id, kind, state) values (1, 'a', 'b') on conflict (job_id) do update set state = 'c'",
    "truncate shop.jobs",
    "copy shop.jobs to program 'sh'",
    "do $$ begin delete from shop.jobs; end $$",
    "call shop.mine()",
    "explain analyze update shop.jobs set state = 'a'",
    "prepare x as delete from shop.jobs",
    "execute x",
    "merge into shop.jobs using shop.lie on true when matched then delete",
    "select 1 into shop.made",
    "create table shop.made as delete from shop.jobs returning *",
    "set role postgres",
    "listen a",
    "lock table shop.jobs",
    "update only (select * from shop.jobs) set state = 'a'",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_17_only_one_plain_change_is_taken(propose: Any, payload: str) -> None:
    with pytest.raises(Unfit):
        propose(payload)


@pytest.mark.parametrize(
    "comment", ["-- where job_id = 1", "/* only job 7 */", "/* a /* nested */ b */", "--\u0020approved by Ada"]
)
def test_17_a_comment_is_no_part_of_what_is_shown_hashed_and_run(propose: Any, comment: str) -> None:
    plainly = canonical("update shop.jobs set state = 'a'", 0).text
    write = propose(f"update shop.jobs {comment}\n set state = 'a' {comment}")
    assert write.statement == plainly
    assert "approved" not in write.statement


def test_17_what_a_preview_runs_is_the_text_of_the_page(propose: Any, mia: Any) -> None:
    write = propose()
    WriteRequest.objects.filter(pk=write.pk).update(statement=write.statement + " -- a tail")
    preview.make(actions.ask_preview(write, mia).pk)
    assert "not in the form that is shown" in seen(write).error
