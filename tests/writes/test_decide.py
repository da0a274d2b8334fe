from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit import reading
from audit.models import Entry, Outbox
from gate.errors import NotAllowed, Stale
from gate.writes import actions, deciding, digests, preview, quorum
from gate.writes.models import Decision, PreviewRequest, WriteRequest
from tests.writes.conftest import PASSWORD, REQUEUE_PARAMETERS

pytestmark = pytest.mark.django_db


def test_an_approval_says_exactly_what_was_seen_and_asks_for_the_run(previewed: Any, approve: Any, mia: Any) -> None:
    write = previewed()
    decision = approve(write)
    write.refresh_from_db()
    assert write.status == "approved"
    seen = quorum.latest_preview(write)
    said = decision.statement
    assert (said["decision"], said["write"], said["approver"]) == ("approve", write.ref, "mia")
    assert (said["proposal"], said["preview"], said["target"]) == (
        write.proposal_digest,
        seen.digest,
        write.target.digest,
    )
    assert digests.of_approval(said) == decision.digest
    job = Outbox.objects.get(task="gate.writes.tasks.execute_write", subject_id=write.pk)
    assert job.queue == "writes"
    entry = Entry.objects.filter(kind="write.approved", subject=write.ref).latest("seq")
    assert reading.payload_of(entry.pk).args["digest"] == decision.digest


def test_every_approval_has_a_nonce_of_its_own(previewed: Any, approve: Any) -> None:
    first, second = approve(previewed()), approve(previewed(parameters=OTHER))
    assert first.statement["nonce"] != second.statement["nonce"]
    assert first.digest != second.digest


OTHER = [{"t": "text", "v": "failed"}, *REQUEUE_PARAMETERS[1:]]
ROLES = [("viewer", False), ("auditor", False), ("admin", False), ("on_call", True)]


@pytest.mark.parametrize(("role", "may"), ROLES)
@pytest.mark.parametrize("act", ["approve", "reject", "request_changes"])
def test_which_role_decides(previewed: Any, approve: Any, make_person: Any, role: str, may: bool, act: str) -> None:
    write, person = previewed(), make_person("someone", role)
    if may:
        assert approve(write, by=person, act=act).by == person
        return
    with pytest.raises(NotAllowed, match="decides about no writes"):
        approve(write, by=person, act=act)
    write.refresh_from_db()
    assert (write.status, Decision.objects.filter(write=write).count()) == ("waiting", 0)


def test_the_owner_of_the_proposing_agent_may_not_approve(previewed: Any, approve: Any, agent: Any) -> None:
    from gate.people.models import Person

    write = previewed()
    with pytest.raises(NotAllowed, match="You own triage-agent, which proposed this write, so someone else must"):
        approve(write, by=Person.objects.get(pk=agent.owner_id))
    refused = Entry.objects.filter(kind="person.refused", subject=write.ref).latest("seq")
    assert (refused.actor, refused.status) == ("Jonas Weber", "refused")


def test_the_person_who_proposed_may_not_approve(previewed: Any, approve: Any, make_person: Any) -> None:
    ada = make_person("ada", "on_call")
    with pytest.raises(NotAllowed, match="You proposed this write"):
        approve(previewed(by_person=ada), by=ada)


def test_a_wrong_password_is_refused_and_recorded(previewed: Any, approve: Any) -> None:
    write = previewed()
    with pytest.raises(deciding.WrongPassword, match="not your password"):
        approve(write, password="guess")
    refused = Entry.objects.filter(kind="person.refused", subject=write.ref).latest("seq")
    assert refused.actor == "Mia Lindqvist"
    kept = str(reading.payload_of(refused.pk).args)
    assert "The worker is gone." in kept
    assert "guess" not in kept


def test_five_wrong_passwords_and_approving_waits(previewed: Any, approve: Any) -> None:
    write = previewed()
    for left in ("4 tries left", "3 tries left", "2 tries left", "1 try left", "No tries left"):
        with pytest.raises(deciding.WrongPassword, match=left):
            approve(write, password="guess")
    with pytest.raises(NotAllowed, match="Too many wrong passwords"):
        approve(write)
    write.refresh_from_db()
    assert (write.status, write.decisions.count()) == ("waiting", 0)


def test_a_stranger_at_the_door_keeps_nobody_from_approving(client: Any, previewed: Any, approve: Any) -> None:
    write = previewed()
    for _ in range(6):
        client.post("/sign-in/", {"username": "mia", "password": "guess"})
    assert approve(write).act == "approve"


def test_rejecting_needs_no_password(previewed: Any, approve: Any) -> None:
    write = previewed()
    approve(write, act="reject", password="")
    write.refresh_from_db()
    assert write.status == "rejected"


def test_without_a_preview_there_is_nothing_to_approve(propose: Any, approve: Any) -> None:
    with pytest.raises(NotAllowed, match="ask for a preview"):
        approve(propose())


def test_a_preview_without_an_effect_cannot_be_approved(previewed: Any, approve: Any) -> None:
    with pytest.raises(NotAllowed, match="no effect that could be approved"):
        approve(previewed("update shop.nothing set a = 1"))


def test_while_a_preview_is_made_the_older_one_is_not_approved(previewed: Any, approve: Any, mia: Any) -> None:
    write = previewed()
    actions.ask_preview(write, mia)
    with pytest.raises(NotAllowed, match="A preview is being made"):
        approve(write)


def test_a_preview_made_meanwhile_makes_the_decision_stale(previewed: Any, approve: Any, mia: Any) -> None:
    write = previewed()
    seen, version = quorum.latest_preview(write), write.version
    preview.make(actions.ask_preview(write, mia).pk)
    with pytest.raises(Stale, match="Another preview was made") as stale:
        approve(write, seen_version=version, preview_digest=seen.digest)
    assert (stale.value.seen, stale.value.current) == (version, version + 1)


@pytest.mark.parametrize("what", ["proposal_digest", "preview_digest"])
def test_a_digest_that_was_not_shown_is_not_approved(previewed: Any, approve: Any, what: str) -> None:
    with pytest.raises(Stale):
        approve(previewed(), **{what: "0" * 64})


def test_the_second_of_two_approvers_is_told_what_happened(previewed: Any, approve: Any, make_person: Any) -> None:
    write = previewed()
    version = write.version
    approve(write)
    with pytest.raises(Stale, match="became approved while you were reading"):
        approve(write, by=make_person("noor", "on_call"), seen_version=version)
    assert Decision.objects.filter(write=write).count() == 1


def test_an_expired_write_is_not_approved(previewed: Any, approve: Any) -> None:
    write = previewed()
    WriteRequest.objects.filter(pk=write.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(NotAllowed, match="expired"):
        approve(write)


def test_an_approved_write_can_still_be_stopped(approved: Any, approve: Any, make_person: Any) -> None:
    write = approved()
    approve(write, by=make_person("noor", "on_call"), act="reject")
    write.refresh_from_db()
    assert write.status == "rejected"


def test_only_the_proposer_withdraws(previewed: Any, approve: Any, make_person: Any, mia: Any) -> None:
    ada = make_person("ada", "on_call")
    write = previewed(by_person=ada)
    with pytest.raises(NotAllowed, match="Only the person who proposed"):
        approve(write, by=mia, act="withdraw")
    with pytest.raises(NotAllowed, match="withdraw it if it should not run"):
        approve(write, by=ada, act="reject")
    approve(write, by=ada, act="withdraw")
    write.refresh_from_db()
    assert write.status == "withdrawn"


@pytest.mark.parametrize("act", ["approve", "reject", "request_changes"])
@pytest.mark.parametrize("status", [s for s in WriteRequest.Status.values if s not in {"waiting", "approved"}])
def test_what_is_over_is_not_decided_again(previewed: Any, approve: Any, status: str, act: str) -> None:
    write = previewed()
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    with pytest.raises(NotAllowed):
        approve(write, act=act)
    write.refresh_from_db()
    assert write.status == status


@pytest.mark.parametrize(("role", "may"), [("viewer", False), ("auditor", False), ("admin", True), ("on_call", True)])
def test_who_may_ask_for_a_preview(propose: Any, make_person: Any, role: str, may: bool) -> None:
    write, person = propose(), make_person("someone", role)
    if not may:
        with pytest.raises(NotAllowed, match="asks for no previews"):
            actions.ask_preview(write, person)
        return
    request = actions.ask_preview(write, person)
    assert Outbox.objects.get(task="gate.writes.tasks.preview_write", subject_id=request.pk).queue == "writes"


def test_one_preview_at_a_time(propose: Any, mia: Any) -> None:
    write = propose()
    request = actions.ask_preview(write, mia)
    with pytest.raises(NotAllowed, match="A preview is being made"):
        actions.ask_preview(write, mia)
    # A writer that never came back does not lock the write for ever.
    PreviewRequest.objects.filter(pk=request.pk).update(at=timezone.now() - timedelta(minutes=5))
    assert actions.ask_preview(write, mia).pk != request.pk


def test_an_approval_ends_with_its_write_or_soon(previewed: Any, approve: Any) -> None:
    write = previewed()
    assert approve(write).expires_at <= timezone.now() + deciding.APPROVAL_LASTS
    soon = timezone.now() + timedelta(seconds=60)
    other = previewed(parameters=OTHER)
    WriteRequest.objects.filter(pk=other.pk).update(expires_at=soon)
    assert approve(other, password=PASSWORD).expires_at == soon
