"""What is asked at every call is asked in one message, and answers as if each had been asked alone."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import DataError, OperationalError, ProgrammingError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit import at_once, budgets
from audit.at_once import Asked, Taking, ask, rows_of
from audit.models import AgentUse

KEY = "0198b5a0-0000-7000-8000-000000000001"
committed = pytest.mark.django_db(transaction=True)


def asked(statement: str, *values: Any) -> Asked[list[Any]]:
    return Asked(statement, values, lambda rows: rows)


@pytest.mark.django_db
def test_each_is_answered_in_its_place_with_what_it_is() -> None:
    moment = datetime(2026, 11, 30, 14, 7, tzinfo=UTC)
    found = rows_of(
        asked("select $1::bigint + 1, $2::text || '!', $3::boolean", 41, "é", None),
        asked("select from generate_series(1, 2)"),
        asked("select $1::uuid, $2::timestamptz where false", KEY, moment),
        asked("select $1::uuid, $2::timestamptz", KEY, moment),
    )
    assert found == [[(42, "é!", None)], [(), ()], [], [(UUID(KEY), moment)]]


@pytest.mark.django_db
@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.text(st.characters(codec="utf-8")))))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_value_comes_back_as_it_went(values: list[Any]) -> None:
    each = [
        asked("select $1::text", one) if one is None or isinstance(one, str) else asked("select $1::bigint", one)
        for one in values
    ]
    if any("\0" in one for one in values if isinstance(one, str)):
        with pytest.raises(DataError, match="NUL"):
            rows_of(*each)
    elif each:
        assert rows_of(*each) == [[(one,)] for one in values]


@committed
def test_one_that_fails_fails_all_and_the_next_are_answered() -> None:
    with pytest.raises(DataError):
        rows_of(asked("select 1"), asked("select 1 / $1::integer", 0), asked("select 2"))
    assert rows_of(asked("select 1"), asked("select 2")) == [[(1,)], [(2,)]]


@committed
def test_within_a_transaction_it_sees_what_is_not_committed_and_fails_with_it(make_agent: Any) -> None:
    agent, _ = make_agent("asker")
    with transaction.atomic():
        budgets.take(agent.pk, budgets.CALLS)
        assert ask(asked("select used from audit_agentuse where agent_id = $1", agent.pk)) == [(1,)]
        with pytest.raises(ProgrammingError), transaction.atomic():
            rows_of(asked("select 1"), asked("select * from nowhere_at_all"))
        transaction.set_rollback(True)
    assert ask(asked("select used from audit_agentuse where agent_id = $1", agent.pk)) == []


@committed
@pytest.mark.parametrize("is_within", [False, True])
def test_all_take_or_none_does(make_agent: Any, is_within: bool) -> None:
    agent, _ = make_agent("asker")
    wanted = budgets.taking(agent.pk, budgets.CALLS)
    refused: Taking[None] = Taking("select where false", [], lambda rows: _refuse())

    def used() -> list[int]:
        return list(AgentUse.objects.filter(agent_id=agent.pk).values_list("used", flat=True))

    def take(*more: Taking[Any]) -> list[Any]:
        if is_within:
            with transaction.atomic():
                return at_once.take(wanted, *more)
        return at_once.take(wanted, *more)

    with pytest.raises(LookupError):
        take(refused)
    assert used() == []
    take()
    assert used() == [1]


def _refuse() -> None:
    raise LookupError


@committed
def test_others_work_while_an_answer_is_waited_for(superuser: psycopg.Connection[Any]) -> None:
    superuser.execute("select pg_advisory_lock(318)")
    found: list[Any] = []
    waiting = threading.Thread(
        target=lambda: found.extend(rows_of(asked("select 1"), asked("select 2 from pg_advisory_xact_lock(318)"))),
        daemon=True,
    )
    waiting.start()
    # Where it held Python's lock, this thread would not come to see it wait, nor to give it free.
    waits = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
    while superuser.execute(waits).fetchone() == (0,):
        assert waiting.is_alive()
    superuser.execute("select pg_advisory_unlock(318)")
    waiting.join(20)
    assert found == [[(1,)], [(2,)]]


@committed
def test_a_session_that_ended_is_said_and_replaced() -> None:
    with pytest.raises(OperationalError):
        rows_of(asked("select pg_terminate_backend(pg_backend_pid())"), asked("select 1"))
    assert ask(asked("select 1")) == [(1,)]
