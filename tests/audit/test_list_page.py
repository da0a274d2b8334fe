"""The audit list, through its address."""

from __future__ import annotations

import html
import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import browse, choices, log
from audit.kinds import Kind
from audit.models import Entry

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client, make_person):
    client.force_login(make_person("vera", "viewer"))

    def get(query: str = "", **headers):
        return client.get(f"/audit/{query}", headers=headers)

    return get


def numbers(response) -> list[int]:
    """The entries shown, in the order of the page."""
    found = re.findall(r'<td class="num"><a href="/audit/(\d+)/">', response.content.decode())
    return [int(number) for number in found]


def href(response, words: str) -> str:
    (link,) = re.findall(rf'<a class="btn" href="([^"]*)">{words}</a>', response.content.decode())
    return html.unescape(link)


def some(count: int, **about) -> tuple[str, list[int]]:
    """Entries under a tool of their own: (tool, numbers, newest first)."""
    tool = f"tool-{uuid.uuid4().hex}"
    agent = log.Actor("agent", "list-agent", "mia")
    seqs = [log.record(Kind.CALL_FINISHED, agent, tool=tool, **about).seq for _ in range(count)]
    return tool, seqs[::-1]


def test_a_stranger_signs_in_first(client) -> None:
    response = client.get("/audit/")
    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in/")


def test_it_cannot_be_posted_to(client, make_person) -> None:
    client.force_login(make_person("vera", "viewer"))
    assert client.post("/audit/").status_code == 405


def test_newest_come_first(page) -> None:
    tool, seqs = some(3)
    response = page(f"?tool={tool}")
    assert numbers(response) == seqs
    assert "3 match<" in response.content.decode()


def test_pages_go_on_both_ways_without_skipping(page) -> None:
    tool, seqs = some(2 * browse.PAGE + 7)
    first = page(f"?tool={tool}")
    second = page(href(first, "Older entries"))
    third = page(href(second, "Older entries"))
    assert numbers(first) + numbers(second) + numbers(third) == seqs
    assert "Older entries" not in third.content.decode()
    assert "Newer entries" not in first.content.decode()
    assert numbers(page(href(third, "Newer entries"))) == numbers(second)
    back = page(href(second, "Newer entries"))
    assert numbers(back) == numbers(first)
    assert "Newer entries" not in back.content.decode()


def test_each_filter_keeps_the_others(page) -> None:
    incident = uuid.uuid4().int % 10**12
    tool, (refused,) = some(1, incident_id=incident, status="refused", error="not open")
    agent, person = log.Actor("agent", "list-agent", "mia"), log.Actor("person", f"Ada {incident}", "ada")
    fine = log.record(Kind.CALL_STARTED, agent, tool=tool, incident_id=incident, subject=f"I-{incident}").seq
    other = log.record(Kind.COMMENT_ADDED, person, incident_id=incident).seq
    table = {
        f"?incident={incident}": [other, fine, refused],
        f"?incident=I-{incident}": [other, fine, refused],
        f"?incident={incident}&agent=list-agent": [fine, refused],
        f"?agent=Ada+{incident}": [other],
        f"?tool={tool}&kind=call.started": [fine],
        f"?tool={tool}&status=not-ok": [refused],
        f"?tool={tool}&status=refused": [refused],
        f"?tool={tool}&status=ok": [fine],
        f"?subject=I-{incident}": [fine],
        f"?incident={incident}&view=agents-refused": [],
        f"?tool={tool}&kind=nothing.such": [],
    }
    assert {query: numbers(page(query)) for query in table} == table


def test_actor_event_and_subject_are_filter_links(page) -> None:
    tool, _ = some(1, subject="I-318")
    text = html.unescape(page(f"?tool={tool}").content.decode())
    for link in (f"?agent=list-agent&tool={tool}", f"?kind=call.finished&tool={tool}", f"?tool={tool}&subject=I-318"):
        assert f'href="{link}"' in text


def test_a_view_is_a_filter_with_a_name(page) -> None:
    seq = log.record(Kind.CALL_REFUSED, log.Actor("agent", "list-agent", "mia"), status="refused").seq
    log.record(Kind.COMMENT_ADDED, log.Actor("person", "Ada", "ada"))
    assert numbers(page("?view=agents-refused"))[0] == seq
    assert numbers(page("?view=writes-and-refusals"))[0] == seq


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d", "%d %b %Y %H:%M UTC"])
def test_jumping_to_a_time_shows_what_was_there_then(page, form) -> None:
    tool, seqs = some(2)
    now = datetime.now(UTC)
    assert numbers(page(f"?tool={tool}&time={now.strftime(form)}"))[:2] == seqs
    before = (now - timedelta(days=40)).strftime(form)
    response = page(f"?tool={tool}&time={before}")
    assert numbers(response) == []
    assert response.status_code == 200


def test_the_jump_leaves_out_what_came_later(page) -> None:
    old = some(1)[1][0]
    entry = Entry.objects.get(seq=old)
    assert browse.position_of(entry.at + timedelta(milliseconds=1)) == old + 1
    assert browse.position_of(datetime(1960, 1, 1, tzinfo=UTC)) == 0


@pytest.mark.parametrize("typed", ["yesterday", "25:00", "2026-13-40", "<b>x", "9999999999", "0x10"])
def test_a_time_that_cannot_be_read_is_kept_with_a_sentence(page, typed) -> None:
    response = page(f"?time={typed}")
    assert response.status_code == 422
    text = response.content.decode()
    assert "Write the time in UTC like" in text
    assert f'value="{html.escape(typed)}"' in text
    assert 'aria-invalid="true"' in text


@pytest.mark.parametrize("query", ["?incident=abc", "?incident=1" + "0" * 30, "?view=nothing"])
def test_a_filter_that_cannot_be_is_said_so(page, query) -> None:
    assert page(query).status_code == 422


@pytest.mark.parametrize(
    "query", ["?before=x", "?after=-1", "?before=" + "9" * 40, "?agent=%00", "?tool=%ff%fe", "?x=1"]
)
def test_an_odd_address_still_opens(page, query) -> None:
    assert page(query).status_code == 200


def test_htmx_gets_the_rows_alone_and_history_the_whole_page(page) -> None:
    tool, seqs = some(1)
    rows = page(f"?tool={tool}", HX_Request="true")
    assert rows.content.decode().lstrip().startswith('<section id="rows"')
    assert numbers(rows) == seqs
    assert "HX-Request" in rows["Vary"]
    whole = page(f"?tool={tool}", HX_Request="true", HX_History_Restore_Request="true")
    assert "<html" in whole.content.decode()
    assert page("?time=x", HX_Request="true").status_code == 422


def test_nothing_found_names_the_way_out(page) -> None:
    text = page("?tool=no-such-tool").content.decode()
    assert "No entry matches." in text
    assert "Clear filters" in text


def test_nothing_found_says_which_filter_hides_what(page, monkeypatch) -> None:
    tool, _ = some(3)
    text = page(f"?tool={tool}&kind=call.refused&agent=list-agent").content.decode()
    assert f'<a href="?agent=list-agent&amp;tool={tool}">Any event</a> would show 3.' in text
    assert "Anyone</a>" not in text  # nobody was refused with this tool
    monkeypatch.setattr(browse, "MOST_PROMISED", 2)
    assert "would show more than 2." in page(f"?tool={tool}&kind=call.refused").content.decode()
    assert "would show" not in page(f"?tool={tool}").content.decode()


def test_an_agents_text_is_never_markup(page) -> None:
    evil = f"<script>{uuid.uuid4()}</script>"
    log.record(
        Kind.CALL_REFUSED, log.Actor("agent", evil, evil), tool=evil, subject=evil, summary=evil, status=evil,
        error=evil,
    )  # fmt: skip
    response = page(f"?view=agents-refused&status={evil}")
    assert evil not in response.content.decode()
    assert html.escape(evil) in response.content.decode()


def test_days_and_times_are_utc_whatever_the_readers_zone(client, make_person) -> None:
    person = make_person("kiri", "viewer")
    person.time_zone = "Pacific/Kiritimati"
    person.save(update_fields=["time_zone"])
    client.force_login(person)
    tool, (seq,) = some(1)
    at = Entry.objects.get(seq=seq).at.astimezone(UTC)
    text = client.get(f"/audit/?tool={tool}").content.decode()
    assert at.strftime("%A %-d %B %Y") in text
    assert f">{at:%H:%M:%S}</time>" in text


def test_the_number_of_queries_does_not_grow(page) -> None:
    few, _ = some(1)
    many, _ = some(browse.PAGE + 5)
    page(f"?tool={few}")
    with CaptureQueriesContext(
        connection,
    ) as with_few:
        page(f"?tool={few}")
    with CaptureQueriesContext(connection) as with_many:
        page(f"?tool={many}")
    assert len(with_few) == len(with_many)
    assert not any("audit_payload" in query["sql"] for query in with_many.captured_queries)


def test_counting_stops_early(page, monkeypatch) -> None:
    monkeypatch.setattr(browse, "MOST_COUNTED", 3)
    assert "3+ match" in page(f"?tool={some(5)[0]}").content.decode()
    assert "3 match<" in page(f"?tool={some(3)[0]}").content.decode()
    assert "1 matches" in page(f"?tool={some(1)[0]}").content.decode()


def test_choices_are_what_is_in_the_log() -> None:
    incident = uuid.uuid4().int % 10**15
    some(3, incident_id=incident)
    found = choices.of(browse.Filters(status="x"))
    assert "call.finished" in found["kind"]
    assert "list-agent" in found["agent"]
    assert found["agent"] == sorted(set(found["agent"]), key=found["agent"].index)
    with connection.cursor() as cursor:
        cursor.execute("select count(distinct tool) from audit_entry where tool <> ''")
        (count,) = cursor.fetchone()
    assert len(found["tool"]) == min(count, choices.MOST_CHOICES)
    assert choices.of(browse.Filters(tool="set now"))["tool"][0] == "set now"


def test_choices_use_an_index_and_not_every_row() -> None:
    some(3)
    with connection.cursor() as cursor:
        cursor.execute("set local enable_seqscan = off")
        cursor.execute("explain " + choices.LOOSE.format(**choices.FOUND_BY["tool"]), [5])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Index Only Scan" in plan
    assert "Seq Scan" not in plan
