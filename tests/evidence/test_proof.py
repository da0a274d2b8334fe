"""The credential certificate: what it proves, what darkens a source, and how long it holds."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.models import Definition, Entry, Outbox
from evidence import proof, tasks
from evidence.errors import Problem
from evidence.models import Certificate
from gate.config import celery
from tests.evidence import bodies, scratch

pytestmark = pytest.mark.django_db


def failed(certificate: Certificate) -> set[str]:
    return {fact["fact"] for fact in certificate.facts if not fact["holds"]}


def test_a_credential_that_cannot_write_is_certified(certified: Certificate, source: Definition) -> None:
    assert certified.role == "strong_reader"
    assert {"attributes", "memberships", "tables", "sequences", "tries", "same_server"} <= {
        fact["fact"] for fact in certified.facts
    }
    assert proof.require(source) == certified
    entry = Entry.objects.get(certificate=str(certified.pk))
    assert (entry.kind, entry.source, entry.tool_hash) == ("source.certified", "scratch", source.digest)


PLANTED = [
    ("grant delete on app.jobs to strong_reader", "revoke delete on app.jobs from strong_reader", "tables"),
    ("grant execute on function lo_create(oid) to public", "revoke execute on function lo_create(oid) from public",
     "large_object_functions"),
]  # fmt: skip


@pytest.mark.parametrize(("plant", "pull", "fact"), PLANTED, ids=[row[2] for row in PLANTED])
def test_any_right_to_write_darkens_the_source(
    source: Definition, scratch_owner: Any, plant: str, pull: str, fact: str
) -> None:
    scratch_owner.execute(plant)
    try:
        certificate = proof.certify(source)
    finally:
        scratch_owner.execute(pull)
    assert not certificate.holds
    assert fact in failed(certificate)
    assert all(seen["mend"] for seen in proof.failing(certificate))
    with pytest.raises(Problem, match="is not read") as refusal:
        proof.require(source)
    assert (refusal.value.status, refusal.value.code) == (503, "source_dark")
    assert Entry.objects.get(certificate=str(certificate.pk)).kind == "source.darkened"
    assert proof.certify(source).holds
    assert proof.require(source).holds


@pytest.mark.parametrize("role", ["postgres", "app_owner", "app_worker"])
def test_a_dsn_that_can_write_is_refused(
    source: Definition, monkeypatch: pytest.MonkeyPatch, dsn_of: Callable[[str], str], scratch_owner: Any, role: str
) -> None:
    scratch_owner.execute("grant usage on schema app to app_worker; grant select, update on app.jobs to app_worker")
    monkeypatch.setenv("SCRATCH_READER_DSN", dsn_of(role))
    before = scratch.fingerprint(scratch_owner)
    certificate = proof.certify(source)
    assert {"tries", "superuser" if role == "postgres" else "tables"} <= failed(certificate)
    assert scratch.fingerprint(scratch_owner)[:6] == before[:6]  # even tries that come through change nothing
    with pytest.raises(Problem):
        proof.require(source)


def test_a_read_only_default_does_not_pass_for_a_proof(
    source: Definition, monkeypatch: pytest.MonkeyPatch, dsn_of: Callable[[str], str]
) -> None:
    monkeypatch.setenv("SCRATCH_READER_DSN", dsn_of("postgres") + " options='-c default_transaction_read_only=on'")
    assert "tries" in failed(proof.certify(source))


def test_what_the_doctor_cannot_see_does_not_hold(
    source: Definition, monkeypatch: pytest.MonkeyPatch, dsn_of: Callable[[str], str]
) -> None:
    monkeypatch.setenv("SCRATCH_DOCTOR_DSN", dsn_of("plain_reader"))  # it may not read pg_roles here
    certificate = proof.certify(source)
    assert "attributes" in failed(certificate)
    assert "could not be seen" in next(f["seen"] for f in certificate.facts if f["fact"] == "attributes")


def test_reader_and_doctor_must_look_at_one_database(
    source: Definition, monkeypatch: pytest.MonkeyPatch, scratch_cluster: Path
) -> None:
    monkeypatch.setenv("SCRATCH_DOCTOR_DSN", scratch.dsn(scratch_cluster, "postgres", "postgres"))
    assert "same_server" in failed(proof.certify(source))


@pytest.mark.parametrize("variable", ["SCRATCH_READER_DSN", "SCRATCH_DOCTOR_DSN"])
def test_an_unset_or_wrong_credential_darkens_without_being_shown(
    source: Definition, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "host=/nowhere user=x password=hunter2 dbname=y")
    certificate = proof.certify(source)
    assert failed(certificate) == {"reached"}
    assert "hunter2" not in json.dumps(certificate.facts)
    monkeypatch.delenv(variable)
    assert variable in json.dumps(proof.certify(source).facts)


def test_a_certificate_is_for_one_version_and_ten_minutes(source: Definition, certified: Any, define: Any) -> None:
    Certificate.objects.filter(pk=certified.pk).update(at=certified.at - timedelta(minutes=11))
    with pytest.raises(Problem, match="older than 10 minutes"):
        proof.require(source)
    proof.certify(source)
    newer = define("source", "scratch", bodies.source(environment="staging"))
    with pytest.raises(Problem, match="not been proven yet"):
        proof.require(newer)


def test_a_process_with_another_reader_than_the_proven_one_reads_nothing(
    source: Definition, certified: Any, monkeypatch: pytest.MonkeyPatch, scratch_cluster: Path
) -> None:
    assert "password" not in certified.address
    monkeypatch.setenv("SCRATCH_READER_DSN", scratch.dsn(scratch_cluster, "plain_reader"))
    with pytest.raises(Problem, match="another reader credential"):
        proof.require(source)


def test_activating_a_source_asks_for_its_proof_and_the_task_gives_it(source: Definition) -> None:
    job = Outbox.objects.get(task="evidence.tasks.certify_source", subject_id=source.pk)
    assert job.queue == "reads"
    tasks.certify_source(job.pk)
    tasks.certify_source(job.pk)
    assert Certificate.objects.filter(source="scratch", source_version=source.version).count() == 1
    job.refresh_from_db()
    assert job.done_at is not None


def test_beat_proves_every_active_source(source: Definition) -> None:
    tasks.certify_all()
    tasks.certify_all()
    assert Certificate.objects.filter(source="scratch", holds=True).count() == 2


def test_the_reads_worker_proves_every_source_when_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(celery.app, "send_task", lambda name, queue, expires: sent.append((name, queue)))
    for name in ("verdicts", "reads", "writes"):
        celery.prove_at_start(SimpleNamespace(hostname=f"{name}@host"))
    assert sent == [("evidence.tasks.certify_all", "reads")]


def test_prove_reader_prints_each_fact_and_the_certificate(source: Definition) -> None:
    out = io.StringIO()
    call_command("prove_reader", "scratch", stdout=out)
    certificate = proof.latest("scratch")
    assert certificate is not None
    assert out.getvalue().count("holds  ") == len(certificate.facts)
    assert "the credential: Advisory locks that stop others" in out.getvalue()
    assert str(certificate.pk) in out.getvalue()
    out = io.StringIO()
    call_command("prove_reader", "scratch", "--json", stdout=out)
    assert json.loads(out.getvalue())["holds"] is True


def test_prove_reader_fails_for_a_writer(
    source: Definition, monkeypatch: pytest.MonkeyPatch, dsn_of: Callable[[str], str]
) -> None:
    monkeypatch.setenv("SCRATCH_READER_DSN", dsn_of("postgres"))
    out = io.StringIO()
    with pytest.raises(CommandError, match="stays dark"):
        call_command("prove_reader", "scratch", stdout=out)
    assert "ALTER ROLE postgres NOSUPERUSER;" in out.getvalue()
    with pytest.raises(Problem, match="The role is no superuser"):
        proof.require(source)
    with pytest.raises(CommandError, match="no active source"):
        call_command("prove_reader", "nothing")


@pytest.fixture
def odd_views(scratch_owner: Any) -> Iterator[None]:
    """Views that no one can write through: the rewriter refuses them before privileges are looked at."""
    scratch_owner.execute("create view app_ro.counted as select count(*) as n from app.jobs")
    scratch_owner.execute("grant select on app_ro.counted to strong_reader")
    scratch_owner.execute("create materialized view app_ro.stored as select 1 as n")
    scratch_owner.execute("grant select on app_ro.stored to strong_reader")
    yield
    scratch_owner.execute("drop view app_ro.counted; drop materialized view app_ro.stored")


@pytest.mark.usefixtures("odd_views")
def test_views_that_nobody_writes_through_do_not_darken(source: Definition) -> None:
    assert proof.certify(source).holds


@pytest.mark.django_db(transaction=True)
def test_the_reads_process_may_certify(source: Definition, as_role: Callable[[str], None]) -> None:
    job = Outbox.objects.get(task="evidence.tasks.certify_source", subject_id=source.pk)
    as_role("reads")
    tasks.certify_source(job.pk)
    tasks.certify_all()
    assert proof.require(source).holds
