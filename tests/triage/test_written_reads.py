"""A read that wrote is an incident for people, and its source is dark until one of them closes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import DatabaseError, ProgrammingError, transaction

from audit.models import Definition, Entry
from evidence import gateway, proof, reader, written_reads
from evidence.errors import Problem
from gate.triage import inbox, incident_actions, investigations, tasks, written
from gate.triage.models import Incident
from tests.evidence import bodies
from tests.evidence.conftest import asker, certified, dsn_of, scope_of, scratch_cluster, scratch_owner, source

__all__ = ["asker", "certified", "dsn_of", "scope_of", "scratch_cluster", "scratch_owner", "source"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def wrote(
    certified: Any, define: Any, asker: Any, scope_of: Any, monkeypatch: pytest.MonkeyPatch, dsn_of: Any,
    scratch_owner: Any,
) -> Iterator[Callable[[], Problem]]:  # fmt: skip
    """A call during which something writes: a superuser's credential, put under the certificate of the reader's."""
    scratch_owner.execute(
        "create function app_ro.stamped() returns text language sql as 'select pg_current_xact_id()::text'"
    )
    reader.close()
    define("tool", "stamped", bodies.any_tool("select app_ro.stamped() as a"))
    scope_of(asker[0], "stamped", budget=9)
    certified.address = certified.address.replace("strong_reader", "postgres")
    certified.save()
    monkeypatch.setenv("SCRATCH_READER_DSN", dsn_of("postgres"))

    def call() -> Problem:
        with pytest.raises(Problem) as caught:
            gateway.call(asker[0], "stamped", {}, None)
        return caught.value

    yield call
    scratch_owner.execute("drop function app_ro.stamped()")
    reader.close()


def opened() -> list[Incident]:
    """What beat's job makes of it."""
    tasks.abandon_overdue()
    return list(written.open_ones())


def test_it_opens_an_incident_that_names_the_call_and_darkens_the_source(
    wrote: Callable[[], Problem], make_person: Any
) -> None:
    failed = wrote()
    assert (failed.code, failed.status) == ("wrote", 502)
    again = wrote()
    assert (again.code, again.status) == ("source_dark", 503)
    assert failed.audit_id in again.sentence
    (incident,) = opened()
    assert (incident.severity, incident.subject) == ("critical", {"source": "scratch"})
    assert incident.facts == {"during": failed.audit_id, "by": "asker"}
    entry = Entry.objects.get(kind="incident.opened", incident_id=incident.pk)
    assert (entry.actor_kind, entry.subject) == ("process", incident.ref)
    (group,) = [one for one in inbox.groups(inbox.Filters(), make_person("mia", "on_call")) if one.rows]
    assert (group.title, group.is_yours, group.rows[0].ref) == ("Reads that wrote", True, incident.ref)
    standing = proof.standings([Definition.objects.get(kind="source", name="scratch", status="active")])["scratch"]
    assert (standing.holds, standing.word) == (False, "dark")


def test_a_new_proof_and_a_new_version_do_not_light_it_and_a_person_who_closes_it_does(
    wrote: Callable[[], Problem], define: Any, make_person: Any, dsn_of: Any,
    monkeypatch: pytest.MonkeyPatch, scratch_owner: Any,
) -> None:  # fmt: skip
    wrote()
    (incident,) = opened()
    monkeypatch.setenv("SCRATCH_READER_DSN", dsn_of("strong_reader"))
    source = define("source", "scratch", bodies.source(query=True))
    scratch_owner.execute("revoke execute on function app_ro.stamped() from public")
    assert proof.certify(source).holds
    with pytest.raises(Problem, match="a read of it wrote"):
        proof.require(source)
    incident_actions.close(incident.pk, by=make_person("mia", "on_call"), reason="dropped", seen_version=1)
    assert proof.require(source).holds


def test_a_second_one_adds_to_the_open_incident(wrote: Callable[[], Problem], source: Definition) -> None:
    wrote()
    (incident,) = opened()
    written_reads.note(source, "W-577", "reads")
    assert [one.pk for one in opened()] == [incident.pk]
    assert Entry.objects.get(kind="incident.updated", incident_id=incident.pk).summary == "once more, during W-577"


def test_no_agent_looks_into_it(wrote: Callable[[], Problem], asker: Any) -> None:
    wrote()
    (incident,) = opened()
    with pytest.raises(Problem, match="waits for a person"):
        investigations.start(asker[0], incident.ref)
    Incident.objects.exclude(pk=incident.pk).delete()
    with pytest.raises(Problem, match="No open incident"):
        investigations.start(asker[0], None)


def test_what_cannot_be_kept_is_said(wrote: Callable[[], Problem], monkeypatch: pytest.MonkeyPatch) -> None:

    def fail(*given: Any) -> None:
        raise DatabaseError

    monkeypatch.setattr(written_reads, "note", fail)
    assert wrote().code == "not_darkened"


def test_its_class_comes_with_the_first_source_by_the_same_hands(source: Definition, define: Any) -> None:
    came = Definition.objects.get(kind="class", name=written.CLASS, status="active")
    assert (came.drafted_by, came.activated_by) == (source.drafted_by, source.activated_by)
    define("source", "scratch", bodies.source(query=True))
    assert Definition.objects.filter(kind="class", name=written.CLASS).count() == 1


@pytest.mark.django_db(transaction=True)
def test_each_process_may_do_its_part_and_no_more(
    source: Definition, make_person: Any, as_role: Callable[[str], None]
) -> None:
    mia = make_person("mia", "on_call")
    as_role("agents")
    written_reads.note(source, "A-1", "asker")
    with pytest.raises(ProgrammingError), transaction.atomic():
        written_reads.settle("scratch")
    as_role("reads")
    written_reads.note(source, "W-577", "reads")
    as_role("worker")
    (incident,) = opened()
    with pytest.raises(ProgrammingError), transaction.atomic():
        written_reads.settle("scratch")
    as_role("people")
    incident_actions.close(incident.pk, by=mia, reason="dropped", seen_version=incident.version)
    assert written_reads.unsettled(["scratch"]) == {}
