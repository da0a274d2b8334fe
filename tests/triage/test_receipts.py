"""A pass is shown as a fail, and closes nothing, as soon as it has lost an entry that it rests on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from audit import receipts as audit_receipts
from audit.models import Entry
from gate.config import smtp
from gate.errors import NotAllowed
from gate.triage import actions, receipts, seals, sending_guards, sendings, submissions, verdicts
from gate.triage.models import Draft
from tests import cited
from tests.gate.conftest import make_draft  # noqa: F401 - a fixture
from tests.triage.conftest import count_errors, find_job, handed_in

pytestmark = pytest.mark.django_db(transaction=True)
WHY = "The job is done and stays done."


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ten seconds are over."""
    monkeypatch.setattr(audit_receipts, "SEALED_WITHIN", timedelta(0))


@pytest.fixture
def mia(own_log: str, make_person: Callable[..., Any]) -> Any:
    return make_person("mia", "on_call", "Mia Lindqvist")


@pytest.fixture
def desk(client: Client, mia: Any) -> Client:
    client.force_login(mia)
    return client


def agree(draft: Draft, by: Any) -> Any:
    return actions.review(draft.pk, by=by, act="agree", reason=WHY, seen_version=1)


def spoil(draft: Draft, sockets: Path) -> None:
    """Somebody changes what the first cited entry answered."""
    key = next(iter(draft.receipt["entries"].values()))["id"]
    cited.tamper(sockets, "update audit_payload set result = args where entry_id = %s", key)


def test_a_rendered_verdict_keeps_key_and_digest_of_each_cited_entry(running: Any, principal: Any) -> None:
    job, count = find_job(running), count_errors(running)
    submissions.submit(principal, running.pk, handed_in(("job_completed", job.ref), ("no_recurrence", count.ref)))
    with transaction.atomic():
        verdicts.render(running.pk)
    draft = Draft.objects.get(investigation=running)
    assert draft.outcome == "pass"
    assert {one.ref: (one.id, one.digest) for one in receipts.of(draft)} == {
        call.ref: (call.id, call.digest.hex()) for call in (job, count)
    }
    assert receipts.shown(draft).outcome == "pass"


def test_a_pass_on_sealed_evidence_is_agreed_with(mia: Any, make_draft: Any, desk: Client, at_once: None) -> None:  # noqa: F811
    draft = make_draft()
    cited.seal_all()
    assert receipts.shown(draft).checked
    assert "Agree: pass" in desk.get(f"/drafts/{draft.pk}/").content.decode()
    agree(draft, mia)
    draft.refresh_from_db()
    assert draft.investigation.incident.status == "closed"


def test_evidence_gone_bad_turns_the_verdict_to_fail_wherever_it_is_shown(
    mia: Any, make_draft: Any, desk: Client, cluster_socket: Path  # noqa: F811
) -> None:  # fmt: skip
    draft = make_draft()
    assert "✓ Pass, 3 of 3" in desk.get("/inbox/").content.decode()
    spoil(draft, cluster_socket)
    assert "✕ Fail, evidence is lost" in desk.get("/inbox/").content.decode()
    incident = desk.get(f"/incidents/{draft.investigation.incident_id}/").content.decode()
    assert "✕ Fail, evidence is lost, drafted" in incident
    page = desk.get(f"/drafts/{draft.pk}/").content.decode()
    assert "verdict__word--fail" in page
    assert "Evidence is lost, so this is no pass any more" in page
    assert "is not what was written." in page
    assert "Agree: pass" not in page
    answer = desk.post(f"/drafts/{draft.pk}/review/", {"act": "agree", "reason": WHY, "seen_version": 1})
    assert answer.status_code == 409
    assert "is no pass any more." in answer.content.decode()
    assert WHY in answer.content.decode()
    draft.refresh_from_db()
    assert (draft.status, draft.investigation.incident.status) == ("waiting", "drafted")
    assert Entry.objects.filter(kind="person.refused", subject=draft.ref).count() == 1


def test_it_may_still_be_overruled_and_sent_back(mia: Any, make_draft: Any, cluster_socket: Path) -> None:  # noqa: F811
    for act, status in (("overrule", "overruled"), ("send_back", "sent_back")):
        draft = make_draft()
        spoil(draft, cluster_socket)
        actions.review(draft.pk, by=mia, act=act, reason=WHY, seen_version=1)
        draft.refresh_from_db()
        assert draft.status == status


def test_while_the_sealer_is_down_nothing_is_closed_on_a_pass_and_all_else_goes_on(
    mia: Any, make_draft: Any, desk: Client, at_once: None  # noqa: F811
) -> None:  # fmt: skip
    draft, failed = make_draft(), make_draft("fail")
    cited.say("held", "Entries have waited 30 s to be sealed.")
    page = desk.get(f"/drafts/{draft.pk}/").content.decode()
    assert "verdict__word--pass" in page
    assert "Not sealed, so nothing is closed on it yet" in page
    assert "Entries have waited 30 s" in page
    with pytest.raises(NotAllowed, match="Nothing is closed on a pass that is not sealed"):
        agree(draft, mia)
    agree(failed, mia)
    actions.claim(draft.pk, by=mia)
    cited.seal_all()
    agree(draft, mia)


def test_an_entry_that_the_sealer_passed_over_is_lost(mia: Any, make_draft: Any, at_once: None) -> None:  # noqa: F811
    draft = make_draft()
    cited.say("sealing")
    with pytest.raises(NotAllowed, match="passed over"):
        agree(draft, mia)


@pytest.mark.parametrize("kept", [{}, {"entries": {}}, {"entries": {"A-1": {"digest": "ab"}}}, []])
def test_a_pass_without_a_receipt_is_none(kept: Any, mia: Any, make_draft: Any, desk: Client) -> None:  # noqa: F811
    draft = make_draft(receipt=kept)
    assert receipts.shown(draft).faults == (receipts.NOT_READ,)
    assert receipts.glanced([draft])[draft.pk].is_lost
    assert desk.get(f"/drafts/{draft.pk}/").status_code == 200
    with pytest.raises(NotAllowed, match="no receipt"):
        agree(draft, mia)


def test_two_drafts_about_one_entry_are_held_against_their_own_receipts(mia: Any, make_draft: Any) -> None:  # noqa: F811
    call = cited.recorded()
    good, bad = make_draft(receipt=cited.receipt(call)), make_draft(receipt=cited.receipt(call))
    bad.receipt["entries"][call.ref]["digest"] = "00" * 32
    found = receipts.glanced([good, bad])
    assert [found[one.pk].is_lost for one in (good, bad)] == [False, True]


def test_leaf_and_checkpoint_are_added_when_they_come_and_stay(
    mia: Any, make_draft: Any, cluster_socket: Path, as_role: Any  # noqa: F811
) -> None:  # fmt: skip
    draft, failed = make_draft(receipt=cited.receipt()), make_draft("fail")
    seals.note()
    draft.refresh_from_db()
    failed.refresh_from_db()
    assert (draft.seals, draft.is_sealed, failed.is_sealed) == ({}, False, True)
    cited.seal_all()
    as_role("worker")
    seals.note()
    draft.refresh_from_db()
    (ref,) = draft.receipt["entries"]
    assert draft.is_sealed
    assert set(draft.seals[ref]) == {"leaf", "size"}
    cited.tamper(cluster_socket, "update audit_leaf set idx = idx + 1000 where idx = %s", draft.seals[ref]["leaf"])
    assert "was sealed as leaf" in receipts.shown(draft).faults[0]


def test_a_draft_with_much_evidence_needs_no_more_queries(
    mia: Any, make_draft: Any, desk: Client, at_once: None, django_assert_num_queries: Any, django_assert_max_num_queries: Any  # noqa: F811, E501
) -> None:  # fmt: skip
    one = make_draft(receipt=cited.receipt(cited.recorded()))
    many = make_draft(receipt=cited.receipt(*[cited.recorded() for _ in range(9)]))
    cited.seal_all()
    desk.get(f"/drafts/{one.pk}/")
    with django_assert_max_num_queries(20) as first:
        desk.get(f"/drafts/{many.pk}/")
    with django_assert_num_queries(len(first)):
        desk.get(f"/drafts/{one.pk}/")


def test_an_answer_is_not_sent_when_its_evidence_has_gone_bad(
    mia: Any, make_draft: Any, cluster_socket: Path, settings: Any  # noqa: F811
) -> None:  # fmt: skip
    draft = make_draft()
    agree(draft, mia)
    draft.refresh_from_db()
    sending_guards.check_evidence_stands(draft)
    spoil(draft, cluster_socket)
    settings.MAIL = smtp.parse("smtp://127.0.0.1:9", "counterseal@example.org")
    with pytest.raises(NotAllowed, match="is no pass any more, so its answer goes to nobody"):
        sendings.send(draft.pk, by=mia, to="noa@example.org", text="It is done.", seen_sendings=0, again=False)
    assert not draft.sendings.exists()


def test_an_answer_waits_until_its_evidence_is_sealed(
    mia: Any, make_draft: Any, at_once: None, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    draft = make_draft()
    with pytest.raises(NotAllowed, match="Nothing is sent on a pass that is not sealed"):
        sending_guards.check_evidence_stands(draft)
