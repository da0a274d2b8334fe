"""The people's plane is taken over: its role may write these rows, and holds no passkey and no credential.

Each row that it may change is changed, in each way that could help, and the writer is asked. The grants say which
columns these are; a column that is granted later has to be thought of here.
"""

from __future__ import annotations

import os
import re
import threading
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit import log, outbox, twohands, vouching
from audit.kinds import Kind
from audit.models import Agent, Definition, Entry
from gate.config import environment
from gate.config.roles import GRANTS
from gate.errors import NotAllowed
from gate.people import keys
from gate.people.models import Key, Person
from gate.writes import (
    actions,
    admitting,
    approval,
    canary_placing,
    deciding,
    digests,
    execution,
    guards,
    preview,
    recorded,
    targets,
)
from gate.writes import unknowns as execute_jobs
from gate.writes.models import Canary, Decision, Preview, WriteRequest
from tests.software_key import SoftwareKey
from tests.writes.canary import CANARY
from tests.writes.conftest import BODY, POLICY, REQUEUE, REQUEUE_PARAMETERS, body
from tests.writes.signing import SESSION, enrolled, offered, pinned_key, shown, signed
from tests.writes.test_execution import crash_after, run

pytestmark = pytest.mark.django_db
OLD_CREDENTIAL = {**BODY, "credential_env": "ORDERS_WRITER_DSN"}


@pytest.fixture
def target(define: Any, shop: Any) -> Any:
    """Two people approve, each with a passkey."""
    define("target", "shop", body())  # the version before: one person, and a password
    return define("target", "shop", body(method="passkey", approvers={"on_call": 2}))


@pytest.fixture
def key(mia: Any) -> SoftwareKey:
    made = SoftwareKey()
    pinned_key(mia, made)
    return made


def refusal(write: WriteRequest) -> str:
    """Why the writer would not run it; empty when it would."""
    try:
        approval.verified(WriteRequest.objects.select_related("target").get(pk=write.pk))
    except approval.NotApproved as problem:
        return str(problem)
    return ""


# Every column that the role may change, while one of two has approved.

READ_BY_THE_WRITER = (
    "writes_writerequest", "writes_edition", "writes_previewrequest", "writes_preview", "writes_decision",
    "writes_pinnedkey", "writes_canary", "writes_execution", "writes_settlement", "people_person", "people_key",
    "audit_definition", "audit_agent",
)  # fmt: skip
HOSTILE: dict[str, list[str]] = {
    "writes_writerequest.status": [
        f"update writes_writerequest set status = '{status}'" for status in WriteRequest.Status.values
    ],
    "writes_writerequest.version": ["update writes_writerequest set version = 1"],
    "people_person.id": [
        # Two people change their numbers, so that whoever approved has another one.
        "update people_person set id = -1 where username = 'mia';"
        "update people_person set id = (select person_id from people_key limit 1) where username = 'kim';"
        "update people_person set id = (select id + 1000 from people_person where username = 'ada') where id = -1",
    ],
    "people_person.username": ["update people_person set username = 'was-' || username"],
    "people_person.role": [f"update people_person set role = '{role}'" for role in ("admin", "on_call", "viewer")],
    "people_person.is_active": [
        "update people_person set is_active = not is_active", "update people_person set is_active = true",
    ],
    "people_key.sign_count": ["update people_key set sign_count = 0"],
    "people_key.is_backed_up": ["update people_key set is_backed_up = true"],
    "people_key.used_at": ["update people_key set used_at = null"],
    "people_key.used_for": ["update people_key set used_for = ''"],
    "people_key.quarantined_until": ["update people_key set quarantined_until = '2001-01-01'"],
    "people_key.status": ["update people_key set status = 'confirmed'"],
    "people_key.confirmed_with_id": ["update people_key set confirmed_with_id = id"],
    "people_key.decided_by_id": ["update people_key set decided_by_id = person_id"],
    "people_key.decided_at": ["update people_key set decided_at = '2001-01-01'"],
    "people_key.solo": ["update people_key set solo = true"],
    "people_key.revoked_at": ["update people_key set revoked_at = null"],
    "people_key.revoked_by_id": ["update people_key set revoked_by_id = null"],
    "audit_definition.status": [
        "update audit_definition set status = 'retired' where kind = 'target';"
        "update audit_definition set status = 'active' where kind = 'target' and version = 1",
        "update audit_definition set status = 'draft' where kind = 'target'",
    ],
    "audit_definition.activated_by_id": ["update audit_definition set activated_by_id = drafted_by_id"],
    "audit_definition.activated_at": ["update audit_definition set activated_at = '2001-01-01'"],
    "audit_definition.solo": ["update audit_definition set solo = true"],
    "audit_definition.retired_at": ["update audit_definition set retired_at = null"],
    "audit_agent.owner_id": [
        "update audit_agent set owner_id = (select id from people_person where username = 'ada')",
    ],
    "audit_agent.owner_name": ["update audit_agent set owner_name = 'ada'"],
    "audit_agent.stopped_at": ["update audit_agent set stopped_at = null"],
    "audit_agent.calls_per_hour": ["update audit_agent set calls_per_hour = 1000000"],
    "audit_agent.open_investigations": ["update audit_agent set open_investigations = 1000000"],
    "audit_agent.proposals_per_day": ["update audit_agent set proposals_per_day = 1000000"],
}  # fmt: skip
# What a person is called and signs in with decides nothing for the writer, which does not even see it.
UNSEEN_OF_PEOPLE = {"id", "username", "role", "is_active"}


def changeable() -> set[str]:
    """table.column, of each that the people's role may update and the writer reads."""
    found = set()
    for table in READ_BY_THE_WRITER:
        grant = re.search(r"UPDATE(\(([^)]*)\))?", GRANTS["people"].get(table, ""))
        if grant is not None:
            found |= {f"{table}.{column}" for column in (grant[2] or "").split(",") if column} or of_model(table)
    return found


def of_model(table: str) -> set[str]:
    (model,) = [one for one in apps.get_models() if one._meta.db_table == table]
    assert model is Person
    return {f"{table}.{one.column}" for one in model._meta.concrete_fields if one.column in UNSEEN_OF_PEOPLE}


def test_no_column_that_the_people_may_change_stands_for_the_second_approval(
    target: Any, previewed: Any, mia: Any, key: SoftwareKey, make_person: Any
) -> None:
    assert changeable() == set(HOSTILE), "Say here how a column that is granted now could help."
    make_person("ada", "viewer")
    make_person("kim", "on_call")
    write = previewed()
    signed(write, mia, key)
    for name, attacks in HOSTILE.items():
        for attack in attacks:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(attack)
                assert cursor.rowcount > 0, name
                assert refusal(write), (name, attack)
                transaction.set_rollback(True)
    assert "still needs 1 on-call" in refusal(write)


# Rows that it may insert.


def forged(write: WriteRequest, by: Any, **changed: Any) -> Decision:
    """A row as `by` would have made it, with its entry of the log, and without a signature."""
    seen = Preview.objects.filter(write=write).latest("pk")
    made = deciding._decision(write, by, deciding.Act.APPROVE, "Forged.", seen, "passkey")
    for name, value in changed.items():
        setattr(made, name, value)
    deciding._state(made, digests.approval_statement(made, approver=by.username, nonce="f" * 64))
    made.save(force_insert=True)
    log.record_with(Kind.WRITE_APPROVED, by.actor(), subject=write.ref, args=recorded.of(made))
    return made


def test_no_row_that_the_people_may_insert_stands_for_the_second_approval(
    target: Any, previewed: Any, mia: Any, key: SoftwareKey, make_person: Any
) -> None:
    write, kim = previewed(), make_person("kim", "on_call")
    other = SoftwareKey()
    pinned_key(kim, other)
    first = signed(write, mia, key)
    answer: dict[str, str] = dict(first.assertion or {})
    own = {**answer, "credential": keys.live(kim).get().credential_id}
    attempts: list[dict[str, Any]] = [
        {}, {"assertion": answer}, {"assertion": own}, {"method": "password"}, {"method": "password", "assertion": own},
        {"method": ""}, {"method": "session"}, {"act": deciding.Act.BREAK_GLASS, "assertion": answer},
        {"expires_at": timezone.now() + timedelta(days=9), "assertion": own}, {"role": "admin", "assertion": own},
    ]  # fmt: skip
    for changed in attempts:
        with transaction.atomic():
            forged(write, kim, **changed)
            assert refusal(write), changed
            transaction.set_rollback(True)
    said = first.statement
    oddities: tuple[Any, ...] = (
        [],
        "said",
        {},
        {**said, "edition": True},
        {**said, "edition": 1.0},
        {**said, "more": 1},
    )
    for statement in oddities:
        with transaction.atomic():
            Decision.objects.filter(pk=first.pk).update(statement=statement)
            assert refusal(write), statement
            transaction.set_rollback(True)
    with transaction.atomic():  # the same person once more, with the signature that is there
        forged(write, mia, assertion=answer)
        assert refusal(write)
        transaction.set_rollback(True)
    signed(write, kim, other)
    assert refusal(write) == ""


def weaker(policy: dict[str, Any], name: str = "shop", *, is_vouched: bool = True) -> Definition:
    """A version that nobody activated, as a row; with an entry that vouches for it, or as the row alone."""
    made = {**BODY, "policy": {**POLICY, **policy}}
    Definition.objects.filter(kind="target", name=name).update(status="retired")
    last = Definition.objects.filter(kind="target", name=name).order_by("-version").first()
    person = Person.objects.earliest("pk")
    version = Definition.objects.create(
        kind="target", name=name, version=last.version + 1 if last else 1, body=made, reason="", status="active",
        digest=twohands.digest_of("target", name, made), drafted_by=person, activated_by=person,
        activated_at=timezone.now(),
    )  # fmt: skip
    if is_vouched:
        with transaction.atomic():
            said = {"rows": vouching.rows(version)}
            log.record_with(Kind.DEFINITION_ACTIVATED, log.Actor.person(person), subject=str(version), args=said)
    return version


def test_a_policy_that_is_a_row_alone_is_none(target: Any, propose: Any, mia: Any, approve: Any) -> None:
    weaker({}, is_vouched=False)
    write = propose()
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write)
    assert refusal(write).endswith("of shop was put in force as it is.")
    status, _ = run(write)
    assert status == "failed"


@pytest.mark.parametrize("name", ["shop", "elsewhere"])
@pytest.mark.parametrize("floor", [{}, {"WRITES_TEST_DSN": 1}, {"WRITES_TEST_DSN": 2}])
def test_a_policy_that_was_slipped_in_goes_below_no_floor_of_the_writer(
    target: Any, propose: Any, mia: Any, approve: Any, settings: Any, name: str, floor: dict[str, int]
) -> None:
    """The target's rows say that a password of one person does; the writer's own environment says otherwise."""
    weaker({}, name)
    write = propose(target=name)
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write)
    assert refusal(write) == ""  # with its entry, nothing but a floor tells it from one that two admins put in force
    settings.WRITE_FLOOR = floor
    assert bool(refusal(write)) is bool(floor)
    status, _ = run(write)
    assert status == ("failed" if floor else "executed")


def test_a_floor_of_two_is_met_by_two_people_and_by_no_glass_that_one_breaks(
    define: Any, target: Any, previewed: Any, mia: Any, key: SoftwareKey, make_person: Any, settings: Any
) -> None:
    settings.WRITE_FLOOR = {"WRITES_TEST_DSN": 2}
    define("target", "shop", body(method="passkey", approvers={"on_call": 2}, break_glass=True))
    write, kim, other = previewed(), make_person("kim", "on_call"), SoftwareKey()
    pinned_key(kim, other)
    answer = key.sign(offered(write, mia, "break_glass"))
    deciding.decide(write, by=mia, assertion=answer, session=SESSION, **shown(write, "break_glass"))
    assert "The writer asks for 2 with a passkey" in refusal(write)
    second = previewed(parameters=[{"t": "text", "v": "queued"}, {"t": "bigint", "v": "8"}, REQUEUE_PARAMETERS[2]])
    signed(second, mia, key)
    signed(second, kim, other)
    assert refusal(second) == ""


@pytest.mark.parametrize("said", ["A", "A:", ":2", "A:0", "A:-1", "A:1,A:2", "A:two", "A:²"])
def test_a_floor_that_cannot_be_read_stops_the_process(monkeypatch: Any, said: str) -> None:
    monkeypatch.setenv("COUNTERSEAL_WRITE_FLOOR", said)
    with pytest.raises(ImproperlyConfigured, match="COUNTERSEAL_WRITE_FLOOR"):
        environment.counts("COUNTERSEAL_WRITE_FLOOR")


# Rows that somebody sets back.


@pytest.fixture
def lone_target(define: Any, target: Any) -> Any:
    """One person approves."""
    return define("target", "shop", body(method="passkey"))


def set_back(write: WriteRequest, status: str = "approved") -> None:
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    outbox.enqueue(execute_jobs.EXECUTE, "writes", write.pk)


def test_what_the_writer_closed_stays_closed(
    lone_target: Any, previewed: Any, mia: Any, key: SoftwareKey, job: Any, monkeypatch: Any
) -> None:
    """People have seen that it failed, and may have proposed it again."""
    write = previewed()
    signed(write, mia, key)
    with monkeypatch.context() as patch:
        patch.setattr("audit.alarm.why_off", lambda: "The log does not verify.")
        assert run(write)[0] == "failed"
    set_back(write)
    assert "was over after it was approved" in refusal(write)
    assert run(write)[0] == "failed"
    assert job(7) == "running"


@pytest.mark.parametrize("status", ["rejected", "waiting", "approved", "failed", "executed", "settled_failed"])
def test_a_status_hides_no_execution(
    lone_target: Any, previewed: Any, mia: Any, key: SoftwareKey, job: Any, shop: Any, monkeypatch: Any, status: str
) -> None:
    write = previewed()
    signed(write, mia, key)
    with monkeypatch.context() as patch:
        crash_after(patch, "_commit")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    set_back(write, status)
    found, done = run(write)
    assert done is not None
    assert (found, done.state, job(7)) == ("executed", "executed", "queued")
    assert shop.execute("select count(*) from shop.gate_ledger").fetchone() == (1,)
    assert Entry.objects.filter(subject=write.ref, kind="write.executed", at__gte=write.proposed_at).count() == 1


def test_a_status_that_changes_while_it_runs_hides_no_execution(
    lone_target: Any, previewed: Any, mia: Any, key: SoftwareKey, job: Any, monkeypatch: Any
) -> None:
    write = previewed()
    signed(write, mia, key)
    kept = execution._commit

    def commit(target: Any) -> None:
        kept(target)
        WriteRequest.objects.filter(pk=write.pk).update(status="withdrawn")

    monkeypatch.setattr(execution, "_commit", commit)
    found, done = run(write)
    assert done is not None
    assert (found, done.state, job(7)) == ("executed", "executed", "queued")


def test_a_canary_runs_never_whatever_its_rows_say(
    lone_target: Any, agent: Any, define: Any, mia: Any, key: SoftwareKey, monkeypatch: Any, shop: Any
) -> None:
    """Also once the writer holds a credential under the name that none was held under."""
    define("target", "orders", {**OLD_CREDENTIAL, "policy": {**POLICY, "method": "passkey"}})
    canary_placing.plan(CANARY, placed_by="root")
    write = canary_placing.place_due()
    assert write is not None
    admitting.admit(write.pk)
    preview.make(actions.ask_preview(write, mia).pk)
    signed(write, mia, key)
    set_back(write)
    assert "placed to be turned down" in refusal(write)
    monkeypatch.setenv("ORDERS_WRITER_DSN", os.environ["WRITES_TEST_DSN"])
    assert run(write)[0] == "failed"
    assert shop.execute("select count(*) from shop.jobs where state = 'cancelled'").fetchone() == (0,)
    assert Canary.objects.filter(write=write).exists()


def test_an_agent_that_changes_hands_leaves_its_owner_a_party(
    lone_target: Any, previewed: Any, agent: Any, mia: Any, job: Any
) -> None:
    """Whoever answered for the proposal approves nothing of it, also when somebody else owns the agent since."""
    write, jonas, own = previewed(), Person.objects.get(pk=agent.owner_id), SoftwareKey()
    pinned_key(jonas, own)
    Agent.objects.filter(pk=agent.agent_id).update(owner=mia, owner_name="mia")
    signed(write, jonas, own)
    assert "owns the agent that did" in refusal(write)
    assert run(write)[0] == "failed"
    assert job(7) == "running"


def test_a_pinned_key_counts_under_the_name_that_it_was_pinned_for(
    lone_target: Any, previewed: Any, mia: Any, key: SoftwareKey
) -> None:
    Person.objects.filter(pk=mia.pk).update(username="kim")
    mia.refresh_from_db()
    write = previewed()
    signed(write, mia, key)
    assert "not on the writer" in refusal(write)


def test_a_write_stays_open_no_longer_than_its_policy_says(
    lone_target: Any, propose: Any, mia: Any, key: SoftwareKey
) -> None:
    write = propose(REQUEUE, REQUEUE_PARAMETERS)
    longest = targets.of(write.target).policy.expiry_seconds
    for more, is_refused in ((timedelta(seconds=20), False), (timedelta(days=300), True)):
        write.expires_at = timezone.now() + timedelta(seconds=longest) + more
        write.proposal_digest, write.status = digests.of_proposal(write), WriteRequest.Status.PROPOSED
        with transaction.atomic():
            write.save()
            admitting.admit(write.pk)
            write.refresh_from_db()
            preview.make(actions.ask_preview(write, mia).pk)
            signed(write, mia, key)
            assert ("longer than the policy" in refusal(write)) is is_refused
            transaction.set_rollback(True)


def test_an_execution_runs_under_the_approvals_that_it_was_claimed_with(
    lone_target: Any, previewed: Any, mia: Any, key: SoftwareKey, job: Any, monkeypatch: Any
) -> None:
    """Between claim and run other rows come; the record names those that opened the gate, or nothing runs."""
    write = previewed()
    decision = signed(write, mia, key)
    kept = execution._enter

    def enter(*given: Any) -> str:
        Decision.objects.filter(pk=decision.pk).delete()
        WriteRequest.objects.filter(pk=write.pk).update(status="waiting")
        signed(write, mia, key)
        return kept(*given)

    monkeypatch.setattr(execution, "_enter", enter)
    found, done = run(write)
    assert done is not None
    assert (found, job(7)) == ("failed", "running")
    assert "other approvals now" in done.error


@pytest.mark.django_db(transaction=True)
def test_a_revoked_key_stays_revoked(mia: Any, as_role: Any) -> None:
    made = enrolled(mia, SoftwareKey())
    keys.revoke(made.pk, by=mia)
    as_role("people")
    for value in (None, timezone.now()):
        with pytest.raises(DatabaseError, match="stays revoked"):
            Key.objects.filter(pk=made.pk).update(revoked_at=value)
    as_role("owner")
    assert Key.objects.get(pk=made.pk).revoked_at is not None


# Two at once.


@pytest.mark.django_db(transaction=True)
def test_two_approvals_at_once_do_not_both_take_the_last_place_of_an_hour(
    define: Any, target: Any, previewed: Any, mia: Any, approve: Any, settings: Any, monkeypatch: Any
) -> None:
    define("target", "shop", body())
    settings.APPROVALS_PER_HOUR = 1
    writes = [previewed(f"update shop.jobs set state = 'queued' where job_id = {number}") for number in (1, 2)]
    both, kept = threading.Barrier(2), guards.check_act

    def check(*given: Any) -> None:
        kept(*given)
        # Who has passed waits for the other one to pass as well; whoever has to take turns comes alone.
        with suppress(threading.BrokenBarrierError):
            both.wait(1)

    monkeypatch.setattr(guards, "check_act", check)

    def press(write: WriteRequest) -> None:
        try:
            with suppress(NotAllowed):
                approve(write)
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[one]) for one in writes]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert Decision.objects.count() == 1
