"""What is asked at every call is asked in one message, and answers as if each had been asked alone."""

from __future__ import annotations

import gc
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID
from weakref import ref

import psycopg
import pytest
from django.db import DataError, OperationalError, ProgrammingError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit import at_once, budgets, prepared, streams
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
def test_others_work_while_an_answer_is_waited_for(cluster_socket: Path) -> None:
    name = connection.settings_dict["NAME"]  # such locks are of one database
    other = psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name, autocommit=True)
    other.execute("select pg_advisory_lock(318)")
    found: list[Any] = []
    waiting = threading.Thread(
        target=lambda: found.extend(rows_of(asked("select 1"), asked("select 2 from pg_advisory_xact_lock(318)"))),
        daemon=True,
    )
    waiting.start()
    # Where it held Python's lock, this thread would not come to see it wait, nor to give it free.
    waits = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
    while other.execute(waits).fetchone() == (0,):
        assert waiting.is_alive()
    other.close()  # and the lock is gone
    waiting.join(20)
    assert found == [[(1,)], [(2,)]]


@committed
def test_a_session_that_ended_is_said_and_replaced() -> None:
    with pytest.raises(OperationalError):
        rows_of(asked("select pg_terminate_backend(pg_backend_pid())"), asked("select 1"))
    assert ask(asked("select 1")) == [(1,)]


def a_session() -> psycopg.Connection[Any]:
    return psycopg.connect(streams._conninfo(), autocommit=True)


@committed
def test_nothing_is_kept_of_a_session_that_is_closed() -> None:
    session = a_session()
    assert prepared.of(session).rows(("select $1::timestamptz is null", [None])) == [(True,)]
    session.close()
    kept = ref(session)
    del session
    gc.collect()
    assert kept() is None


@committed
def test_what_is_longer_than_the_socket_takes_at_once_is_sent_whole() -> None:
    long, found = "é" * 4_000_000, list[Any]()
    asking = threading.Thread(
        target=lambda: found.extend(rows_of(*[asked("select length($1::text)", long)] * 2)), daemon=True
    )
    asking.start()
    asking.join(20)
    assert found == [[(4_000_000,)]] * 2


@committed
def test_a_statement_whose_answer_was_changed_under_it_is_prepared_anew() -> None:
    with a_session() as session:
        session.execute("create temporary table kept (one integer)")
        session.execute("insert into kept values (318)")
        statements = prepared.of(session)
        assert statements.rows(("select one from kept", [])) == [(318,)]
        session.execute("alter table kept alter one type text")
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            statements.rows(("select one from kept", []))
        assert statements.all_rows([("select one from kept", []), ("select 1", [])]) == [[("318",)], [(1,)]]
        session.execute("deallocate all")
        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            statements.rows(("select one from kept", []))
        assert statements.rows(("select one from kept", [])) == [("318",)]


@committed
def test_a_session_that_was_left_in_the_middle_answers_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_session() as session:
        statements = prepared.of(session)
        with monkeypatch.context() as interrupted, pytest.raises(KeyboardInterrupt):
            interrupted.setattr(statements, "_await", _interrupt)
            statements.all_rows([("select 1", []), ("select 2", [])])
        assert session.closed


def _interrupt() -> None:
    raise KeyboardInterrupt
