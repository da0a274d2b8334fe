"""The shop, made once on the run's cluster, and a way into it for each of its roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gate.demo import shop

PASSWORDS = {name: f"test-{name}" for name in shop.LOGINS}


@pytest.fixture(scope="session")
def made_at() -> datetime:
    """When the shop's data is made."""
    return datetime.now(UTC)


@pytest.fixture(scope="session")
def provisioned(cluster_socket: Path, made_at: datetime) -> Path:
    """The socket directory of a cluster that has the shop."""
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname="postgres", autocommit=True) as connection:
        shop.provision(connection, PASSWORDS)
    return cluster_socket


@pytest.fixture
def shop_dsn(provisioned: Path) -> Callable[[str], str]:
    """The connection string of a role of the shop."""

    def dsn(role: str) -> str:
        return f"host={provisioned} dbname=shop user={role} password={PASSWORDS[role]}"

    return dsn


@pytest.fixture
def shop_as(shop_dsn: Callable[[str], str]) -> Iterator[Callable[[str], psycopg.Connection[Any]]]:
    """An autocommit connection to the shop as one of its roles."""
    opened = []

    def connect(role: str) -> psycopg.Connection[Any]:
        opened.append(psycopg.connect(shop_dsn(role), autocommit=True))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()
