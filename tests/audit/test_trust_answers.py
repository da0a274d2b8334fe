"""The four answers about an entry, who looked at it, and how many queries that takes."""

from __future__ import annotations

import html
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import log, notes, seal, surroundings
from audit.kinds import Kind
from audit.models import Checkpoint, Entry
from audit.witnessing import Cosigner

pytestmark = pytest.mark.django_db(transaction=True)
AGENT = log.Actor("agent", "triage-agent", "mia")
KEY = notes.SigningKey("example.com/log", bytes(range(32)))
WITNESSED = """
insert into audit_witnessed (target, size, at, state, sentence, tried_at) values (%s, %s, now(), %s, %s, now())
on conflict (target) do update set size = excluded.size, state = excluded.state, sentence = excluded.sentence
"""


class Shown:
    """A log of its own, and its pages as a viewer sees them."""

    def __init__(self, become: Any, client: Any, person: Any) -> None:
        self.become, self.client, self.person = become, client, person
        client.force_login(person)

    def call(self) -> log.Recorded:
        self.become("agents")
        key = uuid.uuid4()
        log.record(Kind.CALL_STARTED, AGENT, call_id=key, tool="find_job", args={"job_id": 1})
        receipt = log.record(
            Kind.CALL_FINISHED, AGENT, call_id=key, tool="find_job", args={"job_id": 1}, result={"job": None}
        )
        self.become("owner")
        return receipt

    def seal(self) -> None:
        self.become("sealer")
        sealer = seal.Sealer([KEY])
        sealer.start()
        while sealer.round():
            pass
        self.become("owner")

    def answers(self, receipt: log.Recorded) -> dict[str, tuple[str, str, str]]:
        """Question → (state, word, sentence)."""
        self.become("people")
        text = html.unescape(self.client.get(f"/audit/{receipt.seq}/").content.decode())
        self.become("owner")
        found = re.findall(
            r'<strong>(\w+) <span class="state state--(\w+)" data-glyph="(.)">([^<]*)</span></strong>'
            r'<span class="soft">([^<]*)<',
            text,
        )
        return {question: (glyph, word, sentence) for question, _, glyph, word, sentence in found}

    def run(self, statement: str, *values: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)


@pytest.fixture
def shown(own_log: str, as_role: Any, client: Any, make_person: Any) -> Shown:
    return Shown(as_role, client, make_person("vera", "viewer"))


WITNESS = Cosigner("example.org/witness", bytes(range(1, 33)))


def witness(shown: Shown, by: Cosigner = WITNESS, size: int | None = None) -> None:
    """The last checkpoint, or the one of a size, was signed by a witness."""
    rows = Checkpoint.objects.order_by("-size") if size is None else Checkpoint.objects.filter(size=size)
    last = rows[0]
    shown.run(WITNESSED, "witness", last.size, "sent", "")
    line = by.line(notes.text_of(last.note), 1_700_000_000)
    shown.run("update audit_witnessed set note = %s where target = 'witness'", last.note + line)


@pytest.fixture(autouse=True)
def knows_the_witness(settings: Any) -> None:
    settings.WITNESS_KEY = str(WITNESS.public)


def test_what_the_witness_has_signed_is_checked_and_not_believed(shown: Shown, settings: Any, tmp_path: Any) -> None:
    receipt = shown.call()
    shown.seal()
    witness(shown)
    assert shown.answers(receipt)["Witnessed"][:2] == ("✓", "1 of 1")
    shown.run("update audit_witnessed set note = replace(note, 'example.com', 'example.net')")
    assert shown.answers(receipt)["Witnessed"][:2] == ("✕", "not proven")
    witness(shown, Cosigner("example.org/witness", bytes(32)))
    assert "is not signed by the witness" in shown.answers(receipt)["Witnessed"][2]
    witness(shown)
    shown.run("update audit_witnessed set size = size + 1")
    assert "is not signed by the witness" in shown.answers(receipt)["Witnessed"][2]
    shown.run("update audit_witnessed set note = 'nothing'")
    assert "cannot be read" in shown.answers(receipt)["Witnessed"][2]
    witness(shown)
    settings.WITNESS_KEY = ""
    assert shown.answers(receipt)["Witnessed"][:2] == ("●", "1 of 1")
    settings.WITNESS_KEY = str(tmp_path / "none")
    assert "key cannot be read here" in shown.answers(receipt)["Witnessed"][2]
    settings.WITNESS_KEY = "example.org/witness+00000000+no"
    assert "key cannot be read here" in shown.answers(receipt)["Witnessed"][2]


def test_a_checkpoint_that_the_witness_signed_earlier_is_proven_too(shown: Shown, cluster_socket: Any) -> None:
    receipt = shown.call()
    shown.seal()
    witness(shown)
    shown.call()
    shown.seal()
    assert shown.answers(receipt)["Witnessed"][:2] == ("✓", "1 of 1")
    other = notes.signed(notes.Checkpoint("example.com/log", 3, bytes(32)), [KEY])
    line = WITNESS.line(notes.text_of(other), 1_700_000_000)
    shown.run("update audit_witnessed set size = 3, note = %s", other + line)
    assert "No proof leads from it to the root of checkpoint 3" in shown.answers(receipt)["Witnessed"][2]


def test_a_sealed_and_witnessed_entry_has_four_good_answers(shown: Shown) -> None:
    receipt = shown.call()
    shown.seal()
    witness(shown)
    shown.run(WITNESSED, "file", 1, "sent", "")
    found = shown.answers(receipt)
    assert list(found) == ["Content", "Sealed", "Witnessed", "Complete"]
    assert {glyph for glyph, _, _ in found.values()} == {"✓"}
    assert found["Sealed"][1] == "leaf 1"
    assert found["Witnessed"][1] == "1 of 2"


def test_an_entry_that_waits_is_open_and_one_that_was_passed_over_is_bad(shown: Shown, superuser: Any) -> None:
    shown.call()
    shown.seal()
    receipt = shown.call()
    assert shown.answers(receipt)["Sealed"][:2] == ("●", "not yet")
    assert shown.answers(receipt)["Witnessed"][:2] == ("●", "by nobody")
    entry = Entry.objects.get(pk=receipt.id)
    entry.at -= timedelta(seconds=60)
    from audit import seal_trust, sealing

    shown.run("insert into audit_sealstate values (1, 'sealing', '', now())")
    assert sealing.status().is_well
    assert seal_trust.sealed_answer(entry, surroundings.of(entry), None).state == "bad"
    shown.run("update audit_sealstate set state = 'held', sentence = 'Entries have waited.'")
    held = seal_trust.sealed_answer(entry, surroundings.of(entry), None)
    assert (held.state, held.sentence) == ("open", "It is not sealed yet. Entries have waited.")


def test_a_changed_row_is_not_proven(shown: Shown, cluster_socket: Any) -> None:
    import psycopg

    receipt = shown.call()
    shown.seal()
    name = connection.settings_dict["NAME"]
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name) as root:
        root.execute("alter table audit_entry disable trigger refuse_change")
        root.execute("update audit_entry set at = at + interval '1 microsecond' where id = %s", [receipt.id])
    found = shown.answers(receipt)
    assert found["Sealed"][:2] == ("✕", "not proven")
    assert found["Content"][0] == "✓"  # the digest covers what the writer said; the leaf what the server added


def test_a_stored_tree_with_a_hole_or_a_forged_checkpoint_is_not_proven(shown: Shown, cluster_socket: Any) -> None:
    import psycopg

    receipt = shown.call()
    shown.seal()
    name = connection.settings_dict["NAME"]
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name) as root:
        root.execute("alter table audit_leaf disable trigger refuse_change")
        root.execute("delete from audit_leaf where idx = 0")
    assert "has no node 0 of level 0" in shown.answers(receipt)["Sealed"][2]
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name) as root:
        root.execute("alter table audit_checkpoint disable trigger refuse_change")
        root.execute("update audit_checkpoint set root = sha256('x')")
    assert "is not the one that its note was signed for" in shown.answers(receipt)["Sealed"][2]


def test_a_witness_counts_and_a_file_alone_does_not(shown: Shown) -> None:
    receipt = shown.call()
    shown.seal()
    shown.run(WITNESSED, "file", 100, "sent", "")
    assert shown.answers(receipt)["Witnessed"][:2] == ("●", "1 of 1")
    shown.run(WITNESSED, "witness", 1, "sent", "")
    assert shown.answers(receipt)["Witnessed"][:2] == ("●", "1 of 2")
    shown.run(WITNESSED, "witness", 1, "refused", "It has seen another log.")
    assert shown.answers(receipt)["Witnessed"] == ("✕", "contradicted", "It has seen another log.")


def test_looking_is_recorded_once_for_each_person_entry_and_hour(shown: Shown, make_person: Any) -> None:
    receipt = shown.call()
    looked = Entry.objects.filter(kind=Kind.LOG_VIEWED, subject=receipt.ref)
    for _ in range(3):
        shown.answers(receipt)
    shown.become("people")
    shown.client.get(f"/audit/{receipt.seq}.json")
    assert [entry.principal for entry in looked] == ["vera"]
    shown.become("owner")
    shown.client.force_login(make_person("mia", "auditor"))
    shown.become("people")
    shown.client.get(f"/audit/{receipt.seq}.json?part=args")
    text = shown.client.get(f"/audit/{receipt.seq}/").content.decode()
    assert {entry.principal for entry in looked.all()} == {"vera", "mia"}
    assert "Mia (mia), once" in text
    assert "Vera (vera), once" in text


def test_an_hour_later_it_is_recorded_again(shown: Shown, monkeypatch: Any) -> None:
    receipt = shown.call()
    shown.answers(receipt)
    later = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr(surroundings.timezone, "now", lambda: later)
    entry = Entry.objects.get(pk=receipt.id)
    shown.become("people")
    (viewer,) = surroundings.recorded_view(entry, surroundings.of(entry), shown.person).viewers
    assert viewer.hours == 2


def test_looking_at_entries_about_the_log_begets_none(shown: Shown) -> None:
    receipt = shown.call()
    shown.answers(receipt)
    viewed = Entry.objects.get(kind=Kind.LOG_VIEWED)
    shown.become("people")
    assert b"Looking at entries about the log is not recorded." in shown.client.get(f"/audit/{viewed.seq}/").content
    assert Entry.objects.filter(kind=Kind.LOG_VIEWED).count() == 1


def test_nothing_is_shown_when_looking_cannot_be_recorded(shown: Shown, monkeypatch: Any) -> None:
    import psycopg

    def broken(*_: Any, **__: Any) -> None:
        raise psycopg.OperationalError("no space left")

    receipt = shown.call()
    monkeypatch.setattr(log, "record", broken)
    shown.become("people")
    shown.client.raise_request_exception = False
    response = shown.client.get(f"/audit/{receipt.seq}/")
    assert response.status_code >= 500
    assert b"job_id" not in response.content


def test_the_page_takes_twelve_queries_at_most(shown: Shown) -> None:
    for _ in range(4):
        receipt = shown.call()
    shown.seal()
    shown.become("people")
    with CaptureQueriesContext(connection) as queries:
        shown.client.get(f"/audit/{receipt.seq}/")
    assert len(queries) <= 12, [query["sql"][:90] for query in queries.captured_queries]
