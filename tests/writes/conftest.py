"""A scratch shop on the test cluster as the target of writes, with a writer role of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

WRITER = "writes_test_writer"
TABLES = """
create schema shop;
create table shop.jobs (
  job_id bigint primary key, kind text not null, state text not null, locked_by text,
  attempts int not null default 0, price numeric(12,2), run_after timestamptz, payload json,
  updated_at timestamptz not null default clock_timestamp()
);
create table shop.job_events (id bigint generated always as identity, job_id bigint, what text);
create table shop.children (child_id bigint primary key, job_id bigint references shop.jobs on delete cascade);
create table shop.lie (id bigint, job_id bigint, state text);
create table shop.gate_ledger (
  approval_id uuid primary key, write_ref text not null, proposal_digest text not null, effect jsonb not null,
  executed_at timestamptz not null default now()
);
insert into shop.jobs (job_id, kind, state, locked_by, price, payload)
  select g, 'payout', 'running', 'worker-7', g * 1.10, '{"a":  1}' from generate_series(1, 20) g;
create function shop.touch() returns trigger language plpgsql as $$
begin new.updated_at := clock_timestamp(); return new; end $$;
create function shop.note() returns trigger language plpgsql security definer as $$
begin insert into shop.job_events (job_id, what) values (coalesce(new.job_id, old.job_id), tg_op); return null; end $$;
create trigger touch before update on shop.jobs for each row execute function shop.touch();
create trigger note after insert or update or delete on shop.jobs for each row execute function shop.note();
insert into shop.children values (1, 1), (2, 1);
insert into shop.lie values (1, 1, 'a lie');
grant usage on schema shop to writes_test_writer;
grant select, insert, update, delete on shop.jobs, shop.children, shop.lie to writes_test_writer;
grant select, insert on shop.gate_ledger to writes_test_writer;
"""
POLICY: dict[str, Any] = {
    "approvers": {"on_call": 1},
    "method": "password",
    "expiry_seconds": 14400,
    "row_cap": 10,
    "binding": "strict",
    "proposers": ["agent", "on_call", "admin"],
    "risk": "normal",
    "break_glass": False,
}
BODY: dict[str, Any] = {
    "kind": "postgresql",
    "credential_env": "WRITES_TEST_DSN",
    "environment": "production",
    "ledger": "shop.gate_ledger",
    "policy": POLICY,
}


def body(**changes: Any) -> dict[str, Any]:
    """The target with another policy."""
    return {**BODY, "policy": {**POLICY, **changes}}


PASSWORD = "correct horse battery"
REQUEUE = "update shop.jobs set state = $1, locked_by = null where job_id = $2 and state = $3"
REQUEUE_PARAMETERS = [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "7"}, {"t": "text", "v": "running"}]


@pytest.fixture(autouse=True)
def sealed_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sealer runs beside these tests. Those about seals say `sealed_log` and seal for themselves."""
    if request.node.get_closest_marker("sealed_log") is None:
        monkeypatch.setattr("gate.writes.sealed.check", lambda entry: None)


@pytest.fixture
def shop(superuser: Any, cluster_socket: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's autocommit connection to a fresh shop; the writer's credential is in the environment."""
    name = f"writes_shop_{id(monkeypatch)}"
    if superuser.execute("select 1 from pg_roles where rolname = %s", [WRITER]).fetchone() is None:
        superuser.execute(f"create role {WRITER} login password 'w'")
    superuser.execute(f'create database "{name}"')
    monkeypatch.setenv("WRITES_TEST_DSN", f"host={cluster_socket} user={WRITER} password=w dbname={name}")
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name, autocommit=True) as connection:
        connection.execute(TABLES)
        yield connection
    superuser.execute(f'drop database "{name}" with (force)')


@pytest.fixture
def target(define: Callable[..., Any], shop: Any) -> Any:
    """The shop as a target in force."""
    return define("target", "shop", BODY)


@pytest.fixture
def mia(make_person: Callable[..., Any]) -> Any:
    """On call; proposes nothing and owns nothing."""
    return make_person("mia", "on_call", "Mia Lindqvist")


@pytest.fixture
def agent(make_agent: Callable[..., Any], make_person: Callable[..., Any]) -> Any:
    """A triage agent as a principal; jonas, who is on call, owns it."""
    from audit import agents

    _, token = make_agent("triage-agent", owner=make_person("jonas", "on_call", "Jonas Weber"))
    return agents.authenticate(token)


@pytest.fixture
def propose(target: Any, agent: Any) -> Callable[..., Any]:
    """Propose as the agent, and have it admitted: the requeue of job 7 unless told otherwise."""
    from gate.writes import actions, admitting

    def make(statement: str = REQUEUE, parameters: Any = None, **more: Any) -> Any:
        given = REQUEUE_PARAMETERS if parameters is None and statement == REQUEUE else parameters or []
        about = {"title": "Requeue job 7", "reason": "worker-7 died", "target": "shop", **more}
        if "by_person" not in about:
            about["by_agent"] = agent
        write = actions.propose(statement=statement, parameters=given, **about)
        admitting.admit(write.pk)
        write.refresh_from_db()
        return write

    return make


@pytest.fixture
def previewed(propose: Callable[..., Any], mia: Any) -> Callable[..., Any]:
    """Propose and preview: the write as it is afterwards."""
    from gate.writes import actions, preview

    def make(*args: Any, **more: Any) -> Any:
        write = propose(*args, **more)
        preview.make(actions.ask_preview(write, mia).pk)
        write.refresh_from_db()
        return write

    return make


@pytest.fixture
def approve(mia: Any) -> Callable[..., Any]:
    """Approve what is there now, as mia unless told otherwise."""
    from gate.writes import deciding, quorum

    def make(write: Any, by: Any = None, **changed: Any) -> Any:
        write.refresh_from_db()
        seen = quorum.latest_preview(write)
        shown = {
            "act": "approve", "reason": "The worker is gone.", "seen_version": write.version, "password": PASSWORD,
            "proposal_digest": write.proposal_digest, "preview_digest": seen.digest if seen else "",
        }  # fmt: skip
        return deciding.decide(write, by=by or mia, **{**shown, **changed})

    return make


@pytest.fixture
def approved(previewed: Callable[..., Any], approve: Callable[..., Any]) -> Callable[..., Any]:
    """Propose, preview and approve: the write as it is afterwards."""

    def make(*args: Any, **more: Any) -> Any:
        write = previewed(*args, **more)
        approve(write)
        write.refresh_from_db()
        return write

    return make


@pytest.fixture
def entries() -> Callable[[str], list[Any]]:
    """The kinds of a subject's entries, oldest first. Subjects repeat between tests, so only the newest run counts."""
    from audit.models import Entry

    def read(subject: str) -> list[Any]:
        found = list(Entry.objects.filter(subject=subject).order_by("seq"))
        starts = [place for place, entry in enumerate(found) if entry.kind == "write.proposed"]
        return found[starts[-1] :] if starts else found

    return read


@pytest.fixture
def job(shop: Any) -> Callable[[int], Any]:
    """A job's state in the shop as it is now."""
    return lambda job_id: shop.execute("select state from shop.jobs where job_id = %s", [job_id]).fetchone()[0]


@pytest.fixture
def make_incident(define: Callable[..., Any]) -> Callable[[Any], tuple[Any, Any]]:
    """An open incident that an agent investigates: (incident, investigation)."""
    from django.utils import timezone

    from audit.models import Definition
    from gate.triage.models import Incident, Investigation

    def make(agent: Any) -> tuple[Any, Any]:
        person = Definition.objects.filter(kind="target").latest("pk").drafted_by
        kind = Definition.objects.create(
            kind="class", name="stuck_job", version=1, body={}, digest="0" * 64, reason="", drafted_by=person
        )
        now = timezone.now()
        incident = Incident.objects.create(
            kind="incident", incident_class=kind, title="Job 7 is stuck", severity="high", subject={"job_id": 7},
            dedup_key="job-7", began_at=now, watch_from=now, opened_by="monitor",
        )  # fmt: skip
        run = Investigation.objects.create(
            incident=incident, agent_id=agent.agent_id, briefing={}, budget_calls=10, deadline_at=now
        )
        return incident, run

    return make
