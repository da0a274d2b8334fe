from __future__ import annotations

from typing import Any

import pytest

from gate.errors import NotAllowed
from gate.writes import actions, admitting, execution, preview, quorum, undo
from tests.writes.conftest import WRITER, body

pytestmark = pytest.mark.django_db

TYPES = f"""
create type shop.mood as enum ('calm', 'loud');
create type shop.pair as (a int, b text);
create domain shop.flag as boolean;
create table shop.things (
  id bigint generated always as identity primary key, n numeric(14,4), f double precision, r real, at timestamptz,
  day date, span interval, list text[], grid int[][], doc jsonb, raw json, bytes bytea, words text, short varchar(20),
  padded char(6), yes boolean, flag shop.flag, who inet, net cidr, uid uuid, mood shop.mood, pair shop.pair, spot point,
  bits bit(4), more_bits varbit, numbers int4range, money money, "odd ""Name" text, doubled numeric generated always as
  (n * 2) stored
);
insert into shop.things (n, f, r, at, day, span, list, grid, doc, raw, bytes, words, short, padded, yes, flag, who, net,
  uid, mood, pair, spot, bits, more_bits, numbers, money, "odd ""Name")
select v.n, v.f, v.r, v.at, '2026-02-28', '1 mon -3 days 04:05:06.789', v.list, '{{{{1,2}},{{3,NULL}}}}',
  '{{"b": [1.50, null, "\\u202e"], "a": 1e3}}', '{{"x":   1,"x": 2}}', '\\x00ff10', v.words, E'tab\\there',
  'ab', true, false, '10.0.0.7', '10.0.0.0/8', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'loud', '(1,"q""uo,te")',
  '(1.5,-2)', '1010', '10', '[1,5)', '12.34', ''
from (values
  (1.5000::numeric, 'NaN'::float8, '-Infinity'::real, '2026-03-29 01:30:00+01'::timestamptz,
   array['a,b', null, '"', ''], E'line\\nbreak ''quote'' \\\\ back\\u202Ebidi\\u200B'),
  ('NaN'::numeric, 0.1, 3.4e38::real, 'infinity'::timestamptz, '{{}}', ''),
  (null, '-0', null, null, null, null)
) as v (n, f, r, at, list, words);
grant select, insert, update, delete on shop.things to {WRITER};
"""
EVERY = (
    "update shop.things set n = 7, f = 7, r = 7, at = '2020-01-01 00:00:00+00', day = '2020-01-01', span = '1 day',"
    " list = array['z'], grid = null, doc = '{}', raw = '{}', bytes = '\\xaa', words = 'w', short = 's',"
    " padded = 'p', yes = false, flag = true, who = '1.1.1.1', net = '1.0.0.0/8',"
    " uid = '00000000-0000-0000-0000-000000000000', mood = 'calm', pair = null, spot = '(0,0)', bits = '0000',"
    " more_bits = null, numbers = 'empty', money = '1', \"odd \"\"Name\" = 'z'"
)


@pytest.fixture
def things(shop: Any) -> Any:
    """A table of many types, and what it holds as text."""
    shop.execute(TYPES)

    def held() -> list[Any]:
        found = shop.execute(
            "select id, t::text, raw::text, f::text, words, encode(bytes, 'hex'), padded || '|' from shop.things t"
            " order by id"
        )
        return list(found.fetchall())

    return held


@pytest.fixture
def run(approve: Any) -> Any:
    """Preview, approve and execute a write."""

    def make(write: Any, by: Any) -> Any:
        preview.make(actions.ask_preview(write, by).pk)
        seen = quorum.latest_preview(write)
        assert seen is not None
        assert seen.error == ""
        approve(write, by)
        execution.execute(write.pk)
        write.refresh_from_db()
        assert (write.status, write.execution.error) == ("executed", "")
        return write

    return make


def way_back(write: Any, by: Any) -> Any:
    """The undo of a write, proposed and admitted."""
    back = undo.propose(write, by)
    admitting.admit(back.pk)
    back.refresh_from_db()
    return back


@pytest.fixture
def ada(make_person: Any) -> Any:
    """On call as well; she proposes the undo, and mia approves it."""
    return make_person("ada", "on_call", "Ada Okafor")


ROUND_TRIPS = {
    "an update of every type": EVERY,
    "an update of one row": "update shop.things set words = 'x', f = 1 where id = 1",
    "a delete": "delete from shop.things",
}


@pytest.mark.parametrize("what", ROUND_TRIPS)
def test_an_undo_puts_rows_back_byte_for_byte(
    propose: Any, run: Any, mia: Any, ada: Any, things: Any, what: str
) -> None:
    before = things()
    write = run(propose(ROUND_TRIPS[what]), mia)
    assert things() != before
    back = way_back(write, ada)
    assert (back.undoes_id, back.status, back.proposed_by_person_id) == (write.pk, "waiting", ada.pk)
    run(back, mia)
    assert things() == before


@pytest.fixture(autouse=True)
def plain(shop: Any) -> None:
    shop.execute(
        "create table shop.plain (id int primary key, words text, yes boolean);"
        f"grant select, insert, update, delete on shop.plain to {WRITER}"
    )


def test_an_undone_insert_leaves_no_row(propose: Any, run: Any, mia: Any, ada: Any, shop: Any) -> None:
    write = run(propose("insert into shop.plain (id, words, yes) values (1, 'a', true), (2, '', null)"), mia)
    assert shop.execute("select count(*) from shop.plain").fetchone() == (2,)
    run(way_back(write, ada), mia)
    assert shop.execute("select count(*) from shop.plain").fetchone() == (0,)


def test_a_key_that_was_changed_is_put_back(propose: Any, run: Any, mia: Any, ada: Any, shop: Any) -> None:
    shop.execute("insert into shop.plain select g, 'w' || g, null from generate_series(1, 4) g")
    write = run(propose("update shop.plain set id = id + 10"), mia)
    run(way_back(write, ada), mia)
    found = shop.execute("select array_agg(id || words order by id) from shop.plain").fetchone()
    assert found == (["1w1", "2w2", "3w3", "4w4"],)


@pytest.mark.parametrize("later", ["words = 'mine'", "yes = true", "words = null"])
def test_a_row_that_was_changed_since_is_left_alone(
    propose: Any, run: Any, mia: Any, ada: Any, shop: Any, later: str
) -> None:
    shop.execute("insert into shop.plain select g, 'w' || g, false from generate_series(1, 4) g")
    write = run(propose("update shop.plain set words = 'x'"), mia)
    shop.execute(f"update shop.plain set {later} where id = 3")
    kept = shop.execute("select * from shop.plain where id = 3").fetchone()
    back = run(way_back(write, ada), mia)
    assert back.execution.row_count == 3
    assert shop.execute("select * from shop.plain where id = 3").fetchone() == kept
    assert shop.execute("select words from shop.plain where id = 4").fetchone() == ("w4",)


REFUSED = {
    "no key": ("", "delete from shop.lie", "no primary key"),
    "a cascade": (
        "alter table shop.jobs disable trigger user",
        "delete from shop.jobs where job_id = 1",
        "also changes shop.children",
    ),
    "a trigger elsewhere": ("", "delete from shop.jobs where job_id = 9", "also changes shop.job_events"),
    "a trigger of its own": (
        "create trigger touch before update on shop.plain for each row when (old.id = 77) execute function"
        " shop.touch(); insert into shop.plain values (1, 'a', true)",
        "update shop.plain set words = 'x'",
        "The trigger touch acts on its rows",
    ),
    "a value of its own each time": (
        "alter table shop.plain add at timestamptz; insert into shop.plain values (1, 'a', true)",
        "update shop.plain set at = now()",
        "got values at execution",
    ),
    "no row": ("", "delete from shop.plain", "changed no row"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_undone_exactly_is_refused_with_its_sentence(
    propose: Any, run: Any, mia: Any, ada: Any, shop: Any, what: str
) -> None:
    made, statement, sentence = REFUSED[what]
    if made:
        shop.execute(made)
    write = run(propose(statement), mia)
    with pytest.raises(NotAllowed, match=sentence):
        undo.propose(write, ada)
    assert write.undos.count() == 0


def test_only_what_was_executed_is_undone_and_once(
    propose: Any, previewed: Any, run: Any, mia: Any, ada: Any, shop: Any
) -> None:
    shop.execute("insert into shop.plain values (1, 'a', true)")
    with pytest.raises(NotAllowed, match="was not executed"):
        undo.propose(previewed("update shop.plain set words = 'y'"), ada)
    write = run(propose("update shop.plain set words = 'x'"), mia)
    first = undo.propose(write, ada)
    with pytest.raises(NotAllowed, match=f"{first.ref} undoes {write.ref} already"):
        undo.propose(write, ada)


def test_an_undo_does_not_open_its_own_gate(
    propose: Any, run: Any, mia: Any, ada: Any, approve: Any, shop: Any
) -> None:
    shop.execute("insert into shop.plain values (1, 'a', true)")
    back = way_back(run(propose("update shop.plain set words = 'x'"), mia), ada)
    with pytest.raises(NotAllowed, match="Nobody has previewed"):
        approve(back)
    with pytest.raises(NotAllowed, match="You proposed this write"):
        approve(back, ada)
    execution.execute(back.pk)
    assert shop.execute("select words from shop.plain").fetchone() == ("x",)


def test_rows_that_do_not_fit_into_a_proposal_are_said(propose: Any, run: Any, mia: Any, ada: Any, shop: Any) -> None:
    shop.execute("insert into shop.plain values (1, repeat('a', 250000), true)")
    write = run(propose("update shop.plain set yes = false"), mia)
    with pytest.raises(NotAllowed, match="that fit into one proposal"):
        undo.propose(write, ada)


def test_the_page_offers_the_way_back_and_links_both(
    client: Any, propose: Any, run: Any, mia: Any, ada: Any, shop: Any
) -> None:
    shop.execute("insert into shop.plain values (1, 'a', true)")
    write = run(propose("update shop.plain set words = 'x'"), mia)
    client.force_login(ada)
    assert f'action="/writes/{write.pk}/undo/"' in client.get(f"/writes/{write.pk}/").content.decode()
    answer = client.post(f"/writes/{write.pk}/undo/")
    back = write.undos.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/writes/{back.pk}/")
    assert f'href="/writes/{write.pk}/"' in client.get(f"/writes/{back.pk}/").content.decode()
    parent = client.get(f"/writes/{write.pk}/").content.decode()
    assert f'href="/writes/{back.pk}/"' in parent
    assert f'action="/writes/{write.pk}/undo/"' not in parent
    refused = client.post(f"/writes/{write.pk}/undo/")
    assert (refused.status_code, "undoes" in refused.content.decode()) == (409, True)


def test_the_cap_holds_for_an_undo_too(define: Any, propose: Any, run: Any, mia: Any, ada: Any, shop: Any) -> None:
    shop.execute("insert into shop.plain select g, 'w', null from generate_series(1, 4) g")
    write = run(propose("update shop.plain set words = 'x'"), mia)
    define("target", "shop", body(row_cap=2))
    back = way_back(write, ada)
    preview.make(actions.ask_preview(back, mia).pk)
    seen = quorum.latest_preview(back)
    assert seen is not None
    assert "more than 2 rows" in seen.error
