"""Several approvers: each on a seat of the policy, all about one effect, and the writer counts them again."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Entry, Outbox
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import actions, execution, preview, telling
from gate.writes.models import Decision, WriteRequest
from tests.writes.conftest import body

pytestmark = pytest.mark.django_db
TWO = {"on_call": 2}
BOTH = {"on_call": 1, "admin": 1}


@pytest.fixture
def noa(make_person: Any) -> Person:
    return make_person("noa", "on_call", "Noa Sol")  # type: ignore[no-any-return]


@pytest.fixture
def olga(make_person: Any) -> Person:
    return make_person("olga", "admin", "Olga Ruiz")  # type: ignore[no-any-return]


@pytest.fixture
def waiting(define: Any, previewed: Any) -> Any:
    """A previewed write of a target with these approvers."""

    def make(approvers: dict[str, int], **policy: Any) -> WriteRequest:
        define("target", "shop", body(approvers=approvers, **policy))
        return previewed()  # type: ignore[no-any-return]

    return make


def asked_to_run(write: WriteRequest) -> int:
    return Outbox.objects.filter(task="gate.writes.tasks.execute_write", subject_id=write.pk).count()


def run(write: WriteRequest) -> str:
    execution.execute(write.pk)
    write.refresh_from_db()
    return write.status


@pytest.mark.parametrize(("approvers", "second"), [(TWO, "noa"), (BOTH, "olga")])
def test_it_waits_until_every_seat_is_filled(
    waiting: Any, approve: Any, noa: Any, olga: Any, job: Any, approvers: Any, second: str
) -> None:
    write = waiting(approvers)
    approve(write)
    write.refresh_from_db()
    assert (write.status, asked_to_run(write)) == ("waiting", 0)
    approve(write, by={"noa": noa, "olga": olga}[second])
    write.refresh_from_db()
    assert (write.status, asked_to_run(write)) == ("approved", 1)
    assert (run(write), job(7)) == ("executed", "queued")


def test_nobody_fills_two_seats(waiting: Any, approve: Any) -> None:
    write = waiting(TWO)
    approve(write)
    with pytest.raises(NotAllowed, match="already decided"):
        approve(write)


def test_a_seat_that_is_taken_is_not_taken_again(waiting: Any, approve: Any, noa: Any) -> None:
    write = waiting(BOTH)
    approve(write)
    with pytest.raises(NotAllowed, match="still needs 1 admin"):
        approve(write, by=noa)


def test_who_has_another_role_now_approves_on_that_seat_and_fills_one(
    waiting: Any, approve: Any, noa: Any, mia: Any, client: Client
) -> None:
    write = waiting(BOTH)
    approve(write)
    mia.role = Person.Role.ADMIN
    mia.save(update_fields=["role"])
    assert telling.needs(write) == ["approval by 1 admin and 1 on-call"]
    client.force_login(mia)
    page = " ".join(client.get(f"/writes/{write.pk}/").content.decode().split())
    assert "has another role now, or left, so it does not count" in page
    approve(write, by=mia)
    write.refresh_from_db()
    assert (write.status, telling.needs(write)) == ("waiting", ["approval by 1 on-call"])
    with pytest.raises(NotAllowed, match="already decided"):
        approve(write, by=mia)
    approve(write, by=noa)
    write.refresh_from_db()
    assert (write.status, run(write)) == ("approved", "executed")


def test_whose_role_has_no_seat_decides_nothing(waiting: Any, approve: Any, olga: Any) -> None:
    write = waiting(TWO)
    for act in ("approve", "reject", "request_changes"):
        with pytest.raises(NotAllowed, match="asks for 2 on-call"):
            approve(write, by=olga, act=act)


def test_approvals_of_two_effects_do_not_add_up(waiting: Any, approve: Any, noa: Any, mia: Any, shop: Any) -> None:
    write = waiting(TWO)
    approve(write)
    shop.execute("update shop.jobs set locked_by = 'worker-9' where job_id = 7")
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write, by=noa)
    write.refresh_from_db()
    assert write.status == "waiting"
    approve(write)  # mia, about what is shown now
    write.refresh_from_db()
    assert (write.status, run(write)) == ("approved", "executed")


def test_the_same_effect_previewed_again_keeps_the_approvals(waiting: Any, approve: Any, noa: Any, mia: Any) -> None:
    write = waiting(TWO)
    approve(write)
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write, by=noa)
    write.refresh_from_db()
    assert write.status == "approved"


def test_the_writer_counts_again(waiting: Any, approve: Any, job: Any) -> None:
    write = waiting(TWO)
    approve(write)
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    assert (run(write), job(7)) == ("failed", "running")
    assert "still needs 1 on-call" in Entry.objects.filter(subject=write.ref).latest("seq").error


def test_the_writer_counts_people_not_rows(waiting: Any, approve: Any, noa: Any, mia: Any, job: Any) -> None:
    write = waiting(TWO)
    approve(write)
    approve(write, by=noa)
    Decision.objects.filter(write=write, by=noa).update(by=mia)
    assert (run(write), job(7)) == ("failed", "running")


def test_a_changed_policy_makes_approvals_stale(waiting: Any, approve: Any, noa: Any, define: Any, job: Any) -> None:
    write = waiting(TWO)
    approve(write)
    define("target", "shop", body(approvers={"on_call": 1}))
    with pytest.raises(NotAllowed, match="has another version"):
        approve(write, by=noa)
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    assert (run(write), job(7)) == ("failed", "running")


def test_one_no_stops_it_whatever_others_said(waiting: Any, approve: Any, noa: Any) -> None:
    write = waiting(TWO)
    approve(write)
    approve(write, by=noa, act="reject")
    write.refresh_from_db()
    assert write.status == "rejected"


def test_a_password_is_not_enough_where_the_policy_asks_for_a_passkey(waiting: Any, approve: Any) -> None:
    write = waiting({"on_call": 1}, method="passkey")
    with pytest.raises(NotAllowed, match="approved with a passkey"):
        approve(write)


@pytest.mark.parametrize(("proposers", "refused"), [(["on_call"], "agents"), (["agent"], "on-call people")])
def test_the_policy_says_who_proposes(
    define: Any, propose: Any, make_person: Any, proposers: list[str], refused: str
) -> None:
    define("target", "shop", body(proposers=proposers))
    by = {"by_person": make_person("ada", "on_call")} if refused == "on-call people" else {}
    with pytest.raises(NotAllowed, match=f"no proposals from {refused}"):
        propose(**by)


def test_the_second_approver_reads_the_first_ones_reason_after_deciding(
    client: Client, waiting: Any, approve: Any, noa: Any, mia: Any
) -> None:
    write = waiting({"on_call": 3})
    approve(write, reason="I asked the warehouse.")
    client.force_login(noa)
    page = client.get(reverse("writes:write", args=[write.pk])).content.decode()
    assert "Mia Lindqvist" in page
    assert "I asked the warehouse." not in page.split("<aside")[0]
    approve(write, by=noa)
    assert "I asked the warehouse." in client.get(reverse("writes:write", args=[write.pk])).content.decode()


@pytest.mark.parametrize("may", [True, False])
def test_one_person_breaks_the_glass_only_where_the_policy_lets_them(
    waiting: Any, approve: Any, job: Any, may: bool
) -> None:
    write = waiting(TWO, break_glass=may)
    if not may:
        with pytest.raises(NotAllowed, match="lets nobody approve alone"):
            approve(write, act="break_glass")
        return
    approve(write, act="break_glass")
    write.refresh_from_db()
    assert (write.status, run(write), job(7)) == ("approved", "executed", "queued")


def test_a_broken_glass_is_no_approval_under_another_policy(waiting: Any, approve: Any, job: Any) -> None:
    write = waiting(TWO)
    approve(write)
    Decision.objects.filter(write=write).update(act="break_glass")
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    assert (run(write), job(7)) == ("failed", "running")


@pytest.mark.parametrize("change", [{"is_active": False}, {"role": "admin"}])
def test_a_seat_is_open_again_when_who_filled_it_left(
    waiting: Any, approve: Any, noa: Any, mia: Any, make_person: Any, job: Any, change: Any
) -> None:
    write = waiting(TWO)
    approve(write)
    Person.objects.filter(pk=mia.pk).update(**change)
    approve(write, by=noa)
    write.refresh_from_db()
    assert write.status == "waiting"
    approve(write, by=make_person("kim", "on_call"))
    write.refresh_from_db()
    assert (write.status, run(write), job(7)) == ("approved", "executed", "queued")
