"""One box: an exact id leads there, words find incidents, drafts and writes, and entries by their subject."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from gate.triage import search
from gate.writes.models import WriteRequest
from tests.writes.conftest import BODY

pytestmark = pytest.mark.django_db
HOSTILE = '<script>alert(1)</script> "quoted" &'


@pytest.fixture
def ada(client: Client, make_person) -> Client:
    client.force_login(make_person("ada"))
    return client


@pytest.fixture
def write(define, make_person) -> WriteRequest:
    return WriteRequest.objects.create(
        target=define("target", "shop", BODY), title="Requeue job 90433", statement="", verb="update",
        table="shop.jobs", parameters=[], reason="", proposed_by_person=make_person("asker"), status="waiting",
        expires_at=timezone.now(),
    )  # fmt: skip


def refs(typed: str) -> list[str]:
    return [hit.ref for group in search.search(typed).groups for hit in group.hits]


def test_an_exact_id_leads_there(ada: Client, make_draft, write) -> None:
    draft = make_draft()
    incident = draft.investigation.incident
    entry = log.record(Kind.COMMENT_ADDED, log.Actor("person", "Ada", "ada"), subject="exact")
    places = {
        incident.ref: f"/incidents/{incident.pk}/", draft.ref: f"/drafts/{draft.pk}/",
        write.ref: f"/writes/{write.pk}/", entry.ref: f"/audit/{entry.seq}/", str(entry.id): f"/audit/{entry.seq}/",
        f" {entry.ref.lower()} ": f"/audit/{entry.seq}/",
    }  # fmt: skip
    for typed, place in places.items():
        assert ada.get("/search/", {"q": typed})["Location"] == place, typed


@pytest.mark.parametrize(
    "typed",
    ["I-999999", "V-999999", "W-999999", f"A-{'9' * 18}", "A-" + "9" * 40, "A-٣", "A-0",
     "00000000-0000-0000-0000-000000000000", "%", "_", "\\", "\0", "x" * 5000, "' or 1=1 --"],
)  # fmt: skip
def test_what_is_not_there_is_not_found(ada: Client, make_draft, typed: str) -> None:
    make_draft(title="Payout")
    response = ada.get("/search/", {"q": typed})
    assert response.status_code == 200
    assert "Nothing was found." in response.content.decode() or not search.clean(typed) or typed == "_"
    assert "Payout" not in response.content.decode() or typed == "_"


def test_words_find_titles_in_any_order_and_case(ada: Client, make_draft, write) -> None:
    payout, inventory = make_draft(title="Payout settlement failed"), make_draft(title="Inventory sync failed")
    assert refs("settlement PAYOUT") == [payout.investigation.incident.ref, payout.ref]
    assert set(refs("failed")) == {
        one for draft in (payout, inventory) for one in (draft.ref, draft.investigation.incident.ref)
    }
    assert refs("requeue 90433") == [write.ref]
    page = ada.get("/search/?q=payout").content.decode()
    assert "Payout settlement failed" in page
    assert "Inventory" not in page


def test_subject_values_and_bare_numbers_are_found(make_draft, write) -> None:
    draft = make_draft(title="Payout")
    incident = draft.investigation.incident
    assert refs("90412")[:2] == [incident.ref, draft.ref]
    assert incident.ref in refs(str(incident.pk))
    assert draft.ref in refs(str(draft.pk))
    assert write.ref in refs(str(write.pk))


def test_entries_are_found_by_their_whole_subject(ada: Client) -> None:
    entry = log.record(Kind.COMMENT_ADDED, log.Actor("person", "Ada", "ada"), subject="agent searched-for", summary="x")
    assert refs("agent searched-for") == [entry.ref]
    assert refs("searched-for") == []
    assert entry.ref in refs(str(entry.seq))


def test_words_look_at_the_newest_alone(make_draft, monkeypatch) -> None:
    old = make_draft(title="Payout")
    for _ in range(3):
        make_draft(title="Other")
    assert old.ref in refs("payout")
    monkeypatch.setattr(search, "NEWEST", 2)
    assert refs("payout") == []


def test_a_search_needs_as_many_queries_for_ten_as_for_one(
    ada: Client, make_draft, django_assert_max_num_queries, django_assert_num_queries
) -> None:
    make_draft(title="Payout")
    with django_assert_max_num_queries(13) as first:
        ada.get("/search/?q=payout")
    for _ in range(9):
        make_draft(title="Payout")
    with django_assert_num_queries(len(first)):
        ada.get("/search/?q=payout")


def test_what_was_typed_and_found_is_never_markup(ada: Client, make_draft) -> None:
    draft = make_draft(title=HOSTILE)
    draft.investigation.incident.subject = {"job_id": HOSTILE}
    draft.investigation.incident.save()
    page = ada.get("/search/", {"q": "<script>alert(1)"}).content.decode()
    assert draft.ref in page
    assert "<script>alert" not in page


def test_the_box_is_on_every_page_and_the_inbox_keeps_its_own_filter(ada: Client) -> None:
    for address in ("/inbox/", "/audit/", "/incidents/"):
        page = ada.get(address).content.decode()
        assert page.count('data-key="/"') == 1
        assert 'action="/search/"' in page
    assert 'placeholder="Search the inbox"' in ada.get("/inbox/").content.decode()
    assert "What are you looking for?" in ada.get("/search/").content.decode()


def test_a_stranger_is_sent_to_the_door(client: Client) -> None:
    assert client.get("/search/?q=I-1")["Location"].startswith("/sign-in/")


@pytest.mark.django_db(transaction=True)
def test_it_works_with_the_role_of_the_people_plane(as_role, ada: Client, make_draft) -> None:
    draft = make_draft(title="Payout")
    as_role("people")
    assert draft.ref in ada.get("/search/?q=payout").content.decode()
    assert ada.get("/search/", {"q": draft.ref}).status_code == 302
