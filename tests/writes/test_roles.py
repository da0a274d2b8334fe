"""Each process does its part with its own database role, and cannot do another's."""

from __future__ import annotations

import uuid
from typing import Any
from uuid import uuid4

import pytest
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from gate.admission import policies
from gate.writes import actions, admitting, deciding, desk, execution, expiry, preview, quorum
from gate.writes.models import Decision, Execution, Preview, PreviewRequest, WriteRequest
from tests.writes.conftest import PASSWORD, REQUEUE, REQUEUE_PARAMETERS

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_way_through_with_each_processs_own_role(
    target: Any, agent: Any, mia: Any, as_role: Any, job: Any, define: Any
) -> None:
    define("policy", "sql-writes", policies.shipped_body("sql-writes"))
    as_role("agents")
    assert desk.questions(agent, {"target": "shop"})["questions"] == []
    told = desk.propose(agent, {
        "target": "shop", "statement": REQUEUE, "parameters": REQUEUE_PARAMETERS, "title": "Requeue", "reason": "Stuck",
    })  # fmt: skip
    assert (told["status"], told["needs"]) == (
        "proposed", ["admission: it is being checked before a person sees it"]
    )  # fmt: skip
    as_role("reads")
    admitting.admit(told["id"])
    as_role("people")
    write = WriteRequest.objects.get(pk=told["id"])
    request = actions.ask_preview(write, mia)
    as_role("writer")
    preview.make(request.pk)
    as_role("people")
    write.refresh_from_db()
    seen = quorum.latest_preview(write)
    assert seen is not None
    assert seen.error == ""
    deciding.decide(write, by=mia, act="approve", reason="Seen.", seen_version=write.version, password=PASSWORD,
                   proposal_digest=write.proposal_digest, preview_digest=seen.digest)  # fmt: skip
    as_role("writer")
    execution.execute(write.pk)
    expiry.expire()
    as_role("agents")
    assert desk.status(agent, {"write": write.ref}) == {
        "id": write.pk, "write": write.ref, "status": "executed", "edition": 1, "reason": "", "rule": "",
        "needs": [],
    }  # fmt: skip
    assert job(7) == "queued"


def test_an_agent_edits_its_own_write_with_its_planes_role(target: Any, agent: Any, as_role: Any) -> None:
    given = {"target": "shop", "statement": REQUEUE, "title": "Requeue", "reason": "Stuck"}
    as_role("agents")
    told = desk.propose(agent, {**given, "parameters": REQUEUE_PARAMETERS})
    for edition in (2, 3):
        as_role("reads")
        admitting.admit(told["id"])
        as_role("agents")
        changed = [{"t": "text", "v": f"state {edition}"}, *REQUEUE_PARAMETERS[1:]]
        again = desk.propose(agent, {**given, "parameters": changed, "edits": told["write"]})
        assert (again["edition"], again["status"]) == (edition, "proposed")


def approval(write: Any, by: Any) -> Any:
    return lambda: Decision.objects.create(
        id=uuid.uuid4(), write=write, act="approve", edition=1, reason="x", by=by, role="on_call", method="password",
        statement={}, digest="0", expires_at=timezone.now(),
    )  # fmt: skip


@pytest.mark.parametrize("process", ["agents", "writer", "worker", "reads"])
def test_only_the_peoples_plane_inserts_approvals_and_preview_requests(
    propose: Any, mia: Any, as_role: Any, process: str
) -> None:
    write = propose()
    as_role(process)
    for attempt in (approval(write, mia), lambda: PreviewRequest.objects.create(write=write, by=mia)):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            attempt()


@pytest.mark.parametrize("process", ["agents", "worker", "reads"])
def test_who_proposes_cannot_change_a_proposal(propose: Any, as_role: Any, process: str) -> None:
    write = propose()
    as_role(process)
    for change in ({"status": "approved"}, {"statement": "x"}):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            WriteRequest.objects.filter(pk=write.pk).update(**change)


@pytest.mark.parametrize("process", ["people", "writer"])
def test_nobody_changes_what_a_proposal_says(propose: Any, as_role: Any, process: str) -> None:
    write = propose()
    as_role(process)
    for field in ("statement", "parameters", "proposal_digest", "expires_at"):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            WriteRequest.objects.filter(pk=write.pk).update(**{field: getattr(write, field)})


@pytest.mark.parametrize("process", ["people", "writer"])
def test_nobody_changes_a_preview_or_a_decision(approved: Any, as_role: Any, process: str) -> None:
    write = approved()
    as_role(process)
    for model in (Preview, Decision):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            model.objects.filter(write=write).update(digest="0")


def test_the_peoples_plane_neither_previews_nor_executes(approved: Any, as_role: Any) -> None:
    write = approved()
    as_role("people")
    for attempt in (
        lambda: Preview.objects.filter(write=write).update(error="x"),
        lambda: Execution.objects.create(
            write=write, preview=Preview.objects.get(write=write), approvals=[], ledger_key=uuid4()
        ),
    ):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            attempt()


def test_the_writer_sees_people_without_their_passwords(as_role: Any) -> None:
    as_role("writer")
    with connection.cursor() as cursor:
        cursor.execute("select * from people_approver limit 0")
        assert [column.name for column in cursor.description or ()] == [
            "id",
            "username",
            "full_name",
            "role",
            "is_active",
        ]
        with pytest.raises(ProgrammingError, match="permission denied"):
            cursor.execute("select password from people_person")
