"""A target without a ledger: the transaction's number, noted before the commit, says what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from gate.writes import execution, xid
from gate.writes.models import Execution, Preview
from tests.writes.conftest import BODY
from tests.writes.test_execution import crash_after, run
from tests.writes.test_kills import effects

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(define: Any, shop: Any) -> Any:
    """The shop as a target that keeps no ledger."""
    shop.execute("drop table shop.gate_ledger")
    return define("target", "shop", {**BODY, "ledger": None})


def crash(write: Any, step: str, monkeypatch: Any) -> None:
    with monkeypatch.context() as patch:
        crash_after(patch, step)
        with pytest.raises(SystemExit):
            execution.execute(write.pk)


def unknown(write: Any) -> str:
    """Run it, and give the sentence with which nobody knows."""
    with pytest.raises(execution.TryAgain):
        execution.execute(write.pk)
    write.refresh_from_db()
    assert write.status == "unknown"
    return Execution.objects.get(write=write).error


def note(write: Any, **changed: str) -> None:
    done = Execution.objects.get(write=write)
    done.noted = {**done.noted, **changed}
    done.save(update_fields=["noted"])


def test_it_runs_once_and_the_log_of_the_target_names_the_key(approved: Any, shop: Any) -> None:
    write = approved()
    status, done = run(write)
    assert done is not None
    assert (status, effects(shop), done.noted["xid"]) == ("executed", 1, done.target_xid)
    assert shop.execute("select pg_xact_status(%s::xid8)", [done.target_xid]).fetchone() == ("committed",)
    flushed = shop.execute("select pg_current_wal_flush_lsn() >= %s::pg_lsn", [done.noted["lsn"]]).fetchone()
    assert flushed == (True,)


@pytest.mark.parametrize("step", ["_claim", "_enter", "_change", "_check_newest_attempt", "_commit"])
def test_a_crash_at_any_step_leaves_one_effect_after_the_next_run(
    approved: Any, shop: Any, monkeypatch: Any, step: str
) -> None:
    write = approved()
    crash(write, step, monkeypatch)
    assert effects(shop) == int(step == "_commit")
    status, done = run(write)
    assert done is not None
    assert (status, effects(shop), done.attempt) == ("executed", 1, 2)
    assert done.effect_digest == Preview.objects.get(write=write).effect_digest


def test_a_session_that_stands_still_is_ended_before_another_one_runs(
    approved: Any, shop: Any, monkeypatch: Any
) -> None:
    """The first writer is past every check, and its COMMIT comes after the second one has run."""
    write = approved()
    kept, rounds = execution._check_newest_attempt, []

    def stand_still(claim: Any) -> None:
        kept(claim)
        rounds.append(claim.attempt)
        if len(rounds) == 1:
            execution.execute(write.pk)

    monkeypatch.setattr(execution, "_check_newest_attempt", stand_still)
    with pytest.raises(execution.TryAgain):
        execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, rounds, effects(shop)) == ("executed", [1, 2], 1)


def test_an_attempt_that_was_overtaken_before_it_noted_anything_writes_nothing(
    approved: Any, shop: Any, monkeypatch: Any
) -> None:
    write = approved()
    kept, rounds = xid.flushed, []

    def stand_still(*given: Any) -> Any:
        noted = kept(*given)
        rounds.append(noted["xid"])
        if len(rounds) == 1:
            execution.execute(write.pk)
        return noted

    monkeypatch.setattr(xid, "flushed", stand_still)
    with pytest.raises(execution.TryAgain):
        execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, effects(shop)) == ("executed", 1)
    done = Execution.objects.get(write=write)
    assert done.noted is not None
    # The older attempt did not note its number over the newer one's.
    assert (done.target_xid, done.noted["xid"]) == (rounds[1], rounds[1])


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"system": "1"}, "another server took over"), ({"timeline": "000000FF"}, "another server took over"),
        ({"lsn": "FFFF/FFFFFFFF"}, "was restored"), ({"xid": "99999999999"}, "does not say"),
        ({"xid": "3"}, "has forgotten"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_left_to_people(
    approved: Any, shop: Any, monkeypatch: Any, changed: Any, why: str
) -> None:
    write = approved()
    crash(write, "_commit", monkeypatch)
    if changed == {"xid": "3"}:
        monkeypatch.setattr(xid, "STATUS", "select null where %s <> ''")
    note(write, **changed)
    for _ in range(2):
        assert why in unknown(write)
    assert effects(shop) == 1


def test_a_standby_that_is_asked_says_nothing(approved: Any, shop: Any, monkeypatch: Any) -> None:
    write = approved()
    crash(write, "_change", monkeypatch)
    monkeypatch.setattr(xid, "SERVER", "select 1 / 0, ''")
    assert "does not say" in unknown(write)
    assert effects(shop) == 0


def test_a_server_that_cannot_flush_the_message_is_refused_before_anybody_approves(
    previewed: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(xid, "OLDEST_VERSION", 990_000)
    error = Preview.objects.get(write=previewed()).error
    assert "has no ledger: a crash there could pass for a write that ran" in error


def test_a_writer_who_may_not_ask_is_refused_before_anybody_approves(previewed: Any, shop: Any) -> None:
    shop.execute("revoke execute on function pg_control_system() from public")
    assert "may not ask shop" in Preview.objects.get(write=previewed()).error
