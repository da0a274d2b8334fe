"""A scratch source for the evidence tests, and the tools that read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from audit import agents
from audit.agents import Principal
from audit.at_once import Asked, Taking
from audit.models import Definition
from evidence import proof, reader, scope, strangers
from evidence.errors import Problem
from tests.evidence import bodies, scratch


@pytest.fixture(scope="session")
def scratch_cluster(cluster_socket: Path) -> Iterator[Path]:
    """The socket of the run's cluster, with the scratch database in it (all three tiers applied)."""
    scratch.create(cluster_socket)
    with scratch.connect(cluster_socket) as own:
        scratch.second_tier(own)
        scratch.third_tier(own)
        scratch.doctor(own)
    yield cluster_socket
    reader.close()


@pytest.fixture
def dsn_of(scratch_cluster: Path) -> Callable[[str], str]:
    """The scratch database's connection string for a role."""
    return lambda role: scratch.dsn(scratch_cluster, role)


@pytest.fixture
def reader_dsn(dsn_of: Callable[[str], str]) -> str:
    return dsn_of("strong_reader")


@pytest.fixture
def scratch_owner(scratch_cluster: Path) -> Iterator[Any]:
    """A superuser's autocommit connection to the scratch database."""
    with scratch.connect(scratch_cluster) as own:
        yield own


@pytest.fixture(autouse=True)
def no_strangers_left() -> Iterator[None]:
    """What a test counted is not written when the run ends and its database is gone."""
    yield
    strangers.counting.counts.clear()


@dataclass
class FakeScope:
    """A scope without an investigation behind it."""

    principal: Principal
    tools: set[str]
    budget: int = 5
    run_id: str = "7001"
    incident_id: int = 318
    decision_point: datetime | None = None
    metrics: set[str] = field(default_factory=set)

    def allows(self, tool: str) -> bool:
        return tool in self.tools

    def allows_metric(self, metric_id: str) -> bool:
        return metric_id in self.metrics

    def taking_call(self) -> Taking[int]:
        return Taking("select", [], lambda rows: self._take_call(), lambda rows: self.budget > 0)

    def _take_call(self) -> int:
        if self.budget <= 0:
            raise Problem(429, "budget_spent", "All calls are used; hand in what you have found.")
        self.budget -= 1
        return self.budget


@pytest.fixture
def scope_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeScope]:
    """Give an agent a scope with these tools; other investigations than 7001 are not its own."""

    def give(principal: Principal, *tools: str, **more: Any) -> FakeScope:
        given = FakeScope(principal, set(tools), **more)

        def resolve(asking: Principal, investigation: int | None) -> FakeScope:
            if asking.agent != principal.agent or investigation not in (None, 7001):
                raise Problem(409, "no_investigation", "You run no such investigation; start one.")
            return given

        def resolving(asking: Principal, investigation: int | None) -> Asked[FakeScope]:
            return Asked("select", [], lambda rows: resolve(asking, investigation))

        monkeypatch.setattr(scope, "_resolvers", [resolving])
        return given

    return give


@pytest.fixture
def source(define: Any, monkeypatch: pytest.MonkeyPatch, dsn_of: Callable[[str], str]) -> Definition:
    """The scratch database as an active source, not proven yet."""
    monkeypatch.setenv("SCRATCH_READER_DSN", dsn_of("strong_reader"))
    monkeypatch.setenv("SCRATCH_DOCTOR_DSN", dsn_of("scratch_doctor"))
    found: Definition = define("source", "scratch", bodies.source())
    return found


@pytest.fixture
def certified(source: Definition) -> Any:
    """The same, proven."""
    certificate = proof.certify(source)
    assert certificate.holds, certificate.facts
    return certificate


@pytest.fixture
def asker(make_agent: Any) -> tuple[Principal, str]:
    """An agent's principal and its token."""
    _, token = make_agent("asker")
    principal = agents.authenticate(token)
    assert principal is not None
    return principal, token
