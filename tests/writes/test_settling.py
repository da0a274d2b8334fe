from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Entry, Outbox
from gate.errors import NotAllowed, Stale
from gate.writes import execution, settling, unknowns
from gate.writes.models import Execution, Preview, Settlement, WriteRequest
from tests.writes.conftest import body
from tests.writes.test_execution import crash_after

pytestmark = pytest.mark.django_db
REASON = "The ledger of the standby that took over has no row of it."


@pytest.fixture
def unknown(approved: Any, monkeypatch: Any) -> Any:
    """A write whose writer died after its commit, and whose target was away from then on."""

    def make(write: Any = None) -> WriteRequest:
        write = write or approved()
        with monkeypatch.context() as patch:
            crash_after(patch, "_commit")
            with pytest.raises(SystemExit):
                execution.execute(write.pk)
        with monkeypatch.context() as patch:
            patch.setenv("WRITES_TEST_DSN", "host=/nowhere dbname=shop")
            with pytest.raises(execution.TryAgain):
                execution.execute(write.pk)
        long_ago = timezone.now() - timedelta(minutes=2)
        Outbox.objects.filter(task=unknowns.EXECUTE, subject_id=write.pk).update(gave_up_at=long_ago)
        Execution.objects.filter(write=write).update(finished_at=long_ago)
        write.refresh_from_db()
        assert write.status == "unknown"
        return write

    return make


def settle(write: Any, by: Any, found: str = "executed") -> WriteRequest:
    write.refresh_from_db()
    return settling.settle(write, by=by, found=found, reason=REASON, seen_version=write.version)


def restore(shop: Any, write: Any) -> None:
    """The target as if the write had never been there, to the byte."""
    before = Preview.objects.get(write=write).rows[0]["before"]
    shop.execute("delete from shop.gate_ledger")
    shop.execute("alter table shop.jobs disable trigger user")
    shop.execute(
        "update shop.jobs set state = %s, locked_by = %s, updated_at = %s where job_id = 7",
        [before["state"], before["locked_by"], before["updated_at"]],
    )
    shop.execute("alter table shop.jobs enable trigger user")


@pytest.mark.parametrize(("found", "status"), [("executed", "settled_executed"), ("failed", "settled_failed")])
def test_what_a_person_finds_settles_it_and_it_never_runs_again(
    unknown: Any, mia: Any, shop: Any, found: str, status: str
) -> None:
    write = unknown()
    restore(shop, write)  # so that a writer that asked would run it
    settle(write, mia, found)
    for forced in (None, "unknown", "approved"):
        if forced:
            WriteRequest.objects.filter(pk=write.pk).update(status=forced)
        execution.execute(write.pk)
    assert shop.execute("select count(*) from shop.gate_ledger").fetchone() == (0,)
    entry = Entry.objects.filter(subject=write.ref, kind="write.settled").latest("seq")
    assert (entry.actor, entry.summary) == ("Mia Lindqvist", REASON)
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    assert Settlement.objects.get(write=write).found == found


def test_two_people_must_find_the_same_where_two_approved(
    unknown: Any, define: Any, previewed: Any, approve: Any, make_person: Any, mia: Any
) -> None:
    define("target", "shop", body(approvers={"on_call": 2}))
    noor, sam = make_person("noor", "on_call"), make_person("sam", "on_call")
    write = previewed()
    approve(write)
    approve(write, by=noor)
    write.refresh_from_db()
    write = unknown(write)
    assert settle(write, mia, "executed").status == "unknown"
    with pytest.raises(NotAllowed, match="someone else must look"):
        settle(write, mia, "executed")
    assert settle(write, noor, "failed").status == "unknown"  # they differ, so a third one looks
    assert settle(write, sam, "executed").status == "settled_executed"


def test_whoever_left_has_found_nothing(unknown: Any, mia: Any) -> None:
    write = unknown()
    Settlement.objects.create(write=write, found="executed", reason=REASON, by=mia, role="admin")
    assert settling.agreed(write) is None


def test_only_a_seat_settles_and_never_the_proposers_own(unknown: Any, make_person: Any, agent: Any) -> None:
    from gate.people.models import Person

    write = unknown()
    for person, why in ((make_person("vera", "viewer"), "decides about no writes"),
                        (Person.objects.get(username="jonas"), "someone else must settle")):  # fmt: skip
        with pytest.raises(NotAllowed, match=why):
            settle(write, person)
    assert not Settlement.objects.filter(write=write).exists()
    assert Entry.objects.filter(subject=write.ref, kind="person.refused").count() == 2


def test_nothing_is_settled_while_the_writer_asks(unknown: Any, mia: Any) -> None:
    write = unknown()
    job = Outbox.objects.filter(task=unknowns.EXECUTE, subject_id=write.pk)
    job.update(gave_up_at=None)
    with pytest.raises(NotAllowed, match="still asks shop"):
        settle(write, mia)
    job.update(gave_up_at=timezone.now())
    Execution.objects.filter(write=write).update(finished_at=timezone.now())  # its last session may still be open
    with pytest.raises(NotAllowed, match="still asks shop"):
        settle(write, mia)


def test_an_old_page_settles_nothing(unknown: Any, mia: Any) -> None:
    write = unknown()
    with pytest.raises(Stale):
        settling.settle(write, by=mia, found="failed", reason=REASON, seen_version=write.version - 1)


@pytest.mark.parametrize("status", ["executed", "failed", "executing", "approved"])
def test_only_what_is_unknown_is_settled(unknown: Any, mia: Any, status: str) -> None:
    write = unknown()
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    with pytest.raises(NotAllowed, match="nothing to settle"):
        settle(write, mia)


def test_the_page_says_what_to_look_for_and_takes_what_was_found(unknown: Any, mia: Any, client: Any) -> None:
    write = unknown()
    done = Execution.objects.get(write=write)
    client.force_login(mia)
    page = client.get(f"/writes/{write.pk}/").content.decode()
    for told in (str(done.ledger_key), done.noted["xid"], "select * from shop.gate_ledger where approval_id ="):
        assert told in page
    sent = {"found": "executed", "seen_version": write.version}
    assert client.post(f"/writes/{write.pk}/settlement/", {**sent, "reason": " "}).status_code == 422
    assert client.post(f"/writes/{write.pk}/settlement/", {**sent, "reason": REASON}).status_code == 302
    page = client.get(f"/writes/{write.pk}/").content.decode()
    assert "Executed, as people found" in page
    assert REASON in page
    assert "It was not executed" not in page
    stale = client.post(f"/writes/{write.pk}/settlement/", {**sent, "reason": REASON})
    assert stale.status_code == 409


def test_what_another_found_is_kept_from_whoever_is_to_look(
    unknown: Any, define: Any, previewed: Any, approve: Any, make_person: Any, mia: Any, client: Any
) -> None:
    define("target", "shop", body(approvers={"on_call": 2}))
    noor = make_person("noor", "on_call")
    write = previewed()
    approve(write)
    approve(write, by=noor)
    write.refresh_from_db()
    write = unknown(write)
    settle(write, mia, "failed")
    client.force_login(noor)
    assert REASON not in client.get(f"/writes/{write.pk}/").content.decode().split("History")[0]
    client.force_login(mia)
    assert REASON in client.get(f"/writes/{write.pk}/").content.decode()


def test_the_proposer_learns_it(unknown: Any, mia: Any, agent: Any) -> None:
    from gate.writes import desk

    write = unknown()
    settle(write, mia, "failed")
    told = desk.status(agent, {"write": write.ref})
    assert (told["status"], "did not" in told["reason"]) == ("settled_failed", True)


def test_a_settled_write_is_no_business_of_the_writer(unknown: Any, mia: Any) -> None:
    write = unknown()
    settle(write, mia)
    unknowns.ask_again()
    assert Outbox.objects.get(task=unknowns.EXECUTE, subject_id=write.pk).gave_up_at is not None
