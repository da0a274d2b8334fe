from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit import outbox
from audit.models import Definition, Entry, Outbox
from gate.writes import deciding, digests, execution, quorum, tasks
from gate.writes.attempts import Outcome, Refused, Status
from gate.writes.models import Decision, Execution, Preview, WriteRequest
from tests.writes.conftest import body

pytestmark = pytest.mark.django_db


def run(write: Any) -> tuple[str, Execution | None]:
    """Run it, and give the status and the execution that there are then."""
    execution.execute(write.pk)
    write.refresh_from_db()
    return write.status, Execution.objects.filter(write=write).first()


def ledger(shop: Any) -> int:
    return int(shop.execute("select count(*) from shop.gate_ledger").fetchone()[0])


def test_an_approved_write_runs_once_and_shows_what_it_did(approved: Any, job: Any, entries: Any, shop: Any) -> None:
    write = approved()
    assert job(7) == "running"
    execution.execute(write.pk)
    status, done = run(write)
    assert done is not None
    assert (job(7), status, done.state, done.row_count, done.attempt) == ("queued", "executed", "executed", 1, 1)
    assert (done.rows[0]["key"], done.rows[0]["after"]["state"]) == ({"job_id": "7"}, "queued")
    assert done.rows[0]["after"]["updated_at"]  # assigned at execution, and now known
    assert done.effect_digest == Preview.objects.get(write=write).effect_digest
    assert [entry.kind for entry in entries(write.ref)] == [
        "write.proposed", "write.admitted", "write.previewed", "write.approved", "write.claimed", "write.executed",
    ]  # fmt: skip
    kept = shop.execute("select approval_id::text, write_ref, effect from shop.gate_ledger").fetchall()
    assert [(row[0], row[1], row[2]["xid"]) for row in kept] == [(str(done.ledger_key), write.ref, done.target_xid)]
    assert shop.execute("select count(*) from shop.job_events").fetchone() == (1,)


@pytest.mark.parametrize("statement", [
    "insert into shop.jobs (job_id, kind, state) values (99, 'a', 'b')", "delete from shop.jobs where job_id = 1",
    "update shop.jobs set run_after = now() where job_id in (2, 3)", "delete from shop.lie where false",
])  # fmt: skip
def test_each_verb_runs_as_previewed(approved: Any, statement: str) -> None:
    write = approved(statement)
    status, done = run(write)
    assert done is not None
    assert (status, done.error) == ("executed", "")
    assert done.effect_digest == Preview.objects.get(write=write).effect_digest


def test_a_write_that_nobody_approved_never_runs(previewed: Any, job: Any) -> None:
    write = previewed()
    assert run(write) == ("waiting", None)
    assert job(7) == "running"


@pytest.mark.parametrize("status", ["rejected", "withdrawn", "expired", "failed", "refused_stale", "executed"])
def test_a_write_that_is_over_never_runs(approved: Any, job: Any, status: str) -> None:
    write = approved()
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    assert run(write) == (status, None)
    assert job(7) == "running"


# What may have moved in the target between approval and run.
MOVES = {
    "the row": "update shop.jobs set attempts = 9 where job_id = 7",
    "the row left the WHERE": "update shop.jobs set state = 'done' where job_id = 7",
    "the row is gone": "delete from shop.jobs where job_id = 7",
    "only whitespace in json": "update shop.jobs set payload = '{\"a\": 1}' where job_id = 7",
    "a column more": "alter table shop.jobs add column more int default 1",
    "a trigger more": "create trigger note_again after update on shop.jobs for each row execute function shop.note()",
    "a trigger less": "drop trigger note on shop.jobs",
    "another value by trigger": "create or replace function shop.touch() returns trigger language plpgsql as"
    " $$ begin new.attempts := 77; new.updated_at := clock_timestamp(); return new; end $$",
}


@pytest.mark.parametrize("what", MOVES)
def test_a_target_that_moved_is_refused_with_what_changed(
    approved: Any, shop: Any, job: Any, entries: Any, what: str
) -> None:
    write = approved()
    shop.execute(MOVES[what])
    status, done = run(write)
    assert (status, ledger(shop)) == ("refused_stale", 0)
    assert done is not None
    assert done.error
    if what == "the row":
        (row,) = done.rows
        assert (row["before"]["attempts"], row["after"]["attempts"]) == ("0", "9")
    if what == "the row left the WHERE":
        (row,) = done.rows
        assert (done.row_count, row["before"]["state"], row["after"]["state"]) == (0, "running", "done")
    if what == "the row is gone":
        assert (done.rows[0]["before"]["state"], done.rows[0]["after"]) == ("running", None)
    if what == "another value by trigger":
        assert (done.rows[0]["before"]["attempts"], done.rows[0]["after"]["attempts"]) == ("0", "77")
    refused = entries(write.ref)[-1]
    assert (refused.kind, refused.status) == ("write.refused_stale", "stale")
    assert run(write)[0] == "refused_stale"


def test_one_row_more_that_matches_is_refused(approved: Any, shop: Any) -> None:
    write = approved("update shop.jobs set state = 'queued' where kind = 'rare' or job_id = 7")
    shop.execute("update shop.jobs set kind = 'rare' where job_id = 8")
    status, done = run(write)
    assert done is not None
    assert (status, done.row_count, done.rows[0]["key"]) == ("refused_stale", 2, {"job_id": "8"})


def test_a_row_that_has_nothing_to_do_with_it_may_change(approved: Any, shop: Any) -> None:
    write = approved()
    shop.execute("update shop.jobs set attempts = 5 where job_id = 8")
    assert run(write)[0] == "executed"


def test_a_statement_that_waits_for_its_hour_is_refused(approved: Any, shop: Any) -> None:
    write = approved(
        "update shop.jobs set price = case when now() > $1 then 0 else price + 1 end where job_id = 1",
        [{"t": "timestamptz", "v": (timezone.now() + timedelta(seconds=1)).isoformat().replace("+00:00", "Z")}],
    )
    shop.execute("select pg_sleep(1.1)")
    assert run(write)[0] == "refused_stale"
    assert shop.execute("select price from shop.jobs where job_id = 1").fetchone()[0] > 0


def test_an_error_of_the_target_fails_the_write(approved: Any, shop: Any, job: Any, entries: Any) -> None:
    write = approved()
    shop.execute("alter table shop.jobs add constraint no check (state <> 'queued') not valid")
    status, done = run(write)
    assert done is not None
    assert (status, job(7), ledger(shop)) == ("failed", "running", 0)
    assert "violates check constraint" in done.error
    assert entries(write.ref)[-1].kind == "write.failed"


def test_many_more_rows_than_approved_are_refused_without_reading_them_all(approved: Any, shop: Any) -> None:
    write = approved("update shop.jobs set state = 'queued' where state = 'running' and job_id < 3")
    shop.execute("update shop.jobs set job_id = -job_id where job_id > 5")
    status, done = run(write)
    assert done is not None
    assert (status, ledger(shop), done.rows) == ("refused_stale", 0, [])
    assert "more than 10 rows" in done.error


def test_a_ledger_that_lost_its_key_since_the_preview_runs_nothing(approved: Any, shop: Any, job: Any) -> None:
    write = approved()
    shop.execute("alter table shop.gate_ledger drop constraint gate_ledger_pkey")
    status, done = run(write)
    assert done is not None
    assert (status, job(7)) == ("failed", "running")
    assert "proves nothing" in done.error


def test_a_session_that_is_ended_at_its_commit_has_not_said_no() -> None:
    class Session:
        closed = False

        def execute(self, text: str) -> None:
            raise psycopg.errors.AdminShutdown("terminating connection due to administrator command")

    with pytest.raises(Refused) as refused:
        execution._commit(Session())  # type: ignore[arg-type]
    assert refused.value.outcome.status == Status.UNKNOWN


def test_a_lock_that_is_not_released_fails_the_write(approved: Any, shop: Any) -> None:
    write = approved()
    with psycopg.connect(shop.info.dsn) as rival:
        rival.execute("select 1 from shop.jobs where job_id = 7 for update")
        status, done = run(write)
    assert done is not None
    assert (status, ledger(shop)) == ("failed", 0)
    assert "Another session holds a lock" in done.error


def test_a_target_that_is_away_fails_the_first_attempt(approved: Any, monkeypatch: Any) -> None:
    write = approved()
    monkeypatch.setenv("WRITES_TEST_DSN", "host=/nowhere dbname=shop")
    status, done = run(write)
    assert done is not None
    assert (status, "could not be reached" in done.error) == ("failed", True)


def tampered(approved_write: Any) -> dict[str, Any]:
    """Every way of changing one stored part of an approval, by name."""
    decision = Decision.objects.get(write=approved_write)
    seen = Preview.objects.get(write=approved_write)
    rows = copy.deepcopy(seen.rows)
    rows[0]["before"]["state"] = "a lie"
    said = {**decision.statement, "write": "W-1"}
    write, decisions, previews = (model.objects.filter(pk=of.pk) for model, of in (
        (WriteRequest, approved_write), (Decision, decision), (Preview, seen)))  # fmt: skip
    later = timezone.now() + timedelta(days=1)
    other_key, other_columns = copy.deepcopy(seen.rows), copy.deepcopy(seen.rows)
    other_key[0]["key"], other_columns[0]["columns"] = {"job_id": "8"}, ["state"]
    return {
        "preview key": lambda: previews.update(rows=other_key),
        "preview columns": lambda: previews.update(rows=other_columns),
        "statement": lambda: write.update(
            statement="DELETE FROM shop.jobs WHERE job_id = $2 AND state = $3 OR 'a' = $1"
        ),
        "parameters": lambda: write.update(parameters=[{"t": "text", "v": "gone"}, *approved_write.parameters[1:]]),
        "title": lambda: write.update(title="Harmless"),
        "table": lambda: write.update(table="shop.lie"),
        "expiry": lambda: write.update(expires_at=later),
        "proposal digest": lambda: write.update(proposal_digest="0" * 64),
        "preview rows": lambda: previews.update(rows=rows),
        "preview effect": lambda: previews.update(effect_digest="0" * 64),
        "preview footprint": lambda: previews.update(footprint={}),
        "preview volatile": lambda: previews.update(volatile=["updated_at", "state"]),
        "preview digest": lambda: previews.update(digest="0" * 64),
        "approval digest": lambda: decisions.update(digest="0" * 64),
        "approval expiry": lambda: decisions.update(expires_at=later),
        "approval statement": lambda: decisions.update(statement=said, digest=digests.of_approval(said)),
        "target body": lambda: Definition.objects.filter(pk=approved_write.target_id).update(body=body(row_cap=999)),
        "target digest": lambda: Definition.objects.filter(pk=approved_write.target_id).update(digest="0" * 64),
    }


PARTS = [
    "preview key", "preview columns", "statement", "parameters", "title", "table", "expiry", "proposal digest",
    "preview rows", "preview effect", "preview footprint", "preview volatile", "preview digest", "approval digest",
    "approval expiry", "approval statement", "target body", "target digest",
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_one_part_changed_after_approval_runs_nothing(
    approved: Any, job: Any, entries: Any, shop: Any, part: str
) -> None:
    write = approved()
    assert sorted(tampered(write)) == sorted(PARTS)
    tampered(write)[part]()
    assert run(write)[0] == "failed"
    assert (job(7), ledger(shop)) == ("running", 0)
    assert (entries(write.ref)[-1].kind, entries(write.ref)[-1].status) == ("write.failed", "refused")


def test_a_status_set_by_hand_runs_nothing(previewed: Any, job: Any) -> None:
    write = previewed()
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    assert run(write) == ("failed", None)
    assert job(7) == "running"


def test_an_approval_that_someone_stopped_stays_stopped(
    approved: Any, make_person: Any, job: Any, approve: Any
) -> None:
    write = approved()
    noor = make_person("noor", "on_call")
    approve(write, by=noor, act="reject", reason="Not now.")
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    assert run(write)[0] == "failed"
    assert job(7) == "running"


@pytest.mark.parametrize("status", ["approved", "executing", "unknown"])
def test_an_attempt_that_is_over_is_not_taken_up_by_its_status(approved: Any, shop: Any, job: Any, status: str) -> None:
    write = approved()
    shop.execute("alter table shop.jobs disable trigger user")
    shop.execute("update shop.jobs set attempts = 9 where job_id = 7")
    assert run(write)[0] == "refused_stale"
    shop.execute("update shop.jobs set attempts = 0 where job_id = 7")
    shop.execute("alter table shop.jobs enable trigger user")  # and now the effect would be the approved one again
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    run(write)
    assert (job(7), ledger(shop)) == ("running", 0)


def test_an_approval_whose_entry_was_changed_runs_nothing(approved: Any, job: Any) -> None:
    write = approved()
    entry = Entry.objects.filter(subject=write.ref, kind="write.approved").latest("seq")
    with connection.cursor() as cursor:
        cursor.execute("alter table audit_payload disable trigger all")
        cursor.execute("update audit_payload set args = 'x' where entry_id = %s", [entry.pk])
    assert run(write)[0] == "failed"
    assert job(7) == "running"


def forged(write: Any, by: Any) -> Decision:
    """An approval that is right in every digest, put into the table without the people's plane."""
    seen = quorum.latest_preview(write)
    decision = deciding._decision(write, by, Decision.Act.APPROVE, "forged", seen, "password")
    deciding._state(decision, digests.approval_statement(decision, approver=by.username, nonce="0" * 32))
    decision.save()
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    return decision


def test_an_approval_without_its_entry_runs_nothing(previewed: Any, mia: Any, job: Any) -> None:
    write = previewed()
    forged(write, mia)
    assert run(write)[0] == "failed"
    assert job(7) == "running"
    assert "no intact entry" in Entry.objects.filter(subject=write.ref).latest("seq").error


def test_an_approval_copied_to_another_write_runs_nothing(approved: Any, previewed: Any, shop: Any, mia: Any) -> None:
    first, second = approved(), previewed("delete from shop.jobs where job_id = 8")
    approval = Decision.objects.get(write=first)
    run(first)
    approval.pk, approval.write, approval.preview = None, second, quorum.latest_preview(second)
    from uuid import uuid4

    approval.id = uuid4()
    with pytest.raises(IntegrityError, match="one_decision_per_digest"), transaction.atomic():
        approval.save(force_insert=True)
    approval.digest = "0" * 64
    approval.save(force_insert=True)
    WriteRequest.objects.filter(pk=second.pk).update(status="approved")
    assert run(second)[0] == "failed"
    assert ledger(shop) == 1


@pytest.mark.parametrize(
    "change", [{"role": "viewer"}, {"role": "admin"}, {"is_active": False}, {"username": "someone-else"}]
)
def test_an_approver_who_may_not_decide_any_more_runs_nothing(approved: Any, mia: Any, job: Any, change: Any) -> None:
    from gate.people.models import Person

    write = approved()
    Person.objects.filter(pk=mia.pk).update(**change)
    assert run(write)[0] == "failed"
    assert job(7) == "running"


def test_the_owner_of_the_agent_has_not_approved_it(previewed: Any, agent: Any, job: Any, mia: Any) -> None:
    from audit.models import Agent

    write = previewed()
    decision = forged(write, mia)
    deciding._record_decision(decision)
    Agent.objects.filter(pk=agent.agent_id).update(owner=mia)
    assert run(write)[0] == "failed"
    assert job(7) == "running"


def test_a_newer_version_of_the_target_voids_the_approval(approved: Any, define: Any, job: Any) -> None:
    write = approved()
    define("target", "shop", body(row_cap=5))
    assert run(write)[0] == "failed"
    assert job(7) == "running"


@pytest.mark.parametrize("model", ["write", "decision"])
def test_an_approval_that_ended_by_the_databases_clock_runs_nothing(
    previewed: Any, approve: Any, define: Any, job: Any, entries: Any, monkeypatch: Any, model: str
) -> None:
    if model == "write":
        define("target", "shop", body(expiry_seconds=1))
    else:
        monkeypatch.setattr(deciding, "APPROVAL_LASTS", timedelta(seconds=1))
    write = previewed()
    approve(write)
    with connection.cursor() as cursor:
        cursor.execute("select pg_sleep(1.1)")
    assert run(write)[0] == "expired"
    assert job(7) == "running"
    assert entries(write.ref)[-1].kind == "write.expired"


def test_a_forged_message_runs_nothing(previewed: Any, job: Any) -> None:
    write = previewed()
    outbox.enqueue("gate.writes.tasks.execute_write", "writes", write.pk)
    tasks.execute_write(Outbox.objects.get(task="gate.writes.tasks.execute_write", subject_id=write.pk).pk)
    assert job(7) == "running"


def test_a_job_delivered_many_times_has_one_effect(approved: Any, shop: Any) -> None:
    write = approved()
    job_id = Outbox.objects.get(task="gate.writes.tasks.execute_write", subject_id=write.pk).pk
    for _ in range(5):
        tasks.execute_write(job_id)
    assert (ledger(shop), shop.execute("select count(*) from shop.job_events").fetchone()) == (1, (1,))
    assert Outbox.objects.get(pk=job_id).done_at is not None


def crash_after(monkeypatch: Any, name: str) -> None:
    """Make the writer die, as far as a process can show, right after a step."""
    kept = getattr(execution, name)

    def step(*given: Any) -> Any:
        kept(*given)
        raise SystemExit(name)

    monkeypatch.setattr(execution, name, step)


def test_a_crash_between_commit_and_recording_is_found_in_the_ledger(
    approved: Any, shop: Any, monkeypatch: Any, entries: Any
) -> None:
    write = approved()
    with monkeypatch.context() as patch:
        crash_after(patch, "_commit")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, ledger(shop)) == ("executing", 1)
    status, done = run(write)
    assert done is not None
    assert (status, done.attempt, done.row_count, ledger(shop)) == ("executed", 2, 1, 1)
    assert done.effect_digest == Preview.objects.get(write=write).effect_digest
    assert done.target_xid == shop.execute("select effect->>'xid' from shop.gate_ledger").fetchone()[0]
    assert "updated_at" not in done.rows[0]["after"]  # nobody kept it, so nobody claims to know it
    assert [entry.kind for entry in entries(write.ref)][-3:] == ["write.claimed", "write.claimed", "write.executed"]
    assert shop.execute("select count(*) from shop.job_events").fetchone() == (1,)


def test_a_write_that_committed_is_executed_even_when_its_approval_ended_since(
    approved: Any, shop: Any, monkeypatch: Any
) -> None:
    write = approved()
    with monkeypatch.context() as patch:
        crash_after(patch, "_commit")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    WriteRequest.objects.filter(pk=write.pk).update(expires_at=timezone.now() - timedelta(hours=1))
    assert run(write)[0] == "executed"


def test_a_write_that_did_not_commit_is_not_run_after_its_approval_ended(
    approved: Any, shop: Any, job: Any, monkeypatch: Any
) -> None:
    write = approved()
    with monkeypatch.context() as patch:
        crash_after(patch, "_change")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    WriteRequest.objects.filter(pk=write.pk).update(expires_at=timezone.now() - timedelta(hours=1))
    assert run(write)[0] == "failed"  # the expiry is part of the proposal, so moving it is no expiry but a forgery
    assert (job(7), ledger(shop)) == ("running", 0)


def lose_connection(monkeypatch: Any, *, committed: bool) -> None:
    """The target's answer to COMMIT is lost; the commit itself was done, or was not."""

    def lost(session: Any) -> None:
        if committed:
            session.execute("COMMIT")
        session.close()
        raise Refused(Outcome(Status.UNKNOWN, error="The connection to the target was lost."))

    monkeypatch.setattr(execution, "_commit", lost)


@pytest.mark.parametrize("committed", [True, False])
def test_a_lost_answer_is_unknown_until_the_ledger_says(
    approved: Any, shop: Any, job: Any, monkeypatch: Any, committed: bool
) -> None:
    write = approved()
    with monkeypatch.context() as patch:
        lose_connection(patch, committed=committed)
        with pytest.raises(execution.TryAgain):
            execution.execute(write.pk)
    write.refresh_from_db()
    assert write.status == "unknown"
    status, done = run(write)
    assert done is not None
    assert (status, job(7), ledger(shop), done.attempt) == ("executed", "queued", 1, 2)
    assert shop.execute("select count(*) from shop.job_events").fetchone() == (1,)


def test_the_commit_answer_of_a_dead_session_is_unknown(approved: Any, shop: Any, monkeypatch: Any) -> None:
    write = approved()
    kept = execution._check_newest_attempt

    def end_session(claim: Any) -> None:
        kept(claim)
        shop.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'writes_test_writer'"
            " and datname = current_database()"
        )

    with monkeypatch.context() as patch:
        patch.setattr(execution, "_check_newest_attempt", end_session)
        with pytest.raises(execution.TryAgain):
            execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, ledger(shop)) == ("unknown", 0)
    assert run(write)[0] == "executed"


def test_a_target_that_is_away_later_leaves_it_unknown(approved: Any, shop: Any, monkeypatch: Any) -> None:
    write = approved()
    with monkeypatch.context() as patch:
        crash_after(patch, "_commit")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    with monkeypatch.context() as patch:
        patch.setenv("WRITES_TEST_DSN", "host=/nowhere dbname=shop")
        with pytest.raises(execution.TryAgain):
            execution.execute(write.pk)
    write.refresh_from_db()
    assert write.status == "unknown"
    assert run(write)[0] == "executed"


def test_a_ledger_row_with_another_effect_is_not_believed(approved: Any, shop: Any, job: Any) -> None:
    write = approved()
    shop.execute(
        "insert into shop.gate_ledger (approval_id, write_ref, proposal_digest, effect) values (%s, 'W-1', 'x', '{}')",
        [str(digests.ledger_key(write))],
    )
    with pytest.raises(execution.TryAgain):
        execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("unknown", "running")


def test_a_paused_attempt_that_was_overtaken_writes_nothing(approved: Any, shop: Any, monkeypatch: Any) -> None:
    write = approved()
    kept = execution._enter
    paused: list[str] = []

    def enter(session: Any, claim: Any) -> str:
        if not paused:
            paused.append("here")
            # While this attempt stands still before the ledger, another one runs through.
            execution.execute(write.pk)
        return kept(session, claim)

    monkeypatch.setattr(execution, "_enter", enter)
    with pytest.raises(execution.TryAgain):
        execution.execute(write.pk)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, ledger(shop)) == ("executed", 1)
    assert Execution.objects.get(write=write).attempt == 2
    assert shop.execute("select count(*) from shop.job_events").fetchone() == (1,)


def test_an_attempt_that_was_overtaken_after_the_ledger_stops_before_its_commit(
    approved: Any, shop: Any, monkeypatch: Any
) -> None:
    write = approved()
    kept = execution._change
    overtaken: list[int] = []

    def change(session: Any, approved_write: Any) -> Any:
        found = kept(session, approved_write)
        if not overtaken:
            overtaken.append(1)
            Execution.objects.filter(write=write).update(attempt=2)  # another writer claimed it
        return found

    monkeypatch.setattr(execution, "_change", change)
    with pytest.raises(execution.TryAgain):
        execution.execute(write.pk)
    assert ledger(shop) == 0
    write.refresh_from_db()
    assert write.status == "executing"  # the older attempt recorded nothing either
    assert run(write)[0] == "executed"
    assert ledger(shop) == 1


def test_a_commit_is_synchronous_and_repeatable_read(approved: Any, shop: Any, monkeypatch: Any) -> None:
    shop.execute("alter role writes_test_writer set synchronous_commit = off")
    seen: list[Any] = []
    kept = execution._commit

    def commit(session: Any) -> None:
        seen.append(
            [session.execute(f"show {name}").fetchone()[0] for name in ("synchronous_commit", "transaction_isolation")]
        )
        kept(session)

    monkeypatch.setattr(execution, "_commit", commit)
    try:
        assert run(approved())[0] == "executed"
    finally:
        shop.execute("alter role writes_test_writer reset all")
    assert seen == [["on", "repeatable read"]]
