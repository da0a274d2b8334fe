"""One entry, shown and checked."""

from __future__ import annotations

import html
import uuid
import zlib

import pytest

from audit import links, log, sentences, streams
from audit.kinds import Kind
from audit.models import Entry
from tests import diffs

pytestmark = pytest.mark.django_db
ADA = log.Actor("person", "Ada Okafor", "ada")


@pytest.fixture
def page(client, make_person):
    client.force_login(make_person("vera", "viewer"))
    streams.close()  # new sessions number from one: other tests tamper with the old ones

    def get(entry: Entry | log.Recorded | int, part: str = "") -> str:
        seq = entry if isinstance(entry, int) else entry.seq
        response = client.get(f"/audit/{seq}/{part}")
        assert response.status_code == 200
        return html.unescape(response.content.decode())

    return get


def test_a_call_is_shown_with_its_other_half(page, call) -> None:
    start, finish = call(
        args={"job_id": 1}, result={"count": 0}, tool_version=3, tool_hash="c0de71f29911", source="shop",
        certificate="77b0", incident_id=318, run_id="2",
    )  # fmt: skip
    text = page(finish)
    assert "triage-agent called count_errors" in text
    assert "Finished in 41 ms" in text
    assert f"{start.ref} call.started" in text
    assert 'data-glyph="✓">unchanged' in text
    assert 'data-glyph="✓">no gap' in text
    assert "The start has its finish" in text
    assert "owned by mia" in text
    assert "count_errors version 3" in text
    assert "c0de 71f2 9911" in text
    assert "this entry" in page(start)


def test_a_call_without_a_finish_is_open_and_says_so(page) -> None:
    start = log.record(Kind.CALL_STARTED, ADA, call_id=uuid.uuid4(), tool="count_errors")
    text = page(start)
    assert "Not there yet" in text
    assert "its outcome is unknown" in text
    assert 'class="is-open"' in text


def test_a_finish_without_a_start_is_bad(page) -> None:
    finish = log.record(Kind.CALL_FINISHED, ADA, call_id=uuid.uuid4(), tool="count_errors")
    text = page(finish)
    assert "The call has no start" in text
    assert 'class="is-bad"' in text


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_page_and_a_sentence(page, kind) -> None:
    text = page(log.record(kind, ADA, subject="W-577", tool="find_job"))
    assert sentences.sentence(Entry(kind=kind.value, actor="Ada Okafor", subject="W-577", tool="find_job")) in text
    assert kind in sentences.SENTENCES


def test_a_kind_of_the_future_is_named_as_it_is() -> None:
    assert sentences.sentence(Entry(kind="moon.landed", actor="Ada", subject="{actor}")) == "Ada: moon.landed"


def test_braces_in_an_agents_text_are_text() -> None:
    assert sentences.sentence(Entry(kind="call.finished", actor="{tool}", tool="{actor}")) == "{tool} called {actor}"


def test_the_fields_that_something_read_are_marked(page, call) -> None:
    _, finish = call(result={"count": 0, "scanned": 18204})
    links.cite(finish.seq, "V-2041", "/drafts/2041/", "checks 3, 4", ["/count", "/complete"])
    text = page(finish)
    assert '<mark>"count": 0</mark>,' in text
    assert '<span class="absent">"complete" is not in this result</span>' in text
    assert "fields read by V-2041 marked" in text
    assert '<a href="/drafts/2041/">V-2041</a>, checks 3, 4' in text


def test_what_changed_since_the_previous_same_call(page, call) -> None:
    tool = f"tool_{uuid.uuid4().hex}"
    _, first = call(tool, {"a": 1, "b": 2}, {"count": None, "kind": "x"})
    call(tool, {"a": 9, "b": 2}, {"count": 5})
    _, third = call(tool, {"b": 2, "a": 1}, {"count": 0, "kind": "x"})
    text = page(third)
    assert "Since the previous same call" in text
    assert f"{first.ref}</a>, 0 s before" in text
    changed = [line for line in diffs.lines(text) if line[0] != " "]
    assert changed == ['-  "count": null,', '+  "count": 0,']
    _, fourth = call(tool, {"a": 1, "b": 2}, {"count": 0, "kind": "x"})
    assert "The result is the same, byte for byte." in page(fourth)
    assert "Since the previous same call" not in page(first)


def test_a_changed_payload_is_shown_as_changed(page, call, tamper) -> None:
    _, finish = call(result={"count": 4})
    tamper("update audit_payload set result = %s where entry_id = %s", zlib.compress(b'{"count":0}'), finish.pk)
    text = page(finish)
    assert 'data-glyph="✕">changed' in text
    assert "This entry is not what was written." in text
    assert 'data-glyph="✓">unchanged' not in text
    assert "<mark>" not in text


def test_a_removed_payload_is_shown_as_changed(page, call, tamper) -> None:
    _, finish = call(result={"count": 4})
    tamper("delete from audit_payload where entry_id = %s", finish.pk)
    assert 'data-glyph="✕">changed' in page(finish)


def test_a_removed_neighbor_is_shown_as_a_gap(page, tamper) -> None:
    _, lost, last = (log.record(Kind.COMMENT_ADDED, ADA, subject="gap") for _ in range(3))
    assert 'data-glyph="✓">no gap' in page(last)
    tamper("delete from audit_entry where id = %s", lost.id)
    text = page(last)
    assert 'data-glyph="✕">gap' in text
    assert f"entry number {Entry.objects.get(pk=last.id).writer_seq - 1} is missing" in text


def test_two_entries_with_one_number_of_a_writer_are_shown(page, tamper) -> None:
    one, two = (log.record(Kind.COMMENT_ADDED, ADA, subject="double") for _ in range(2))
    tamper("update audit_entry set writer_seq = writer_seq - 1 where id = %s", two.id)
    assert "carry the same number" in page(one)


def test_a_payload_that_was_cut_says_so(page) -> None:
    entry = log.record(Kind.CALL_FINISHED, ADA, tool="x", result="x" * 300_000)
    text = page(entry)
    assert "300,002 bytes, cut" in text
    assert "was cut and cannot be read as a whole" in text
    assert len(text) < 100_000


def test_an_agents_text_is_never_markup(client, page, call) -> None:
    evil = "</pre><script>alert(1)</script>"
    _, finish = call(evil, {evil: evil}, {evil: evil}, error=evil, subject=evil, summary=evil)
    raw = client.get(f"/audit/{finish.seq}/").content.decode()
    assert evil not in raw
    assert "&lt;script&gt;" in raw


@pytest.mark.parametrize("value", ["\0", "\ud800", [[[[[]]]]], "\u202e"])
def test_odd_payloads_are_shown(page, value) -> None:
    assert "unchanged" in page(log.record(Kind.CALL_FINISHED, ADA, tool="x", args=value, result=value))


def test_bytes_that_were_changed_are_not_handed_out_as_those_that_were_hashed(client, page, call, tamper) -> None:
    _, finish = call(result={"count": 0})
    forged = zlib.compress(b'{"count":7}')
    tamper("update audit_payload set result = %s where entry_id = %s", forged, finish.pk)
    answer = client.get(f"/audit/{finish.seq}.json")
    assert (answer.status_code, answer["Content-Type"]) == (409, "text/plain")
    assert b"not the bytes that were written" in answer.content
    assert b"7" not in answer.content
    assert client.get(f"/audit/{finish.seq}.json?part=args").status_code == 409


def test_bytes_are_of_a_part_that_there_is_and_stay_in_no_cache(client, page, call) -> None:
    _, finish = call(args={"a": 1})
    assert client.get(f"/audit/{finish.seq}.json?part=salt").status_code == 404
    assert client.get(f"/audit/{finish.seq}.json")["Cache-Control"] == "no-store"
    assert client.get(f"/audit/{finish.seq}.json")["X-Content-Type-Options"] == "nosniff"


def test_exact_bytes_are_what_was_hashed(client, page, call) -> None:
    _, finish = call(args={"b": 1, "a": "ü"}, result={"count": 0})
    result = client.get(f"/audit/{finish.seq}.json")
    assert (result.content, result["Content-Type"]) == (b'{"count":0}', "application/json")
    assert result["Content-Disposition"] == f'attachment; filename="A-{finish.seq}-result.json"'
    assert client.get(f"/audit/{finish.seq}.json?part=args").content == b'{"b":1,"a":"\\u00fc"}'


def test_the_permalink_leads_to_the_entry(client, page, call) -> None:
    _, finish = call()
    response = client.get(f"/audit/{finish.pk}/")
    assert response.status_code == 302
    assert response["Location"] == f"/audit/{finish.seq}/"


@pytest.mark.parametrize("address", ["1" + "0" * 17, "9" * 30, str(uuid.UUID(int=7, version=4))])
def test_an_unknown_entry_is_not_found(client, page, address) -> None:
    assert client.get(f"/audit/{address}/").status_code == 404
    assert client.get("/audit/99999999999999999.json").status_code == 404


def test_a_stranger_signs_in_first(client, call) -> None:
    _, finish = call()
    for address in (f"/audit/{finish.seq}/", f"/audit/{finish.seq}.json", f"/audit/{finish.pk}/", "/agents/"):
        assert client.get(address)["Location"].startswith("/sign-in/")
