"""Empty, refused, stale and lapsed: each state of the pages around triage, brought about and read as a page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from evidence.models import Certificate
from gate.people import changes
from gate.triage import incident_actions, nothing
from gate.triage.models import Draft, Investigation
from tests.evidence import bodies
from tests.gate.conftest import make_draft as make_draft

pytestmark = pytest.mark.django_db
WHY = "The provider confirmed it by phone."


@pytest.fixture
def mia(make_person: Any) -> Any:
    return make_person("mia", full_name="Mia Lindqvist")


@pytest.fixture
def desk(client: Client, make_person: Any) -> Client:
    """Ada's browser; she is on call."""
    client.force_login(make_person("ada", full_name="Ada Lovelace"))
    return client


def sign_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def read(client: Client, address: str) -> str:
    return str(client.get(address).content.decode())


def review(client: Client, draft: Draft, act: str = "agree", version: int = 1) -> Any:
    return client.post(f"/drafts/{draft.pk}/review/", {"act": act, "reason": WHY, "seen_version": version})


def test_a_first_inbox_names_nobody(desk: Client) -> None:
    page = read(desk, "/inbox/")
    assert "Nothing waits for you." in page
    assert "New drafts and proposed writes appear here by themselves." in page
    assert "The last draft was reviewed" not in page


def test_an_emptied_inbox_says_who_emptied_it(desk: Client, mia: Any, make_draft: Any) -> None:
    assert review(sign_in(mia), make_draft()).status_code == 302
    page = read(desk, "/inbox/")
    assert "Nothing waits for you." in page
    assert "The last draft was reviewed" in page
    assert "ago by Mia Lindqvist." in page


def test_a_filter_that_finds_nothing_says_what_would(desk: Client, make_draft: Any) -> None:
    make_draft(title="Payout failed")
    make_draft(title="Payout failed again")
    page = read(desk, "/inbox/?kind=write&q=payout&order=newest")
    assert "Nothing matches." in page
    assert '<a href="?order=newest&amp;q=payout">Any kind</a> would show 2.' in page
    assert "Any words" not in page  # no write waits, whatever its words
    assert "Clear filters" in page
    assert '<a href="?kind=incident">Any words</a> would show 2.' in read(desk, "/inbox/?kind=incident&q=no-such-word")


def test_the_first_incident_is_asked_for_by_whom_may_open_one(desk: Client, make_person: Any) -> None:
    page = read(desk, "/incidents/")
    assert "No incident yet." in page
    assert "/api/v1/incidents" in page
    assert '<a class="btn btn--go" href="/incidents/new/">Open an incident</a>' in page
    assert "Open an incident" not in read(sign_in(make_person("vera", "viewer")), "/incidents/")


def test_a_status_that_no_incident_has_says_how_many_there_are(
    desk: Client, make_draft: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        make_draft()
    page = read(desk, "/incidents/?status=closed")
    assert "No incident matches." in page
    assert '<a href="/incidents/">Any status</a> would show 3.' in page
    monkeypatch.setattr(nothing, "MOST_COUNTED", 2)
    assert "would show more than 2." in read(desk, "/incidents/?status=closed")


@pytest.mark.parametrize("address", ["/writes/", "/search/?q=no-such-thing", "/search/", "/agents/", "/sources/"])
def test_a_list_without_anything_says_what_comes_into_it(desk: Client, address: str) -> None:
    assert '<div class="empty">' in read(desk, address)


def test_each_reason_not_to_review_is_a_sentence_on_the_page(
    desk: Client, mia: Any, make_person: Any, make_draft: Any
) -> None:
    draft = make_draft()
    for role in ("viewer", "admin", "auditor"):
        other = sign_in(make_person(role, role))
        assert "Your role reviews no drafts; someone on call does." in read(other, f"/drafts/{draft.pk}/")
        assert review(other, draft).status_code == 409
    sign_in(mia).post(f"/drafts/{draft.pk}/claim/")
    held = "Mia Lindqvist claimed"
    assert held in read(desk, f"/drafts/{draft.pk}/")
    refused = review(desk, draft)
    assert (refused.status_code, held in refused.content.decode()) == (409, True)
    assert WHY in refused.content.decode()
    assert Draft.objects.get().status == "claimed"


def test_a_lease_that_lapsed_is_nobodys(desk: Client, mia: Any, make_draft: Any) -> None:
    draft = make_draft()
    sign_in(mia).post(f"/drafts/{draft.pk}/claim/")
    Draft.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    page = read(desk, f"/drafts/{draft.pk}/")
    assert "by nobody" in page
    assert "Agree: pass" in page
    assert "Unclaimed" in read(desk, "/inbox/")
    late = review(sign_in(mia), draft)  # who held it and was slow may still decide, when nobody else did
    assert late.status_code == 302


@pytest.mark.parametrize("act", ["agree", "overrule", "send_back"])
def test_a_stale_review_keeps_the_text_whatever_was_decided(desk: Client, mia: Any, make_draft: Any, act: str) -> None:
    draft = make_draft()
    review(sign_in(mia), draft, act)
    response = desk.post(f"/drafts/{draft.pk}/review/", {"act": "agree", "reason": "Mine.", "seen_version": 1})
    page = response.content.decode()
    assert response.status_code == 409
    assert "was decided while you were reading. Nothing of yours was recorded." in page
    assert '<textarea id="kept" readonly>Mine.</textarea>' in page
    assert WHY in page


def test_what_cannot_be_read_says_so_in_its_line(desk: Client, make_draft: Any) -> None:
    page = read(desk, f"/drafts/{make_draft('fail').pk}/")
    assert "A missing count is not zero" in page
    assert "1 cannot be read" in page


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("closing", {"reason": WHY, "seen_version": "1"}),
        ("reopening", {"reason": WHY, "seen_version": "1"}),
        ("comments", {"text": WHY}),
    ],
)
def test_an_incident_that_refuses_keeps_what_was_typed(
    client: Client, mia: Any, make_person: Any, open_incident: Any, act: str, said: dict[str, str]
) -> None:
    incident = open_incident()
    incident_actions.assign(incident.pk, by=mia, to=mia, seen_version=1)
    client.force_login(make_person("vera", "viewer") if act == "comments" else make_person("ada"))
    response = client.post(f"/incidents/{incident.pk}/{act}/", said)
    page = response.content.decode()
    assert response.status_code == 409
    assert f'<textarea id="kept" readonly>\n{WHY}</textarea>' in page
    if act != "comments":
        assert "was changed while you were reading. Nothing of yours was recorded; look again." in page


def test_stopping_what_is_over_keeps_the_reason(desk: Client, mia: Any, running: Investigation) -> None:
    incident_actions.stop(running.pk, by=mia, reason="Mine came first.")
    response = desk.post(f"/incidents/{running.incident_id}/investigations/{running.pk}/stop/", {"reason": WHY})
    assert response.status_code == 409
    assert f'<textarea id="kept" readonly>\n{WHY}</textarea>' in response.content.decode()


def test_a_closed_incident_is_reopened_and_commented_on_alone(desk: Client, mia: Any, open_incident: Any) -> None:
    incident = open_incident()
    incident_actions.close(incident.pk, by=mia, reason=WHY, seen_version=1)
    page = read(desk, f"/incidents/{incident.pk}/")
    assert f"Reopen {incident.ref}" in page
    assert "comments/" in page
    for words in (f"Close {incident.ref}", "assignment/", "Stop this investigation"):
        assert words not in page
    again = desk.post(f"/incidents/{incident.pk}/closing/", {"reason": "Again.", "seen_version": "2"})
    assert again.status_code == 409
    assert "is closed already; reopen it if it came back." in again.content.decode()


def test_a_second_change_of_a_person_keeps_its_reason(client: Client, mia: Any, make_person: Any) -> None:
    ada, ben = make_person("ada", "admin"), make_person("ben", "admin")
    changes.draft(mia, act="role", role="viewer", by=ben, reason="She left the rota.")
    client.force_login(ada)
    response = client.post(f"/people/{mia.pk}/changes/", {"act": "role", "role": "admin", "reason": WHY})
    page = response.content.decode()
    assert response.status_code == 409
    assert "waits already; confirm or withdraw it first." in page
    assert f'<textarea id="kept" readonly>\n{WHY}</textarea>' in page


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"holds": False, "facts": [{"fact": "tables", "sentence": "It may change no table.", "holds": False,
                                     "seen": "shop.jobs UPDATE", "mend": "Revoke it."}]},
         "this is not true: It may change no table."),
        ({"at": timezone.now() - timedelta(minutes=11)}, "its proof is older than 10 minutes"),
        ({"source_version": 99}, "its credential has not been proven yet"),
    ],
)  # fmt: skip
def test_a_dark_source_says_why_it_is_not_served(desk: Client, define: Any, change: dict[str, Any], why: str) -> None:
    source = define("source", "scratch", bodies.source())
    Certificate.objects.create(
        id="0198c0de-0000-7000-8000-000000000002", source="scratch", source_version=source.version, role="reader",
        address="user=reader", server="1/2", digest="0" * 64, at=timezone.now(), holds=True, facts=[],
    )  # fmt: skip
    assert "is not served" not in read(desk, "/sources/scratch/")
    Certificate.objects.update(**change)
    page = read(desk, "/sources/scratch/")
    assert f"scratch is not served: {why}" in page
    if "facts" in change:
        assert "shop.jobs UPDATE" in page
