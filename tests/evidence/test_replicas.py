"""How far behind a standby's answer may be before a number that is made of it is none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from audit.models import Definition
from evidence import reader, replicas, sources
from tests.evidence import bodies

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Make the source's server a standby that has replayed up to a moment, or a primary."""
    monkeypatch.setenv("SCRATCH_READER_DSN", "host=nowhere")
    replicas._is_standby.cache_clear()

    def make(replayed: Any) -> None:
        rows = {replicas.STANDBY: {"is_standby": replayed != "primary"}, replicas.REPLAYED: {"replayed": replayed}}
        monkeypatch.setattr(reader, "read", lambda dsn, text: SimpleNamespace(rows=[rows[text]]))

    return make


def is_behind(**said: Any) -> bool:
    source = Definition(kind="source", name="scratch", version=1, body=bodies.source(**said))
    return replicas.is_behind(source, "certificate", AT)


def seconds(before: int) -> Decimal:
    return Decimal(int((AT - timedelta(seconds=before)).timestamp()))


@pytest.mark.parametrize(
    ("replayed", "said", "expected"),
    [
        ("primary", {}, False),
        (seconds(0), {}, False),
        (seconds(1), {}, True),  # without a word of its source, nothing may be missing
        (seconds(30), {"replica_lag_seconds": 30}, False),
        (seconds(31), {"replica_lag_seconds": 30}, True),
        (seconds(-3600), {}, False),  # a decision point that is over is replayed, however far behind now is
        (None, {"replica_lag_seconds": 30}, True),
    ],
)
def test_a_standby_has_what_it_has_replayed(
    server: Callable[[Any], None], replayed: Any, said: dict[str, Any], expected: bool
) -> None:
    server(replayed)
    assert is_behind(**said) is expected


@pytest.mark.parametrize("lag", [-1, True, "30", 1.5, 10**6])
def test_what_a_source_says_of_its_lag_is_a_number_of_seconds(lag: Any) -> None:
    with pytest.raises(ValueError, match="whole number from 0"):
        sources.check("scratch", bodies.source(replica_lag_seconds=lag))
    sources.check("scratch", bodies.source(replica_lag_seconds=30))


@pytest.mark.django_db
def test_both_statements_are_reads_that_the_weakest_reader_may_do(reader_dsn: str) -> None:
    assert reader.read(reader_dsn, replicas.STANDBY).rows == [{"is_standby": False}]
    assert reader.read(reader_dsn, replicas.REPLAYED).rows == [{"replayed": None}]
