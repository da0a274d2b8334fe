"""An argument that nothing on its incident says is a red flag on the write's page; what was read names its entry."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from audit import log
from audit.kinds import Kind
from evidence.survival.fields import LIMITATION
from gate.writes.models import WriteRequest
from gate.writes.survival_marks import Marks

pytestmark = pytest.mark.django_db
STATEMENT = "update shop.jobs set state = $1 where job_id = $2"


def read(incident: Any, result: Any, **changes: Any) -> log.Recorded:
    """A finished call on an incident."""
    actor = log.Actor("agent", "triage-agent", "jonas")
    about: Any = {"tool": "find_job", "call_id": uuid4(), "incident_id": incident.pk, "args": {}, **changes}
    return log.record(Kind.CALL_FINISHED, actor, result=result, **about)


@pytest.fixture
def incident(make_incident: Callable[..., Any], agent: Any) -> Any:
    return make_incident(agent)[0]


def proposed(propose: Any, incident: Any, statement: str, *values: tuple[str, str]) -> WriteRequest:
    write: WriteRequest = propose(statement, [{"t": kind, "v": value} for kind, value in values])
    # As `propose` sets it, without the way through a running investigation.
    WriteRequest.objects.filter(pk=write.pk).update(incident=incident)
    return WriteRequest.objects.select_related("target", "incident").get(pk=write.pk)


def test_each_argument_names_what_it_rests_on(propose: Any, incident: Any) -> None:
    entry = read(incident, {"job": {"job_id": 7, "state": "running"}, "states": ["queued", "failed"]})
    write = proposed(propose, incident, STATEMENT, ("text", "queued"), ("bigint", "7"))
    marks = Marks(write)
    assert [(one.name, one.status, [held.ref for held in one.entries]) for one in marks.parameters] == [
        ("$1", "supported", [entry.ref]), ("$2", "supported", [entry.ref]),
    ]  # fmt: skip
    assert not marks.bare


def test_a_key_that_nobody_read_is_a_red_flag(
    propose: Any, incident: Any, client: Client, make_person: Callable[..., Any]
) -> None:
    read(incident, {"job": {"job_id": 7, "state": "queued"}})
    write = proposed(propose, incident, STATEMENT, ("text", "queued"), ("bigint", "8"))
    client.force_login(make_person("mia", "on_call"))
    page = client.get(f"/writes/{write.pk}/").content.decode()
    assert "1 argument in no evidence" in page
    assert re.search(r"<code>8</code></td><td><span class=\"state state--bad\"[^>]*>in no evidence", page)
    assert re.search(r"<code>queued</code></td><td><span class=\"state state--ok\"[^>]*>in evidence", page)
    assert LIMITATION in page


def test_values_in_the_statement_itself_are_looked_at_too(propose: Any, incident: Any) -> None:
    read(incident, {"state": "queued"})
    write = proposed(propose, incident, "update shop.jobs set state = 'queued', kind = 'it''s' where job_id = 4711")
    found = {one.value: one.status for one in Marks(write).literals}
    assert found == {"queued": "supported", "it's": "unsupported", "4711": "unsupported"}


def test_what_was_read_later_or_failed_or_on_another_incident_is_no_evidence(
    propose: Any, incident: Any, make_incident: Callable[..., Any], agent: Any
) -> None:
    read(incident, {"job_id": 4711}, status="failed")
    write = proposed(propose, incident, STATEMENT, ("text", "queued"), ("bigint", "4711"))
    read(incident, {"job_id": 4711})
    assert Marks(write).parameters[1].status == "unsupported"


def test_the_incident_itself_is_the_question(propose: Any, incident: Any) -> None:
    type(incident).objects.filter(pk=incident.pk).update(subject={"job_id": 90412}, title="Job 90412 failed")
    write = proposed(propose, incident, STATEMENT, ("text", "queued"), ("bigint", "90412"))
    assert Marks(write).parameters[1].mark.words == "from the incident"


def test_a_write_without_an_incident_says_that_nothing_is_compared(
    propose: Any, client: Client, make_person: Callable[..., Any]
) -> None:
    write = propose()
    client.force_login(make_person("mia", "on_call"))
    page = client.get(f"/writes/{write.pk}/").content.decode()
    assert "It names no incident, so there is nothing that was read" in page
    assert "in no evidence" not in page
