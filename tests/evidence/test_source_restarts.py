"""The source's database is restarted between calls: one fails and says so, the next is served, the log tells both."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from audit.models import Entry
from evidence import gateway, proof, reader
from evidence.errors import Problem
from gate.config import embedded
from tests.evidence import bodies, scratch
from tests.evidence.test_reader_role import DATABASE, apply, drop, make, server

pytestmark = pytest.mark.django_db
MOST = 20  # calls until somebody gives up


def entry_of(audit_id: str) -> Entry:
    """The entry that an agent was told to cite."""
    return Entry.objects.get(seq=int(audit_id[2:]))


@pytest.fixture
def base() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="counterseal-restarted-") as name:
        place = Path(name)
        place.chmod(0o755)
        embedded.init_postgres(place / "data")
        yield place
        reader.close()


def test_a_restart_is_survived_without_a_lie_in_the_log(
    base: Path, define: Any, asker: Any, scope_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, role in (("READER", "fresh_reader"), ("DOCTOR", "fresh_doctor")):
        monkeypatch.setenv(f"SCRATCH_{name}_DSN", scratch.dsn(base / "run", role, DATABASE))
    monkeypatch.setattr(reader, "POOL_WAIT", 1.0)
    source = define("source", "scratch", bodies.source())
    define("tool", "find_job", bodies.tool())
    scope_of(asker[0], "find_job", budget=MOST)

    def call() -> str:
        try:
            return gateway.call(asker[0], "find_job", {"job_id": 13}, None).audit_id
        except Problem as problem:
            return problem.audit_id

    with server(base):
        make(base / "run")
        apply(base / "run")
        assert proof.certify(source).holds
        told = [call(), call()]
    told.append(call())
    with server(base):
        # A pool that found nobody looks again after a moment, and until then a call fails and says so.
        while entry_of(told[-1]).status == "failed" and len(told) < MOST:
            told.append(call())
        told.append(call())
        drop(base / "run")
    entries = [entry_of(audit_id) for audit_id in told]
    failed = len(told) - 4
    assert [one.error_class for one in entries] == ["", "", *["unreachable"] * failed, "", ""]
    assert [one.status for one in entries] == ["ok", "ok", *["failed"] * failed, "ok", "ok"]
    # Each call once: started before it was read, finished with what it came to.
    for one in entries:
        kinds = list(Entry.objects.filter(call_id=one.call_id).order_by("seq").values_list("kind", flat=True))
        assert kinds == ["call.started", "call.finished"]
    assert len({one.call_id for one in entries}) == len(told)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(scratch.dsn(base / "run", "fresh_reader", DATABASE))
