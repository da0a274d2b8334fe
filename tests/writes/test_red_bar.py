"""While the log does not verify, nothing is previewed, approved or run: plane and writer each look for themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from audit import overriding, receipts
from gate.errors import NotAllowed
from gate.writes import actions, execution, preview, quorum
from gate.writes.models import Execution
from tests import cited
from tests.writes.conftest import PASSWORD

pytestmark = pytest.mark.django_db
OFF = "Entry A-5 does not match its digest. Approving and running writes is off."


@pytest.fixture(autouse=True)
def settled_in_the_end(db: None) -> Iterator[None]:
    """Verifications stay when a test's database is emptied, and other tests approve."""
    yield
    cited.verified()


def test_nobody_approves_or_asks_for_a_preview(previewed: Any, propose: Any, approve: Any, mia: Any) -> None:
    write = previewed()
    cited.verified(("D1", "A-5"))
    with pytest.raises(NotAllowed, match=OFF):
        approve(write)
    with pytest.raises(NotAllowed, match=OFF):
        actions.ask_preview(write, mia)
    cited.verified()
    approve(write)


def test_people_still_reject_and_propose(previewed: Any, propose: Any, approve: Any) -> None:
    write = previewed()
    cited.verified(("D1", "A-5"))
    approve(write, act="reject")
    write.refresh_from_db()
    assert write.status == "rejected"
    assert propose().status == "waiting"


def test_the_page_says_so_and_answers_409(client: Client, previewed: Any, mia: Any) -> None:
    write = previewed()
    cited.verified(("D1", "A-5"))
    client.force_login(mia)
    page = client.get(f"/writes/{write.pk}/").content.decode()
    assert "Approve: update" not in page
    assert page.count(OFF) >= 2
    answer = client.post(
        f"/writes/{write.pk}/decision/",
        {
            "decision": "approve", "reason": "The worker is gone.", "seen_version": write.version,
            "password": PASSWORD, "proposal_digest": write.proposal_digest,
            "preview_digest": quorum.latest_preview(write).digest,
        },
    )  # fmt: skip
    assert answer.status_code == 409
    assert OFF in answer.content.decode()


def test_the_writer_claims_nothing_that_was_approved_before(approved: Any, job: Any, entries: Any) -> None:
    write = approved()
    cited.verified(("D1", "A-5"))
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("failed", "running")
    assert not Execution.objects.filter(write=write).exists()
    assert OFF in entries(write.ref)[-1].error


def test_a_sealer_that_found_the_tree_wrong_stops_the_writer_too(approved: Any, job: Any) -> None:
    write = approved()
    cited.say("tampered", "The stored tree does not give the root that was signed.")
    execution.execute(write.pk)
    assert job(7) == "running"


MOMENTS = ["_change", "_check_same_effect"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_verification_that_fails_while_it_runs_keeps_it_from_committing(
    moment: str, approved: Any, job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = approved()
    plain: Callable[..., Any] = getattr(execution, moment)

    def and_then(*args: Any) -> Any:
        cited.verified(("D1", "A-5"))
        return plain(*args)

    monkeypatch.setattr(execution, moment, and_then)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("failed", "running")


def test_a_run_that_died_after_its_commit_is_still_found_in_the_ledger(
    approved: Any, job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = approved()
    with monkeypatch.context() as dying:
        dying.setattr(execution, "_record", lambda claim, outcome: False)
        with pytest.raises(execution.TryAgain):
            execution.execute(write.pk)
    cited.verified(("D1", "A-5"))
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("executed", "queued")


def test_the_writer_previews_nothing(propose: Any, mia: Any) -> None:
    write = propose()
    request = actions.ask_preview(write, mia)
    cited.verified(("D1", "A-5"))
    preview.make(request.pk)
    made = quorum.latest_preview(write)
    assert made is not None
    assert OFF in made.error
    assert made.rows == []


def test_an_override_by_two_lets_both_go_on(approved: Any, previewed: Any, job: Any, make_person: Any) -> None:
    found = cited.verified(("D1", "A-5"))
    ada, ben = make_person("ada", "admin"), make_person("ben", "admin")
    overriding.confirm(overriding.ask(by=ada, reason="It is known.", seen=found.pk).pk, by=ben)
    execution.execute(approved().pk)
    assert job(7) == "queued"


@pytest.mark.django_db(transaction=True)
def test_the_writer_sees_it_with_its_own_role(previewed: Any, as_role: Any) -> None:
    from gate.writes import approval

    cited.verified(("D1", "A-5"))
    as_role("writer")
    with pytest.raises(approval.NotApproved, match=OFF):
        approval.check_log_verifies()


def test_an_execution_carries_the_receipt_of_its_entry_and_the_page_checks_it(
    approved: Any, entries: Any, client: Client, mia: Any
) -> None:
    write = approved()
    execution.execute(write.pk)
    kept = receipts.Receipt.of_json(Execution.objects.get(write=write).receipt)
    entry = entries(write.ref)[-1]
    assert (entry.kind, kept.id, kept.digest) == ("write.executed", entry.pk, bytes(entry.digest).hex())
    client.force_login(mia)
    page = client.get(f"/writes/{write.pk}/").content.decode()
    assert kept.digest in page
    assert "matches the log" in page
    assert "--receipts" in page
    forged = {**kept.as_json(), "digest": "00" * 32}
    Execution.objects.filter(write=write).update(receipt=forged)
    assert "does not match the log" in client.get(f"/writes/{write.pk}/").content.decode()
