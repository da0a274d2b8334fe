"""Two names are two machines only where that is certain."""

from __future__ import annotations

import pytest

from gate.triage.grammars import hosts


@pytest.mark.parametrize(
    ("one", "other"),
    [("db1.staging", "db1.cluster"), ("restore-7", "db1.cluster"), ("db2.cluster:5432", "db1.cluster"), ("db2", "db1")],
)
def test_different_names_is_another_machines(one: str, other: str) -> None:
    assert hosts.is_another(one, other)
    assert hosts.is_another(other, one)


@pytest.mark.parametrize(
    "name",
    [
        "db1.cluster", "DB1.Cluster", "db1.cluster.", "db1.cluster:5432", "db1", "db1.cluster.example.org", "10.0.0.4",
        "localhost", "", ".", "db1..cluster", "::1", "/var/run/postgresql", "db1,db2", "https://db2", "db2 ", "d\u0431",
    ],
)  # fmt: skip
def test_what_may_be_the_same_machine_is_not_different(name: str) -> None:
    assert not hosts.is_another(name, "db1.cluster")
    assert not hosts.is_another("db1.cluster", name)
