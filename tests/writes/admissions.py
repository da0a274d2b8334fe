"""A shop whose writes admission can observe, proposals that it has not seen yet, and what it made of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import QuerySet

from audit.models import Outbox
from evidence import proof
from gate.admission import policies
from gate.writes import actions, admission, admission_jobs, admitting
from gate.writes.models import Admission, AdmissionRequest, WriteRequest
from tests.writes.conftest import BODY, REQUEUE, REQUEUE_PARAMETERS

READER = "writes_test_reader"
SOURCE = {
    "kind": "postgresql", "reader_env": "LOOK_READER_DSN", "doctor_env": "LOOK_DOCTOR_DSN",
    "environment": "production", "schema": "shop",
}  # fmt: skip
LABELS = {
    "shop.jobs": {
        "columns": {"state": "operational", "locked_by": "operational"},
        "triggers": {"touch": "operational", "note": "operational"},
    },
    "shop.notes": {"columns": {"said": "operational"}},
}
WIDE = "update shop.jobs set state = 'queued', locked_by = null where kind = 'payout'"


@pytest.fixture
def source(superuser: Any, shop: Any, define: Any, monkeypatch: Any) -> Any:
    """A source over the shop with a read-only credential, and a table that nothing hangs on."""
    if superuser.execute("select 1 from pg_roles where rolname = %s", [READER]).fetchone() is None:
        superuser.execute(f"create role {READER} login password 'r'")
    shop.execute(
        "create table shop.notes (note_id bigint primary key, slug text unique, said text, author text,"
        " made timestamptz default now()); insert into shop.notes select g, 's' || g, 'x', 'a' from"
        " generate_series(1, 3) g;"
        f"grant usage on schema shop to {READER}; grant select on shop.jobs, shop.lie, shop.notes to {READER}"
    )
    for name in ("LOOK_READER_DSN", "LOOK_DOCTOR_DSN"):
        monkeypatch.setenv(name, f"host={shop.info.host} user={READER} password=r dbname={shop.info.dbname}")
    monkeypatch.setattr(proof, "require", lambda source: None)
    return define("source", "look", SOURCE)


@pytest.fixture
def aim(define: Any, source: Any) -> Callable[..., Any]:
    """Put the shop in force as a target that says this for admission."""
    return lambda **said: define(
        "target", "shop", {**BODY, "first_look_source": "look", "admission": {"labels": LABELS, **said}}
    )


@pytest.fixture
def enforced(define: Any) -> Any:
    """The shipped policy for SQL writes, in force."""
    return define("policy", "sql-writes", policies.shipped_body("sql-writes"))


@pytest.fixture
def offer(agent: Any) -> Callable[..., WriteRequest]:
    """Propose, not admitted yet."""

    def make(statement: str = REQUEUE, parameters: Any = None, **more: Any) -> WriteRequest:
        given = REQUEUE_PARAMETERS if parameters is None and statement == REQUEUE else parameters or []
        about = {"title": "Requeue", "reason": "worker-7 died", "target": "shop", "by_agent": agent, **more}
        return actions.propose(statement=statement, parameters=given, **about)

    return make


def admitted(write: WriteRequest) -> WriteRequest:
    """The write once admission has answered."""
    admitting.admit(write.pk)
    write.refresh_from_db()
    return write


def checks(write: WriteRequest) -> QuerySet[Outbox]:
    """The jobs that check it."""
    requests = AdmissionRequest.objects.filter(write=write).values("pk")
    return Outbox.objects.filter(task=admission_jobs.ADMIT, subject_id__in=requests)


def newest(write: WriteRequest) -> Admission:
    found = admission.latest(write)
    assert found is not None
    return found


def allowing() -> dict[str, Any]:
    """The shipped policy with production let through."""
    body = copy.deepcopy(policies.shipped_body("sql-writes") or {})
    rule = next(one for one in body["program"]["rules"] if one["id"] == "production_is_asked")
    rule["then"] = "allow"
    body["cases"] = []
    return body


def blocking() -> dict[str, Any]:
    """The shipped policy with production stopped."""
    body = allowing()
    next(one for one in body["program"]["rules"] if one["id"] == "production_is_asked")["then"] = "block"
    return body
