"""The pages of sources: the certificate fact by fact, what mends it, what it was before, and proving it again."""

from __future__ import annotations

import html
import json
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit import definition_pages
from audit.models import Definition, Entry, Outbox
from audit.refusing import NotAllowed
from evidence import durations, proof, proof_asks, source_page, sources, tasks
from evidence.kinds import KINDS
from evidence.models import CallSlot, Certificate, ProofAsk
from tests.evidence import bodies

pytestmark = pytest.mark.django_db


@pytest.fixture
def vera(client: Any, make_person: Any) -> Any:
    person = make_person("vera", "viewer")
    client.force_login(person)
    return person


@pytest.fixture
def mia(client: Any, make_person: Any) -> Any:
    person = make_person("mia", "admin", full_name="Mia Lindqvist")
    client.force_login(person)
    return person


def shown(client: Any, address: str = "/sources/scratch/") -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))


def kept(source: Definition, holds: bool, minutes_ago: float, *facts: dict[str, Any], role: str = "r") -> Certificate:
    return Certificate.objects.create(
        id=uuid4(), source=source.name, source_version=source.version, role=role, address="host=db user=r",
        server="1/2", facts=list(facts), holds=holds, digest="ab" * 32,
        at=timezone.now() - timedelta(minutes=minutes_ago),
    )  # fmt: skip


def fact(name: str, holds: bool, **more: Any) -> dict[str, Any]:
    said = {"fact": name, "sentence": f"{name} is so.", "holds": holds, "seen": f"{name} seen", "mend": "",
            "weight": "wall", "excused": ""}  # fmt: skip
    return {**said, **more}


def test_a_proven_source_shows_each_fact_its_entry_and_what_stops_what(
    certified: Certificate, define: Any, vera: Any, client: Any
) -> None:
    define("tool", "find_job", bodies.tool())
    page = shown(client)
    for seen in certified.facts:
        assert seen["sentence"] in page
    entry = Entry.objects.filter(kind="source.certified", certificate=str(certified.pk)).get()
    for words in (
        "cannot write", "strong_reader", "PostgreSQL 18", "no standby", entry.ref, "What stops what", "the credential",
        "find_job", "version 1", "Certificates over time", "every two minutes",
    ):  # fmt: skip
        assert words in page
    assert "Mend it" not in page
    assert "Prove again" not in page  # a viewer asks for nothing
    listed = shown(client, "/sources/")
    for words in ("scratch", "strong_reader", "cannot write", "1 on", "no standby"):
        assert words in listed


def test_a_dark_source_says_what_fails_what_was_seen_and_what_mends_it(
    source: Definition, vera: Any, client: Any
) -> None:
    grant = "REVOKE INSERT ON shop.errors FROM PUBLIC;"
    kept(source, False, 1, fact("fine", True), fact("tables", False, mend=grant, seen="shop.errors: INSERT"),
         fact("waiting", False, excused="The source leaves it to later lines", weight="layer"))  # fmt: skip
    page = shown(client)
    for words in ("scratch is not served: this is not true: tables is so.", "shop.errors: INSERT", grant, "Mend it",
                  "Show the other 1", "1 of 3 facts hold.", "The source leaves it to later lines"):  # fmt: skip
        assert words in page
    assert "dark" in shown(client, "/sources/")


def test_any_kind_of_source_is_shown_with_its_own_facts(define: Any, vera: Any, client: Any) -> None:
    source = define("source", "scratch", bodies.source())
    Definition.objects.filter(pk=source.pk).update(
        body={"kind": "postgresql", "environment": "test", "url": "https://x"}
    )
    kept(source, True, 1, fact("standby", True, weight="note", seen="A server, a hot standby"), fact("get", True))
    page = shown(client)
    for words in ("a hot standby", "get is so.", "https://x", "holds"):
        assert words in page


def test_a_source_that_is_not_proven_yet_says_so(source: Definition, vera: Any, client: Any) -> None:
    assert "not proven yet" in shown(client)
    kept(source, True, 1, fact("fine", True))
    Certificate.objects.update(source_version=7)  # of another version
    assert "not proven yet" in shown(client)
    assert client.get("/sources/nothing/").status_code == 404


@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_in_json_starts_from_an_example_of_its_kind(mia: Any, client: Any, kind: str) -> None:
    form = shown(client, f"/sources/new/?kind={kind}&as=json")
    assert f'"kind": "{kind}"' in form
    sources.check("new", dict(KINDS[kind].source_example))
    assert '"kind": "postgresql"' in shown(client, "/sources/new/?kind=nothing&as=json")


def test_a_source_is_drafted_in_json_too(mia: Any, client: Any) -> None:
    body = json.dumps(bodies.source(calls_per_minute={"agent": 30}))
    answer = client.post("/sources/new/", {"name": "fresh", "body": body, "reason": "To read from."})
    assert answer["Location"] == "/sources/fresh/"
    assert "agent 30" in shown(client, "/sources/fresh/")
    assert '"agent": 30' in shown(client, "/sources/fresh/new/?as=json")


def test_only_changes_are_told_over_time(source: Definition) -> None:
    for minutes, holds in ((9, True), (8, True), (7, False), (6, False), (5, False), (4, True), (3, True)):
        kept(source, holds, minutes, fact("fine", holds))
    kept(source, True, 2, fact("fine", True), role="another")
    found = definition_pages.rows("source")[0]
    changes = source_page.SourcePage(found).changes
    assert [(change.holds, change.role) for change in changes] == [
        (True, "another"), (True, "r"), (False, "r"), (True, "r"),
    ]  # fmt: skip


def test_calls_of_the_last_day_are_shown_by_tool(source: Definition, vera: Any, client: Any) -> None:
    counts = durations.none()
    counts[durations.place(40)] = 612
    CallSlot.objects.create(
        since=timezone.now(), agent="a", tool="find_job", source="scratch", outcome="ok", code="", calls=612,
        durations=counts,
    )  # fmt: skip
    page = shown(client)
    assert "612" in page
    assert "39 ms" in page
    assert "612" in shown(client, "/sources/")


def test_no_secret_stands_on_the_page(certified: Certificate, mia: Any, client: Any, dsn_of: Any) -> None:
    password = re.search(r"password=(\S+)", dsn_of("strong_reader"))
    for address in ("/sources/", "/sources/scratch/"):
        page = shown(client, address)
        assert "password=" not in page
        assert password is None or password[1] not in page


class TestProvingAgain:
    def test_an_admin_has_it_proven_and_the_log_says_so(self, source: Definition, mia: Any, client: Any) -> None:
        assert "Prove again" in shown(client)
        answer = client.post("/sources/scratch/proof/")
        assert answer["Location"] == "/sources/scratch/"
        asked = ProofAsk.objects.get()
        job = Outbox.objects.get(task="evidence.tasks.certify_asked", subject_id=asked.pk)
        assert (job.queue, asked.asked_by) == ("reads", "Mia Lindqvist")
        entry = Entry.objects.filter(kind="source.proof_asked").order_by("-seq")[0]
        assert (entry.subject, entry.actor, entry.source) == ("source scratch", "Mia Lindqvist", "scratch")
        assert proof.latest("scratch") is None
        tasks.certify_asked(job.pk)
        certificate = proof.latest("scratch")
        assert certificate is not None
        assert certificate.holds

    def test_not_twice_in_a_moment(self, source: Definition, mia: Any, client: Any) -> None:
        client.post("/sources/scratch/proof/")
        again = client.post("/sources/scratch/proof/")
        assert (again.status_code, "asked for a moment ago" in again.content.decode()) == (409, True)
        ProofAsk.objects.update(asked_at=timezone.now() - proof_asks.APART)
        assert client.post("/sources/scratch/proof/").status_code == 302

    def test_nobody_else(self, source: Definition, vera: Any, client: Any) -> None:
        refused = client.post("/sources/scratch/proof/")
        assert (refused.status_code, ProofAsk.objects.count()) == (409, 0)
        assert "an admin does" in refused.content.decode()
        entry = Entry.objects.filter(kind="source.proof_asked").order_by("-seq")[0]
        assert (entry.actor, entry.status) == ("Vera", "refused")

    def test_nothing_in_force_has_nothing_to_prove(self, source: Definition, make_person: Any) -> None:
        Definition.objects.update(status="retired")
        with pytest.raises(NotAllowed, match="nothing to prove"):
            proof_asks.ask("scratch", by=make_person("mia", "admin"))


def test_the_list_takes_as_many_queries_for_many_sources(define: Any, vera: Any, client: Any) -> None:
    def taken() -> int:
        with CaptureQueriesContext(connection) as asked:
            client.get("/sources/")
        return len(asked.captured_queries)

    kept(define("source", "first", bodies.source()), True, 1, fact("fine", True))
    client.get("/sources/")
    before = taken()
    for number in range(4):
        kept(define("source", f"more{number}", bodies.source()), True, 1, fact("fine", True))
    assert taken() == before
