"""Roles and deactivation: one admin drafts, another confirms."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit import agents
from audit.models import Entry
from gate.errors import NotAllowed
from gate.people import changes, leaving
from gate.people.models import Change, PasswordLink, Person

pytestmark = pytest.mark.django_db
WHY = "She changed teams."


def draft(person: Person, by: Person, act: str = "role", role: str = "viewer") -> Change:
    return changes.draft(person, act=act, role=role if act == "role" else "", by=by, reason=WHY)


def entries_of(person: Person) -> list[str]:
    found = Entry.objects.filter(kind="person.changed", subject=f"person {person.username}")
    return list(found.order_by("-seq").values_list("summary", flat=True))


def test_a_role_changes_by_two_hands(ada: Any, ben: Any, mia: Any) -> None:
    change = draft(mia, ada)
    mia.refresh_from_db()
    assert mia.role == "on_call"
    changes.confirm(change.pk, by=ben)
    mia.refresh_from_db()
    change.refresh_from_db()
    assert (mia.role, change.status, change.solo) == ("viewer", "confirmed", False)
    assert entries_of(mia)[:2] == ["confirmed: role viewer", "drafted: role viewer"]


def test_nobody_is_both_hands_while_there_is_a_second_admin(ada: Any, ben: Any, mia: Any) -> None:
    change = draft(mia, ada)
    with pytest.raises(NotAllowed, match="another admin must confirm"):
        changes.confirm(change.pk, by=ada)
    mia.refresh_from_db()
    change.refresh_from_db()
    assert (mia.role, change.status, change.decided_by) == ("on_call", "waiting", None)
    refused = Entry.objects.filter(kind="person.refused", subject="person mia").latest("seq")
    assert "another admin must confirm" in refused.summary


def test_a_single_admin_confirms_alone_and_the_log_says_solo(ada: Any, mia: Any) -> None:
    change = draft(mia, ada)
    changes.confirm(change.pk, by=ada)
    change.refresh_from_db()
    assert change.solo
    assert entries_of(mia)[0] == "confirmed, solo: role viewer"


def test_an_admin_who_left_is_no_second_hand(ada: Any, ben: Any, mia: Any) -> None:
    Person.objects.filter(pk=ben.pk).update(is_active=False)
    changes.confirm(draft(mia, ada).pk, by=ada)
    mia.refresh_from_db()
    assert mia.role == "viewer"


REFUSED = [
    ("role", "on_call", {}, "is on-call already"),
    ("reactivate", "", {}, "is active already"),
    ("deactivate", "", {"is_active": False}, "is deactivated already"),
    ("role", "viewer", {"is_active": False}, "reactivate them first"),
    ("reset", "", {"is_active": False}, "reactivate them first"),
]


@pytest.mark.parametrize(("act", "role", "fields", "why"), REFUSED)
def test_a_change_that_changes_nothing_is_refused(
    ada: Any, ben: Any, mia: Any, act: str, role: str, fields: dict[str, bool], why: str
) -> None:
    Person.objects.filter(pk=mia.pk).update(**fields)
    with pytest.raises(NotAllowed, match=why):
        draft(mia, ada, act, role)
    assert not Change.objects.exists()


@pytest.mark.parametrize(("act", "role"), [("deactivate", ""), ("role", "viewer")])
def test_the_last_admin_stays(ada: Any, mia: Any, act: str, role: str) -> None:
    with pytest.raises(NotAllowed, match="last admin"):
        draft(ada, ada, act, role)
    assert not Change.objects.exists()


def test_a_second_change_of_the_same_person_waits(ada: Any, ben: Any, mia: Any) -> None:
    draft(mia, ada)
    with pytest.raises(NotAllowed, match="waits already"):
        draft(mia, ben, "deactivate")
    assert Change.objects.count() == 1


def test_what_is_decided_stays_decided(ada: Any, ben: Any, mia: Any) -> None:
    change = draft(mia, ada)
    changes.withdraw(change.pk, by=ben)
    for again in (changes.confirm, changes.withdraw):
        with pytest.raises(NotAllowed, match="withdrawn already"):
            again(change.pk, by=ben)
    mia.refresh_from_db()
    assert mia.role == "on_call"


def test_the_draft_of_someone_who_is_no_admin_any_more_is_void(ada: Any, ben: Any, mia: Any) -> None:
    change = draft(mia, ada)
    Person.objects.filter(pk=ada.pk).update(role="viewer")
    with pytest.raises(NotAllowed, match="is no admin any more"):
        changes.confirm(change.pk, by=ben)


def test_an_admin_who_was_demoted_while_waiting_changes_nothing(ada: Any, ben: Any, mia: Any) -> None:
    change = draft(mia, ada)
    Person.objects.filter(pk=ben.pk).update(role="viewer")  # the object in hand still says admin
    with pytest.raises(NotAllowed, match="changes no people"):
        changes.confirm(change.pk, by=ben)


def test_deactivating_shows_what_is_held_and_lets_it_go(
    ada: Any, ben: Any, mia: Any, sign_in: Any, make_agent: Any
) -> None:
    agent, token = make_agent("mias-agent", owner=mia)
    browser = sign_in(mia)
    change = draft(mia, ada, "deactivate")
    page = sign_in(ben).get(f"/people/{mia.pk}/").content.decode()
    assert "1 session, ended at once" in page
    assert "mias-agent" in page
    assert agents.authenticate(token) is not None
    changes.confirm(change.pk, by=ben)
    assert agents.authenticate(token) is None
    assert browser.get("/inbox/").status_code == 302
    assert leaving.of(mia) == leaving.Left([], [], [], [], [], [], 0)
    agent.refresh_from_db()
    assert agent.stopped_at is not None


def test_a_claim_is_released_and_an_approval_is_named(ada: Any, ben: Any, mia: Any, define: Any) -> None:
    from gate.triage.models import Draft, Incident, Investigation
    from gate.writes.models import Decision, WriteRequest

    version = define_class(ada)
    incident = Incident.objects.create(
        kind="incident", incident_class=version, title="x", severity="high", subject={}, dedup_key="x", owner=mia,
        began_at=timezone.now(), watch_from=timezone.now(),
    )  # fmt: skip
    agent = agents_of(ada)
    investigation = Investigation.objects.create(
        incident=incident, agent=agent, briefing={}, budget_calls=1, deadline_at=timezone.now(), status="decided"
    )
    claimed = Draft.objects.create(
        investigation=investigation, outcome="pass", rule="r", rule_hash="0", checks=[], reasons=[], receipt={},
        decided_at=timezone.now(), status="claimed", claimed_by=mia,
        claimed_until=timezone.now() + timedelta(minutes=9),
    )  # fmt: skip
    write = WriteRequest.objects.create(
        target=version, title="t", statement="s", verb="update", table="t", parameters=[], reason="r",
        proposed_by_person=ada, expires_at=timezone.now(), proposal_digest="0", status="approved",
    )  # fmt: skip
    Decision.objects.create(
        id=uuid.uuid4(), write=write, act="approve", edition=1, reason="r", by=mia, role="on_call", method="password",
        statement={}, digest="0", expires_at=timezone.now(),
    )  # fmt: skip
    left = leaving.of(mia)
    assert (left.claims, [one.write for one in left.approvals], left.incidents) == ([claimed], [write], [incident])
    changes.confirm(draft(mia, ada, "deactivate").pk, by=ben)
    claimed.refresh_from_db()
    assert (claimed.status, claimed.claimed_by, claimed.claimed_until) == ("waiting", None, None)


def define_class(by: Person) -> Any:
    from audit.models import Definition

    return Definition.objects.create(
        kind="class", name="failed", version=1, body={}, digest="", reason="", drafted_by=by
    )


def agents_of(owner: Person) -> Any:
    from audit.models import Agent

    return Agent.objects.create(name="someones-agent", owner=owner, owner_name=owner.username)


def test_coming_back(ada: Any, ben: Any, mia: Any, sign_in: Any) -> None:
    changes.confirm(draft(mia, ada, "deactivate").pk, by=ben)
    changes.confirm(draft(mia, ben, "reactivate").pk, by=ada)
    assert sign_in(mia).get("/inbox/").status_code == 200


def test_a_deactivation_that_fails_halfway_leaves_nothing_behind(
    ada: Any, ben: Any, mia: Any, sign_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = sign_in(mia)
    change = draft(mia, ada, "deactivate")

    def fail(*args: Any, **more: Any) -> None:
        raise RuntimeError("no entry")

    monkeypatch.setattr("gate.people.changes.record", fail)
    with pytest.raises(RuntimeError, match="no entry"):
        changes.confirm(change.pk, by=ben)
    mia.refresh_from_db()
    change.refresh_from_db()
    assert (mia.is_active, change.status) == (True, "waiting")
    assert browser.get("/inbox/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_deactivate_each_other_at_once_leave_one(ada: Any, ben: Any, as_role: Any) -> None:
    drafts = [(draft(ben, ada, "deactivate").pk, ben), (draft(ada, ben, "deactivate").pk, ada)]
    as_role("people")
    outcomes: list[str] = []

    def confirm(pk: int, by: Person) -> None:
        try:
            changes.confirm(pk, by=by)
            outcomes.append("done")
        except NotAllowed as refusal:
            outcomes.append(str(refusal))
        finally:
            connection.close()

    threads = [threading.Thread(target=confirm, args=one) for one in drafts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("done") == 1
    assert Person.objects.filter(is_active=True, role="admin").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_confirmations_at_once_are_one(ada: Any, ben: Any, mia: Any, as_role: Any) -> None:
    change = draft(mia, ada, "reset")
    as_role("people")
    drawn: list[str] = []

    def confirm() -> None:
        try:
            drawn.append(changes.confirm(change.pk, by=ben))
        except NotAllowed:
            drawn.append("")
        finally:
            connection.close()

    threads = [threading.Thread(target=confirm) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(bool(token) for token in drawn) == 1
    assert PasswordLink.objects.count() == 1
