"""Threats 1 to 3, 6 to 11, 18, 22 and 25: who could try to open the gate, and with what in their hands."""

from __future__ import annotations

import threading
import time
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import Resolver404, resolve

from audit.models import Agent, Entry
from gate.errors import NotAllowed
from gate.people.models import Key
from gate.writes import approval, assertions, deciding, execution
from gate.writes.models import Decision, OfferedStatement, PinnedKey, WriteRequest
from tests.software_key import SoftwareKey
from tests.writes.conftest import body
from tests.writes.signing import SESSION, enrolled, offered, pinned_key, shown, signed

pytestmark = pytest.mark.django_db
OF_ANOTHER_JOB = [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "8"}, {"t": "text", "v": "running"}]


@pytest.fixture
def target(define: Any, shop: Any) -> Any:
    return define("target", "shop", body(method="passkey"))


@pytest.fixture
def key(mia: Any) -> SoftwareKey:
    made = SoftwareKey()
    pinned_key(mia, made)
    return made


def form_of(write: WriteRequest, act: str = "approve") -> dict[str, Any]:
    sent = shown(write, act)
    return {"decision": sent.pop("act"), **sent}


def test_threat_1_an_agents_token_decides_nothing(previewed: Any, make_agent: Any) -> None:
    write = previewed()
    _, token = make_agent("another-agent")
    for scheme in ("Bearer", "Token", "Basic"):
        robot = Client(headers={"Authorization": f"{scheme} {token}"})
        for address in ("decision/", "decision/options/"):
            answer = robot.post(f"/writes/{write.pk}/{address}", form_of(write))
            assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/sign-in/")
    for address in ("decision/", "decision/options/"):
        with pytest.raises(Resolver404):
            resolve(f"/writes/{write.pk}/{address}", urlconf="gate.config.urls_agents")
    assert not Decision.objects.exists()
    assert not OfferedStatement.objects.exists()


def test_threat_2_a_stolen_cookie_alone_approves_nothing(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    write, other = previewed(), previewed(parameters=OF_ANOTHER_JOB)
    thief = Client()
    thief.force_login(mia)
    assert thief.get(f"/writes/{write.pk}/").status_code == 200
    sent = form_of(write)
    assert thief.post(f"/writes/{write.pk}/decision/", sent).status_code == 422
    assert thief.post(f"/writes/{write.pk}/decision/", {**sent, "password": "correct horse battery"}).status_code == 409
    for_other = thief.post(f"/writes/{other.pk}/decision/options/", form_of(other)).json()["publicKey"]
    answer = thief.post(f"/writes/{write.pk}/decision/", {**sent, "assertion": key.sign(for_other)})
    assert answer.status_code == 409
    own = thief.post(f"/writes/{write.pk}/decision/options/", sent).json()["publicKey"]
    answer = thief.post(f"/writes/{write.pk}/decision/", {**sent, "assertion": SoftwareKey().sign(own)})
    assert answer.status_code == 409
    assert not Decision.objects.exists()


def test_threat_3_another_site_posts_nothing(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    write = previewed()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(mia)
    page = strict.get(f"/writes/{write.pk}/").content.decode()
    token = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    sent = {**form_of(write), "csrfmiddlewaretoken": token}
    for address in ("decision/options/", "decision/"):
        where = f"/writes/{write.pk}/{address}"
        assert strict.post(where, {**sent, "csrfmiddlewaretoken": ""}).status_code == 403
        assert strict.post(where, sent, headers={"Origin": "https://evil.example.org"}).status_code == 403
    assert not OfferedStatement.objects.exists()
    assert strict.post(f"/writes/{write.pk}/decision/options/", sent).status_code == 200


def test_threat_6_a_row_that_says_approved_runs_nothing(previewed: Any, job: Any) -> None:
    write = previewed()
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (job(7), write.status) == ("running", "failed")
    entry = Entry.objects.filter(kind="write.failed", subject=write.ref).latest("seq")
    assert "no approval on record" in entry.error


def test_threat_7_one_approval_runs_once_however_often_it_is_asked_for(
    previewed: Any, mia: Any, key: SoftwareKey, shop: Any
) -> None:
    write = previewed()
    signed(write, mia, key)
    for _ in range(10):
        execution.execute(write.pk)
    assert shop.execute("select count(*) from shop.job_events").fetchone()[0] == 1


@pytest.mark.django_db(transaction=True)
def test_threat_8_twenty_arrivals_of_one_signature_are_one_decision(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    write = previewed()
    answer, sent = key.sign(offered(write, mia)), shown(write)
    outcomes: list[str] = []

    def arrive() -> None:
        try:
            deciding.decide(write, by=mia, assertion=answer, session=SESSION, **sent)
            outcomes.append("decided")
        except NotAllowed:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=arrive) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(outcomes) == ["decided"] + ["refused"] * 19
    assert Decision.objects.filter(write=write).count() == 1


def test_threat_9_the_owner_of_the_agent_approves_nothing_here_and_at_the_writer(
    previewed: Any, agent: Any, mia: Any, key: SoftwareKey
) -> None:
    from gate.people.models import Person

    write, jonas, own = previewed(), Person.objects.get(pk=agent.owner_id), SoftwareKey()
    pinned_key(jonas, own)
    with pytest.raises(NotAllowed, match="You own triage-agent"):
        offered(write, jonas)
    signed(write, mia, key)
    approval.verified(write)
    Agent.objects.filter(pk=agent.agent_id).update(owner=mia)
    with pytest.raises(approval.NotApproved, match="owns the agent"):
        approval.verified(WriteRequest.objects.get(pk=write.pk))


def test_threat_10_one_person_fills_one_seat_with_however_many_keys(
    define: Any, target: Any, previewed: Any, mia: Any, key: SoftwareKey
) -> None:
    define("target", "shop", body(method="passkey", approvers={"on_call": 2}))
    write, second = previewed(), SoftwareKey()
    pinned_key(mia, second)
    signed(write, mia, key)
    with pytest.raises(NotAllowed, match="already decided"):
        offered(write, mia)
    with pytest.raises(approval.NotApproved, match="still needs 1 on-call"):
        approval.verified(WriteRequest.objects.get(pk=write.pk))


def test_threat_11_a_target_that_changed_is_not_written(
    previewed: Any, mia: Any, key: SoftwareKey, shop: Any, job: Any
) -> None:
    write = previewed()
    signed(write, mia, key)
    shop.execute("update shop.jobs set attempts = 3 where job_id = 7")
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (job(7), write.status) == ("running", "refused_stale")


def test_threat_18_a_signature_ends_with_its_time(
    define: Any, target: Any, previewed: Any, mia: Any, key: SoftwareKey, job: Any
) -> None:
    define("target", "shop", body(method="passkey", expiry_seconds=6))
    write = previewed()
    decision = signed(write, mia, key)
    approval.verified(WriteRequest.objects.get(pk=write.pk))
    time.sleep(max(0.0, decision.expires_at.timestamp() - time.time()) + 0.2)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (job(7), write.status) == ("running", "expired")


def test_threat_22_a_key_that_was_only_inserted_is_no_key_of_the_writer(
    previewed: Any, mia: Any, monkeypatch: Any
) -> None:
    write, slipped_in = previewed(), SoftwareKey()
    enrolled(mia, slipped_in)
    with pytest.raises(NotAllowed, match="pinned no key of yours"):
        offered(write, mia)
    # A people's plane that lets it pass all the same:
    monkeypatch.setattr(assertions, "keys_for", lambda write, by, act: list(Key.objects.filter(person=by)))
    signed(write, mia, slipped_in)
    with pytest.raises(approval.NotApproved, match="not on the writer"):
        approval.verified(WriteRequest.objects.get(pk=write.pk))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("process", ["people", "agents", "worker", "reads", "sealer"])
def test_threat_22_nobody_but_the_writer_pins_a_key(mia: Any, as_role: Any, process: str) -> None:
    made = enrolled(mia, SoftwareKey())
    as_role(process)
    with pytest.raises((DatabaseError, psycopg.Error, CommandError)):
        call_command("pin_key", "mia", "--fingerprint", made.fingerprint, stdout=StringIO())
    as_role("owner")
    assert not PinnedKey.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_writer_pins_lists_and_forgets_a_key(mia: Any, as_role: Any) -> None:
    made = enrolled(mia, SoftwareKey())
    as_role("writer")
    with pytest.raises(CommandError, match="no such key"):
        call_command("pin_key", "mia", "--fingerprint", "0000", stdout=StringIO())
    call_command("pin_key", "mia", "--fingerprint", made.fingerprint, stdout=StringIO())
    out = StringIO()
    call_command("pin_key", "--list", stdout=out)
    assert made.fingerprint in out.getvalue()
    call_command("pin_key", "--revoke", made.fingerprint, stdout=StringIO())
    as_role("owner")
    kept = PinnedKey.objects.get()
    assert kept.revoked_at is not None
    kinds = Entry.objects.filter(subject="person mia", kind__in=["key.pinned", "key.unpinned"]).order_by("-seq")
    assert [one.kind for one in kinds[:2]] == ["key.unpinned", "key.pinned"]


def test_threat_25_a_lower_quorum_makes_earlier_signatures_stale(
    define: Any, target: Any, previewed: Any, mia: Any, key: SoftwareKey, job: Any
) -> None:
    define("target", "shop", body(method="passkey", approvers={"on_call": 2}))
    write = previewed()
    signed(write, mia, key)
    define("target", "shop", body(method="passkey"))
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (job(7), write.status) == ("running", "failed")
    entry = Entry.objects.filter(kind="write.failed", subject=write.ref).latest("seq")
    assert "Another version of shop is in force" in entry.error
