from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import NotAllowed
from gate.writes import effect_panel, grouping, opened, quorum
from gate.writes.models import Preview, Viewing
from tests.writes.conftest import WRITER, body
from tests.writes.test_screens import page, plain

pytestmark = pytest.mark.django_db


def changed(number: int, before: str | None, after: str | None) -> dict[str, Any]:
    old, new = {"id": str(number), "state": before}, {"id": str(number), "state": after}
    return {"key": {"id": str(number)}, "columns": ["id", "state"], "before": old, "after": new}


def made(rows: list[dict[str, Any]], blast: Any = ()) -> Preview:
    return Preview(rows=rows, volatile=[], blast=list(blast), shape={})


def test_few_rows_are_no_groups() -> None:
    assert grouping.groups("shop.jobs", made([changed(n, "a", "b") for n in range(grouping.SHOWN)])) == []


def test_one_row_among_a_thousand_is_the_first_group() -> None:
    rows = [changed(n, "running", "queued") for n in range(999)] + [changed(999, "running", "deleted")]
    odd, rest = grouping.groups("shop.jobs", made(rows[::-1]))
    assert (len(odd.rows), odd.is_odd, odd.words) == (1, True, "state running → deleted")
    assert (len(rest.rows), rest.is_odd) == (999, False)


def test_a_value_that_was_null_or_becomes_it_is_no_ordinary_change() -> None:
    rows = [changed(n, f"w{n}", f"x{n}") for n in range(50)] + [changed(50, "w", None), changed(51, None, "x")]
    words = [one.words for one in grouping.groups("t", made(rows))]
    assert words == ["state null → text", "state text → null", "state text → text"]


def test_a_number_that_grows_by_much_more_than_the_others_is_odd() -> None:
    rows = [changed(n, f"{n}.50", f"{n + 1}.50") for n in range(10, 90)] + [changed(99, "99.50", "995000.00")]
    odd, rest = grouping.groups("t", made(rows))
    assert (odd.words, rest.words) == ("state number → number, up by 4 powers of ten", "state number → number, up")


def test_rows_that_change_other_columns_are_another_group() -> None:
    more = changed(50, "a", "b")
    more["after"]["id"] = "77"
    first, _ = grouping.groups("t", made([changed(n, "a", "b") for n in range(20)] + [more]))
    assert first.words == "id 50 → 77; state a → b"


def test_many_rows_of_another_table_are_a_group_of_their_own() -> None:
    blast = [{"table": "u", "rows": [changed(n, "a", "b") for n in range(20)], "volatile": [], "why": "Not all."}]
    (group,) = grouping.groups("t", made([], blast))
    assert (group.table, len(group.rows), group.why) == ("u", 20, "Not all.")


values = st.one_of(st.none(), st.sampled_from(["a", "b", "1", "2.5", "NaN", "", "\u202e"]), st.integers().map(str))


@given(st.lists(st.tuples(values, values), min_size=grouping.SHOWN + 1, max_size=60))
def test_every_row_is_in_exactly_one_group(pairs: list[tuple[str | None, str | None]]) -> None:
    rows = [changed(number, *pair) for number, pair in enumerate(pairs)]
    found = grouping.groups("t", made(rows))
    held = [row["key"]["id"] for group in found for row in group.rows]
    assert sorted(held, key=int) == [row["key"]["id"] for row in rows]
    assert len({group.key for group in found}) == len(found)
    assert [len(group.rows) for group in found] == sorted(len(group.rows) for group in found)


@given(st.lists(st.tuples(values, values), min_size=grouping.SHOWN + 1, max_size=40))
def test_a_groups_page_has_every_row_and_every_change(pairs: list[tuple[str | None, str | None]]) -> None:
    rows = [changed(number, *pair) for number, pair in enumerate(pairs)]
    for group in grouping.groups("t", made(rows)):
        table = effect_panel.GroupTable(group)
        assert len(table.rows) == len(group.rows)
        assert all(len(row.cells) == len(table.columns) for row in table.rows)


# Through the gate


@pytest.fixture
def thousand(define: Any, target: Any, shop: Any) -> None:
    shop.execute(
        "create table shop.many (id int primary key, state text);"
        "insert into shop.many select g, 'running' from generate_series(1, 1000) g;"
        f"grant select, insert, update, delete on shop.many to {WRITER}"
    )
    define("target", "shop", body(row_cap=1000))


ODD = "update shop.many set state = case when id = 777 then 'deleted' else 'queued' end"


def test_the_odd_row_is_on_the_first_screen(thousand: None, client: Client, previewed: Any, mia: Any) -> None:
    write = previewed(ODD)
    client.force_login(mia)
    shown = page(client, write)
    words = plain(shown)
    assert "1,000 rows of shop.many" in words or "1000 rows of shop.many" in words
    assert words.index("state running → deleted") < words.index("state running → queued")
    assert "<code>id 777</code>" in shown
    assert "<ins>deleted</ins>" in shown
    assert len(shown) < 60_000  # no other row of the thousand


def test_approving_waits_for_every_group(
    thousand: None, client: Client, previewed: Any, approve: Any, mia: Any, make_person: Any
) -> None:
    write = previewed(ODD)
    client.force_login(mia)
    shown = page(client, write)
    assert "Approve:" not in shown
    with pytest.raises(NotAllowed, match="Open 2 groups of rows"):
        approve(write)
    seen = quorum.latest_preview(write)
    assert seen is not None
    odd, rest = grouping.groups(write.table, seen)
    assert f'href="/writes/{write.pk}/rows/{odd.key}/"' in shown
    assert client.get(f"/writes/{write.pk}/rows/{odd.key}/").status_code == 200
    with pytest.raises(NotAllowed, match="Open a group of rows"):
        approve(write)
    opened_page = client.get(f"/writes/{write.pk}/rows/{rest.key}/").content.decode()
    assert opened_page.count("<ins>queued</ins>") == 999
    assert "Approve:" in page(client, write)
    with pytest.raises(NotAllowed, match="Open 2 groups"):
        opened.check(make_person("ada", "on_call"), write, seen)  # what mia looked at, ada did not
    approve(write)
    write.refresh_from_db()
    assert write.status == "approved"


def test_a_new_preview_is_looked_at_anew(
    thousand: None, client: Client, previewed: Any, approve: Any, mia: Any
) -> None:
    from gate.writes import actions, preview

    write = previewed(ODD)
    client.force_login(mia)
    seen = quorum.latest_preview(write)
    assert seen is not None
    keys = [group.key for group in grouping.groups(write.table, seen)]
    for key in keys:
        client.get(f"/writes/{write.pk}/rows/{key}/")
    preview.make(actions.ask_preview(write, mia).pk)
    with pytest.raises(NotAllowed, match="Open 2 groups"):
        approve(write)
    assert Viewing.objects.filter(person=mia).exclude(group="").count() == 2


def test_a_group_that_is_not_there_is_not_found_and_nothing_is_kept(
    thousand: None, client: Client, previewed: Any, mia: Any
) -> None:
    write = previewed(ODD)
    client.force_login(mia)
    assert client.get(f"/writes/{write.pk}/rows/{'0' * 64}/").status_code == 404
    assert Viewing.objects.filter(person=mia).exclude(group="").count() == 0


def test_opening_a_group_twice_is_once(thousand: None, client: Client, previewed: Any, mia: Any) -> None:
    write = previewed(ODD)
    client.force_login(mia)
    seen = quorum.latest_preview(write)
    assert seen is not None
    assert seen.error == ""
    key = grouping.groups(write.table, seen)[0].key
    for _ in range(2):
        assert client.get(f"/writes/{write.pk}/rows/{key}/").status_code == 200
    assert Viewing.objects.filter(person=mia).exclude(group="").count() == 1


def test_rows_of_another_table_stand_on_the_page(client: Client, previewed: Any, mia: Any, shop: Any) -> None:
    shop.execute(f"grant select on shop.job_events to {WRITER}")
    write = previewed("delete from shop.jobs where job_id = 1")
    client.force_login(mia)
    words = plain(page(client, write))
    assert "Footprint, complete:" in words
    assert "2 rows deleted from shop.children, by a trigger or a cascade" in words
    assert "child_id 2" in words


def test_what_is_incomplete_says_so(client: Client, previewed: Any, mia: Any) -> None:
    write = previewed()
    client.force_login(mia)
    words = plain(page(client, write))
    assert "Footprint: 1 row added to shop.job_events" in words
    assert "by a trigger or a cascade incomplete The writer's role may not do this" in words
