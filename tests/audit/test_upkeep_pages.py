"""Holds, redactions and pruned entries as people meet them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit import holds, log, reading, redacting, retention
from audit.kinds import Kind
from audit.models import Entry, Hold, Redaction
from tests.audit.months import Months
from tests.audit.months import months as months
from tests.audit.test_retention import KEEP, one
from tests.gate.conftest import make_draft as make_draft

AGENT = log.Actor("agent", "triage-agent", "mia")
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ada(make_person: Callable[..., Any]) -> Any:
    return make_person("ada", "admin")


@pytest.fixture
def mia(make_person: Callable[..., Any]) -> Any:
    return make_person("mia", "admin")


def as_person(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def entry(**about: Any) -> Entry:
    said = {"tool": "find_job", "call_id": uuid.uuid4(), "args": {"who": "jane"}, "result": {"card": "4111"}, **about}
    return Entry.objects.get(pk=log.record(Kind.CALL_FINISHED, AGENT, **said).id)


def test_two_admins_redact_an_entry_by_its_page(ada: Any, mia: Any) -> None:
    of = entry()
    address = f"/audit/{of.seq}/redaction/"
    first, second = as_person(ada), as_person(mia)
    assert "4111" in first.get(address).content.decode()
    assert first.post(address, {"part": "result", "reason": "A card number."}).status_code == 302
    page = first.get(address).content.decode()
    assert "another admin must confirm it" in page
    assert "ada" in second.get(f"/audit/{of.seq}/").content.decode().lower()
    assert "Confirm: redact the result" in second.get(address).content.decode()
    wanted = Redaction.objects.get(entry_id=of.pk)
    assert second.post(f"/audit/redactions/{wanted.pk}/confirmation/").status_code == 302
    shown = second.get(f"/audit/{of.seq}/").content.decode()
    assert "Its result was redacted by A-" in shown
    assert "4111" not in shown
    assert "jane" in shown
    assert second.get(f"/audit/{of.seq}.json").status_code == 410
    assert b"jane" in second.get(f"/audit/{of.seq}.json?part=args").content


def test_a_secret_that_somebody_gives_as_a_reason_is_not_kept(ada: Any) -> None:
    of = entry(incident_id=(incident := uuid.uuid4().int >> 90))
    browser = as_person(ada)
    browser.post("/audit/holds/", {"what": f"I-{incident}", "reason": "It has AKIAIOSFODNN7EXAMPLE."})
    hold = Hold.objects.get(incident_id=incident)
    browser.post(f"/audit/holds/{hold.pk}/lifting/", {"reason": "AKIAIOSFODNN7EXAMPLE is void."})
    browser.post(f"/audit/{of.seq}/redaction/", {"part": "args", "reason": "It has AKIAIOSFODNN7EXAMPLE."})
    hold.refresh_from_db()
    asked = Redaction.objects.get(entry_id=of.pk)
    assert [hold.reason, hold.why_lifted, asked.reason] == [
        "It has [masked: AWS key].", "[masked: AWS key] is void.", "It has [masked: AWS key]."
    ]  # fmt: skip
    said = Entry.objects.filter(subject__in=(of.ref, f"I-{incident}"), kind__startswith="log.")
    assert [reading.content_of(one).args["reason"] for one in said.order_by("seq")] == [
        "It has [masked: AWS key].", "[masked: AWS key] is void.", "It has [masked: AWS key]."
    ]  # fmt: skip


def test_a_refused_confirmation_says_why(ada: Any) -> None:
    of = entry()
    wanted = redacting.ask(of, part="args", reason="A name.", by=ada)
    answer = as_person(ada).post(f"/audit/redactions/{wanted.pk}/confirmation/")
    assert answer.status_code == 409
    assert "another admin must confirm it" in answer.content.decode()


def test_a_withdrawn_request_leaves_the_entry(ada: Any, mia: Any) -> None:
    of = entry()
    wanted = redacting.ask(of, part="args", reason="A name.", by=ada)
    assert as_person(mia).post(f"/audit/redactions/{wanted.pk}/withdrawal/").status_code == 302
    assert "jane" in as_person(mia).get(f"/audit/{of.seq}/").content.decode()


def test_a_redaction_without_a_part_or_a_reason_is_asked_for_again(ada: Any) -> None:
    answer = as_person(ada).post(f"/audit/{entry().seq}/redaction/", {"reason": "A name."})
    assert (answer.status_code, "Choose what is to go" in answer.content.decode()) == (422, True)
    answer = as_person(ada).post(f"/audit/{entry().seq}/redaction/", {"part": "args"})
    assert (answer.status_code, "Say why" in answer.content.decode()) == (422, True)


def test_the_page_names_where_else_it_stands(ada: Any, make_draft: Any) -> None:
    draft = make_draft()
    look = draft.investigation
    of = entry(incident_id=look.incident_id, run_id=str(look.pk))
    page = as_person(ada).get(f"/audit/{of.seq}/redaction/").content.decode()
    assert f"/drafts/{draft.pk}/" in page
    assert "shows values that its checks read" in page
    assert "Backups that were taken before still hold it" in page


@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_who_redacts_nothing_sees_no_way_there(make_person: Any, role: str) -> None:
    of, client = entry(), as_person(make_person("somebody", role))
    assert f"/audit/{of.seq}/redaction/" not in client.get(f"/audit/{of.seq}/").content.decode()
    assert client.get(f"/audit/{of.seq}/redaction/").status_code == 403


@pytest.mark.parametrize(("typed", "subject"), [("I-318", "I-318"), ("318", "I-318"), ("2026-08", "month 2026-08")])
def test_a_hold_is_put_and_lifted_by_its_page(make_person: Any, typed: str, subject: str) -> None:
    client = as_person(make_person("olga", "auditor"))
    assert client.post("/audit/holds/", {"what": typed, "reason": "A court asked."}).status_code == 302
    hold = Hold.objects.get()
    assert (hold.subject, hold.reason) == (subject, "A court asked.")
    assert subject in client.get("/audit/holds/").content.decode()
    assert client.post(f"/audit/holds/{hold.pk}/lifting/", {"reason": "Done."}).status_code == 302
    assert holds.standing() == []
    assert "Done." in client.get("/audit/holds/").content.decode()
    kinds = Entry.objects.filter(kind=Kind.LOG_HELD, subject=subject, principal="olga").values_list(
        "summary", flat=True
    )
    assert {"held: A court asked.", "lifted: Done."} <= set(kinds)


@pytest.mark.parametrize("typed", ["", "I-0", "2026-13", "W-7", "-5"])
def test_what_is_no_incident_and_no_month_is_not_held(make_person: Any, typed: str) -> None:
    client = as_person(make_person("olga", "auditor"))
    assert client.post("/audit/holds/", {"what": typed, "reason": "So."}).status_code == 422
    assert not Hold.objects.exists()


def test_a_hold_is_lifted_once_and_with_a_reason(make_person: Any) -> None:
    olga = make_person("olga", "auditor")
    hold, client = holds.hold(by=olga, reason="A court asked.", incident_id=318), as_person(olga)
    assert client.post(f"/audit/holds/{hold.pk}/lifting/").status_code == 422
    client.post(f"/audit/holds/{hold.pk}/lifting/", {"reason": "Done."})
    answer = client.post(f"/audit/holds/{hold.pk}/lifting/", {"reason": "Again."})
    assert (answer.status_code, "lifted already" in answer.content.decode()) == (409, True)


@pytest.mark.parametrize("role", ["viewer", "on_call"])
def test_who_puts_no_holds_sees_them_all_the_same(make_person: Any, role: str) -> None:
    holds.hold(by=make_person("olga", "auditor"), reason="A court asked.", incident_id=318)
    client = as_person(make_person("somebody", role))
    page = client.get("/audit/holds/").content.decode()
    assert "A court asked." in page
    assert "Put the hold" not in page
    assert client.post("/audit/holds/", {"what": "I-318", "reason": "So."}).status_code == 403


def test_the_incident_says_that_it_is_held(ada: Any, make_draft: Any) -> None:
    incident = make_draft().investigation.incident
    holds.hold(by=ada, reason="A court asked.", incident_id=incident.pk)
    assert "A court asked." in as_person(ada).get(f"/incidents/{incident.pk}/").content.decode()


def test_a_pruned_entry_says_so_by_number_and_by_key(months: Months, make_person: Any) -> None:
    months.become("owner")
    viewer = as_person(make_person("vera", "viewer"))
    gone = months.write(6)
    months.seal()
    receipt = retention.drop(one(months, 6), keep=KEEP, by="ops")
    months.become("people")
    for address in (f"/audit/{gone[1].seq}/", f"/audit/{gone[1].pk}/", f"/audit/{gone[1].seq}.json"):
        answer = viewer.get(address)
        assert answer.status_code == 410, address
        assert f'/audit/{receipt.seq}/">{receipt.ref}</a>' in answer.content.decode()
    assert viewer.get(f"/audit/{10**9}/").status_code == 404
    assert viewer.get(f"/audit/{uuid.uuid4()}/").status_code == 404


def test_a_draft_and_its_incident_say_what_was_pruned(months: Months, make_person: Any, make_draft: Any) -> None:
    months.become("owner")
    draft, viewer = make_draft(), as_person(make_person("vera", "viewer"))
    incident = draft.investigation.incident
    type(incident).objects.filter(pk=incident.pk).update(opened_at=timezone.now() - timedelta(days=400))
    gone = months.write(6, incident_id=incident.pk)
    draft.investigation.findings.create(position=99, fact="job_completed", audit_id=gone[0].ref)
    months.seal()
    receipt = retention.drop(one(months, 6), keep=KEEP, by="ops")
    months.become("people")
    page = viewer.get(f"/drafts/{draft.pk}/").content.decode()
    assert "so this verdict is no longer earned" in page
    assert receipt.ref in page
    assert "was pruned; what happened then is not shown" in viewer.get(f"/incidents/{incident.pk}/").content.decode()
