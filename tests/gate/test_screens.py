from __future__ import annotations

import pytest
from django.test import Client

from audit import log
from audit.kinds import Kind
from audit.marked_json import DISGUISES
from gate.triage.models import Draft, Review

pytestmark = pytest.mark.django_db
HOSTILE = '<script>alert(1)</script> "quoted" & \u202ebidi'


@pytest.fixture
def ada(client: Client, make_person) -> Client:
    client.force_login(make_person("ada"))
    return client


@pytest.mark.parametrize("address", ["/inbox/", "/drafts/1/", "/incidents/", "/incidents/1/", "/inbox/rail/"])
def test_a_stranger_is_sent_to_the_door(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in/?next=")


def test_the_inbox_groups_and_counts(ada: Client, make_draft) -> None:
    make_draft("pass", title="First")
    make_draft("fail", title="Second")
    page = ada.get("/inbox/").content.decode()
    assert "✓ Pass, 3 of 3 checks hold" in page
    assert "✕ Fail, 2 of 3 checks hold" in page
    assert page.index("First") < page.index("Second")
    newest = ada.get("/inbox/?order=newest").content.decode()
    assert newest.index("Second") < newest.index("First")


def test_a_filter_answers_the_rows_alone_to_htmx(ada: Client, make_draft) -> None:
    make_draft(title="Payout")
    make_draft(title="Inventory")
    response = ada.get("/inbox/?q=payout", headers={"HX-Request": "true", "HX-Target": "rows"})
    assert b"<html" not in response.content
    assert b"Payout" in response.content
    assert b"Inventory" not in response.content
    assert "HX-Request" in response["Vary"]


def test_an_empty_inbox_says_so(ada: Client) -> None:
    assert b"Nothing waits for you." in ada.get("/inbox/").content


def test_the_inbox_needs_as_many_queries_for_ten_as_for_one(ada: Client, make_draft, django_assert_num_queries) -> None:
    make_draft()
    with django_assert_num_queries(12):
        ada.get("/inbox/")
    for _ in range(9):
        make_draft()
    with django_assert_num_queries(12):
        ada.get("/inbox/")


def test_unchanged_counts_answer_304(ada: Client, make_draft) -> None:
    make_draft()
    first = ada.get("/inbox/rail/")
    again = ada.get("/inbox/rail/", headers={"If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    make_draft()
    assert ada.get("/inbox/rail/", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_a_review_leads_back_to_the_inbox(ada: Client, make_draft) -> None:
    draft = make_draft()
    response = ada.post(f"/drafts/{draft.pk}/review/", {"act": "agree", "reason": "Whole.", "seen_version": 1})
    assert (response.status_code, response["Location"]) == (302, "/inbox/")
    assert Review.objects.get().reason == "Whole."


def test_a_missing_reason_is_asked_for(ada: Client, make_draft) -> None:
    draft = make_draft()
    response = ada.post(f"/drafts/{draft.pk}/review/", {"act": "agree", "seen_version": 1})
    assert response.status_code == 422
    assert "one sentence that the next reader can check" in response.content.decode()
    assert not Review.objects.exists()


def test_the_second_reviewer_keeps_their_text_and_reads_the_first_reason(ada: Client, make_draft, make_person) -> None:
    from gate.triage import actions

    draft, mia = make_draft(), make_person("mia", full_name="Mia Lindqvist")
    actions.review(draft.pk, by=mia, act="agree", reason="Her reason.", seen_version=1)
    response = ada.post(f"/drafts/{draft.pk}/review/", {"act": "overrule", "reason": "My text.", "seen_version": 1})
    page = response.content.decode()
    assert response.status_code == 409
    assert "My text." in page
    assert "Mia Lindqvist" in page
    assert "Her reason." in page
    assert Review.objects.count() == 1


def test_what_an_agent_wrote_is_never_markup(ada: Client, make_draft) -> None:
    draft = make_draft(title=HOSTILE)
    draft.investigation.answer = HOSTILE
    draft.investigation.save()
    draft.investigation.findings.create(position=1, fact=HOSTILE[:80], audit_id=HOSTILE[:40], note=HOSTILE)
    for address in ("/inbox/", f"/drafts/{draft.pk}/", "/incidents/", f"/incidents/{draft.investigation.incident_id}/"):
        assert "<script>alert" not in ada.get(address).content.decode()


DISGUISED = "refund \u202edliaf\u2066 all\u200bclear \U000e0041\u3164"


def test_no_text_disguises_itself_on_any_page(ada: Client, make_draft) -> None:
    draft = make_draft(title=DISGUISED)
    incident = draft.investigation.incident
    incident.facts, incident.guidance = {DISGUISED: DISGUISED}, DISGUISED
    incident.save()
    draft.investigation.answer = DISGUISED
    draft.investigation.save()
    draft.investigation.findings.create(position=1, fact=DISGUISED, audit_id=DISGUISED, note=DISGUISED)
    said = {"summary": DISGUISED, "error": DISGUISED, "tool": DISGUISED, "args": DISGUISED}
    entry = log.record(Kind.CALL_REFUSED, log.Actor("agent", DISGUISED, DISGUISED), incident_id=incident.pk, **said)
    pages = ("/inbox/", f"/drafts/{draft.pk}/", "/incidents/", f"/incidents/{incident.pk}/", "/audit/",
             f"/audit/{entry.seq}/", f"/audit/?tool={DISGUISED}", f"/nothing/{DISGUISED}/")  # fmt: skip
    for address in pages:
        assert not DISGUISES.search(ada.get(address).content.decode()), address
    assert "refund \\u202edliaf\\u2066 all\\u200bclear" in ada.get("/inbox/").content.decode()


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 18, "٣", "-1", "x", ""])
def test_no_place_in_a_list_breaks_it(ada: Client, number: str) -> None:
    for address in ("/incidents/?before=", "/audit/?before=", "/audit/?after=", "/writes/?before="):
        assert ada.get(address + number).status_code == 200


def test_a_viewer_reads_and_is_told_why_not_more(client: Client, make_draft, make_person) -> None:
    draft = make_draft()
    client.force_login(make_person("vera", "viewer"))
    page = client.get(f"/drafts/{draft.pk}/").content.decode()
    assert "Your role reviews no drafts" in page
    assert 'name="act"' not in page
    response = client.post(f"/drafts/{draft.pk}/review/", {"act": "agree", "reason": "x", "seen_version": 1})
    assert response.status_code == 409
    assert Draft.objects.get(pk=draft.pk).status == "waiting"


def test_claim_and_snooze_by_form(ada: Client, make_draft) -> None:
    draft = make_draft()
    assert ada.post(f"/drafts/{draft.pk}/claim/")["Location"] == f"/drafts/{draft.pk}/"
    assert "Ada" in ada.get("/inbox/").content.decode()
    assert ada.post(f"/drafts/{draft.pk}/snooze/")["Location"] == "/inbox/"
    assert "Nothing waits for you." in ada.get("/inbox/").content.decode()


def test_a_decision_needs_the_forms_token(make_draft, make_person) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_person("ada"))
    draft = make_draft()
    response = strict.post(f"/drafts/{draft.pk}/review/", {"act": "agree", "reason": "x", "seen_version": 1})
    assert response.status_code == 403
    assert not Review.objects.exists()


def test_the_count_is_of_what_the_reader_may_decide(client: Client, make_draft, make_person) -> None:
    make_draft()
    client.force_login(make_person("vera", "viewer"))
    page = client.get("/inbox/").content.decode()
    assert "nothing waits for you" in page
    assert "for someone on call" in page


def test_an_admin_finds_versions_to_activate(client: Client, make_person, define) -> None:
    from audit import twohands

    body = {
        "kind": "incident", "title": "A job failed", "subject_keys": {"job_id": "integer"}, "recurrence_seconds": 60,
        "freshness_seconds": 60, "ingestion_lag_seconds": 0, "hypotheses": ["refund_completed"], "severity": "high",
        "owner": "mia", "budget_calls": 5, "deadline_seconds": 60, "tools": ["find_job"],
    }  # fmt: skip
    define("class", "job_failed", body)
    newer = twohands.draft(
        "class", "job_failed", {**body, "budget_calls": 6}, by=make_person("jonas", "admin"), reason="More calls."
    )
    client.force_login(make_person("mia", "admin"))
    assert "Versions to activate" in client.get("/inbox/").content.decode()
    twohands.activate(newer.pk, by=make_person("ines", "admin"))
    assert "Versions to activate" not in client.get("/inbox/").content.decode()
