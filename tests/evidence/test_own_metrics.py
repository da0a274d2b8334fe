"""The product's own record as a source: its reader is proven, its numbers add up, and no agent is told of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from audit import agents, at_once, log, twohands
from audit.kinds import Kind
from audit.models import Definition
from evidence import proof, reader
from evidence.metrics import calls, checking, golden, registry, serving
from evidence.metrics.calls import MetricCall, available
from evidence.metrics.reading_answers import Explained
from evidence.own import shipped
from gate.config import fingerprint
from tests.evidence import scratch
from tests.evidence.conftest import FakeScope

ROLES = ("own_reader", "own_doctor")
EACH = {"agent": "0.002", "person": "0.01", "process": "0.0001"}
TABLE: dict[str, Any] = {
    "title": "A second", "owner": "jonas", "review_by": "2027-06-01",
    "prices": {kind: {"price": price, "unit": "EUR", "per": "s", "source": "a letter"} for kind, price in EACH.items()},
}  # fmt: skip


def superuser(sockets: Path) -> psycopg.Connection[Any]:
    return psycopg.connect(host=str(sockets), user="postgres", dbname=connection.settings_dict["NAME"], autocommit=True)


def as_role(sockets: Path, role: str) -> str:
    return scratch.dsn(sockets, role, connection.settings_dict["NAME"])


@pytest.fixture
def own(
    cluster_socket: Path, db: None, define: Callable[..., Definition], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Definition]:
    """The source as its statements make it, drafted and activated as any other."""
    with superuser(cluster_socket) as server:
        for _ in range(2):  # it may be run again
            server.execute(shipped.logins().encode())
            server.execute(shipped.views().encode())
        for role in ROLES:
            server.execute(f"alter role {role} password 'test-{role}'")
    monkeypatch.setenv("OWN_READS_DSN", as_role(cluster_socket, "own_reader"))
    monkeypatch.setenv("OWN_DOCTOR_DSN", as_role(cluster_socket, "own_doctor"))
    yield define("source", *shipped.source())
    reader.close()
    with superuser(cluster_socket) as server:
        server.execute("drop schema own_read cascade")
        for role in ROLES:
            server.execute(f"drop owned by {role}")
            server.execute(f"drop role {role}")


@pytest.mark.parametrize("name", shipped.metrics())
def test_each_of_them_is_a_metric_and_no_policy(name: str) -> None:
    checking.check(name, shipped.metrics()[name])


def test_the_command_prints_what_a_person_then_does() -> None:
    printed = StringIO()
    call_command("own_metrics", stdout=printed)
    assert "create or replace view own_read.vis_step" in printed.getvalue()
    for name, body in (shipped.source(), *shipped.metrics().items()):
        printed = StringIO()
        call_command("own_metrics", name, stdout=printed)
        assert json.loads(printed.getvalue()) == body
    with pytest.raises(CommandError, match="time_to_decision"):
        call_command("own_metrics", "nothing")
    with pytest.raises(CommandError, match="--agent-second"):
        call_command("own_metrics", shipped.COST, prices="call_prices@1")
    printed = StringIO()
    call_command("own_metrics", shipped.COST, "--prices=call_prices@1", "--agent-second=0.0004", stdout=printed)
    assert [one["value"] for one in json.loads(printed.getvalue())["golden"]] == [None, "0.00060"]


def test_its_views_change_nothing_that_guards_the_log(own: Definition, cluster_socket: Path) -> None:
    guards = fingerprint.lines()
    with superuser(cluster_socket) as server:
        server.execute("drop schema own_read cascade")
        assert fingerprint.lines() == guards
        server.execute(shipped.views().encode())
    assert fingerprint.lines() == guards


def test_its_reader_is_proven_and_reads_nothing_but_its_views(own: Definition, cluster_socket: Path) -> None:
    certificate = proof.certify(own)
    assert [fact["fact"] for fact in proof.failing(certificate)] == []
    with psycopg.connect(as_role(cluster_socket, "own_reader"), autocommit=True) as session:
        for table in ("audit_entry", "audit_payload", "triage_draft", "people_person"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(f"select 1 from public.{table}")


def _happened(incident: int, *kinds: Kind) -> None:
    for kind in kinds:
        log.record(kind, log.Actor.process(), incident_id=incident, subject=f"I-{incident}")


def test_the_worked_example_gives_the_golden_values_and_its_medians(own: Definition, define: Any) -> None:
    define("valuation", "call_prices", TABLE)
    bodies = {**shipped.metrics(), shipped.COST: shipped.cost("call_prices@1", Decimal("0.002"))}
    certificate = str(proof.certify(own).pk)
    for name, body in bodies.items():
        version = registry.of(define("metric", name, body))
        for one in version.golden:
            found = serving.answer(
                "explain", version, {"scope": dict(one.scope)}, registry.moment(one),
                source=own, certificate=certificate, run="run",
            ).result  # fmt: skip
            assert golden.held(one, found, "A-1").matches, (one, found["value"])
    still = _answered("time_to_decision", own, define, shipped.SCOPE, datetime.fromisoformat(shipped.STILL_OPEN))
    medians = [(one.of, one.entities, one.still_open, one.median and one.median.number) for one in still.medians]
    assert medians == [
        ("", 2, 1, 902), ("waiting_for_agent", 2, 0, 60), ("gathering", 2, 1, 240), ("checking_by_code", 1, 0, 2),
        ("waiting_for_person", 1, 0, 600),
    ]  # fmt: skip


def _answered(name: str, own: Definition, define: Any, scope: dict[str, Any], at: datetime | None = None) -> Explained:
    found = twohands.active("metric", name) or define("metric", name, shipped.metrics()[name])
    version = registry.of(found)
    certificate = proof.latest(own.name) or proof.certify(own)
    now = at or datetime.now(UTC) + timedelta(seconds=1)
    pk = str(certificate.pk)
    answered = serving.answer("explain", version, {"scope": scope}, now, source=own, certificate=pk, run="run")
    return Explained(answered.result)


def test_the_stages_of_a_decision_add_up_and_those_that_wait_count(own: Definition, define: Any) -> None:
    decided, waits = 990_001, 990_002
    opened = (Kind.INCIDENT_OPENED, Kind.INVESTIGATION_STARTED)
    _happened(decided, *opened, Kind.FINDINGS_SUBMITTED, Kind.VERDICT_RENDERED, Kind.DRAFT_AGREED, Kind.INCIDENT_CLOSED)
    _happened(waits, *opened)
    since = {"since": "2020-01-01T00:00:00Z"}
    found = _answered("time_to_decision", own, define, {**since, "incident": decided})
    assert found.value is not None
    assert (found.standing.word, found.residual.text if found.residual else "") == ("resolved", "0")
    assert [one.name for one in found.components] == [
        "waiting_for_agent", "gathering", "checking_by_code", "waiting_for_person",
    ]  # fmt: skip
    assert sum(one.amount.number for one in found.components) == found.value.number > 0
    still = _answered("time_to_decision", own, define, {**since, "incident": waits})
    assert [(still.standing.word, reason.code) for reason in still.standing.reasons] == [("partial", "still_open")]
    assert still.value is not None
    assert still.value.number >= 1  # up to the decision point


def test_calls_that_came_to_nothing_are_summed_exactly(own: Definition, define: Any) -> None:
    tool = f"slow_{uuid4().hex[:8]}"
    for status, taken in (("failed", 1500), ("failed", 41), ("ok", 900)):
        agent = log.Actor("agent", "triage-agent", "mia")
        log.record(Kind.CALL_FINISHED, agent, call_id=uuid4(), tool=tool, status=status, duration_ms=taken, args={})
    found = _answered("failed_call_time", own, define, {"since": "2020-01-01T00:00:00Z", "tool": tool})
    assert found.value is not None
    assert (found.value.number, found.unit, found.standing.word) == (Fraction("1.541"), "s", "resolved")


def test_they_cost_what_a_table_of_the_owners_says(own: Definition, define: Any) -> None:
    tool = f"slow_{uuid4().hex[:8]}"
    for kind, taken in (("agent", 1500), ("process", 500)):
        who = log.Actor(kind, "triage-agent", "mia")
        log.record(Kind.CALL_FINISHED, who, call_id=uuid4(), tool=tool, status="failed", duration_ms=taken, args={})
    define("valuation", "call_prices", TABLE)
    define("metric", shipped.COST, shipped.cost("call_prices@1", Decimal("0.002")))
    found = _answered(shipped.COST, own, define, {"since": "2020-01-01T00:00:00Z", "tool": tool})
    assert found.value is not None
    assert (found.value.number, found.unit, found.standing.word) == (Fraction("0.00305"), "EUR", "resolved")


def test_no_agent_is_told_of_it_or_answered(own: Definition, define: Any, make_agent: Any) -> None:
    metric = define("metric", "time_to_decision", shipped.metrics()["time_to_decision"])
    principal = agents.authenticate(make_agent()[1])
    assert principal is not None
    allowed = FakeScope(principal, set(), metrics={"time_to_decision"})
    assert available(principal, []) == available(principal, [allowed]) == []
    assert at_once.ask(calls.asked(principal, "explain_metric", {"metric_id": metric.name})) is None
    open_to_agents = {**metric.body, "visibility_scope": "current_decision"}
    metric = define("metric", "time_to_decision", open_to_agents)
    assert at_once.ask(calls.asked(principal, "explain_metric", {"metric_id": metric.name})) is not None
    assert [one.metric_id for one in available(principal, [])] == ["time_to_decision"]
    assert MetricCall.about("explain_metric", registry.of(metric)).is_offered(allowed)
