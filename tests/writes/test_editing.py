"""Editing a write: a new edition with a digest of its own, approvals gone, history kept, and only by its proposer."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.urls import reverse

from audit.models import Entry
from evidence.errors import Problem
from gate.errors import NotAllowed
from gate.writes import actions, admitting, desk, editing, execution, limits, preview
from gate.writes.models import Edition, WriteRequest
from tests.writes.conftest import REQUEUE, REQUEUE_PARAMETERS, body

pytestmark = pytest.mark.django_db
OTHER = [{"t": "text", "v": "failed"}, *REQUEUE_PARAMETERS[1:]]


@pytest.fixture
def edit(agent: Any) -> Any:
    def make(write: WriteRequest, **changed: Any) -> WriteRequest:
        write.refresh_from_db()
        given = {
            "seen_version": write.version, "statement": REQUEUE, "parameters": OTHER, "title": "Fail job 7",
            "reason": "It must not run again.", "by_agent": agent, **changed,
        }  # fmt: skip
        edited = editing.edit(write, **given)
        admitting.admit(edited.pk)
        return edited

    return make


def test_an_edit_is_a_new_edition_and_the_old_one_is_kept(propose: Any, edit: Any, agent: Any) -> None:
    write = propose()
    before = write.proposal_digest
    edit(write)
    write.refresh_from_db()
    assert (write.edition, write.title, write.parameters) == (2, "Fail job 7", OTHER)
    assert write.proposal_digest != before
    kept = Edition.objects.get(write=write)
    assert (kept.number, kept.title, kept.proposal_digest) == (1, "Requeue job 7", before)
    assert kept.edited_by_agent_id == agent.agent_id
    assert Entry.objects.filter(subject=write.ref, kind="write.edited").count() == 1


def test_what_was_approved_before_counts_no_more(
    define: Any, previewed: Any, approve: Any, edit: Any, mia: Any, make_person: Any, job: Any
) -> None:
    define("target", "shop", body(approvers={"on_call": 2}))
    write = previewed()
    approve(write)
    edit(write)
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write, by=make_person("noa", "on_call"))
    write.refresh_from_db()
    assert write.status == "waiting"
    WriteRequest.objects.filter(pk=write.pk).update(status="approved")
    execution.execute(write.pk)
    assert job(7) == "running"


def test_an_old_preview_is_no_preview_of_the_edition(previewed: Any, edit: Any, approve: Any) -> None:
    write = previewed()
    edit(write)
    with pytest.raises(NotAllowed, match="Nobody has previewed"):
        approve(write)


def test_changes_that_were_requested_make_it_wait_again(previewed: Any, approve: Any, edit: Any, mia: Any) -> None:
    write = previewed()
    approve(write, act="request_changes", reason="Say failed.")
    edit(write)
    write.refresh_from_db()
    assert write.status == "waiting"
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write)  # who asked for changes may approve them
    write.refresh_from_db()
    assert write.status == "approved"


@pytest.mark.parametrize(
    "status", sorted(set(WriteRequest.Status.values) - {"proposed", "waiting", "changes_requested"})
)
def test_what_is_approved_or_over_is_not_edited(propose: Any, edit: Any, status: str) -> None:
    write = propose()
    WriteRequest.objects.filter(pk=write.pk).update(status=status)
    with pytest.raises(NotAllowed, match="not edited any more"):
        edit(write)


def test_nobody_edits_what_another_proposed(propose: Any, edit: Any, mia: Any, make_agent: Any) -> None:
    from audit import agents

    write = propose()
    _, token = make_agent("other-agent", owner=mia)
    for by in ({"by_agent": None, "by_person": mia}, {"by_agent": agents.authenticate(token)}):
        with pytest.raises(NotAllowed, match="Only whoever proposed"):
            edit(write, **by)


def test_the_database_lets_nobody_edit_around_it(propose: Any, mia: Any, as_role: Any) -> None:
    write = propose()
    as_role("people")
    made = (
        '{"target": 1, "title": "x", "statement": "x", "verb": "x", "table": "x", "parameters": [], "reason": "",'
        ' "expires_at": "2030-01-01T00:00:00Z", "proposal_digest": ""}'
    )
    with pytest.raises(ProgrammingError, match="Only whoever proposed"), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("select writes_edit(%s, 1, %s, null, %s)", [write.pk, made, mia.pk])


@pytest.mark.parametrize("process", ["worker", "reads", "writer"])
def test_who_edits_nothing_may_not_call_the_function(propose: Any, as_role: Any, process: str) -> None:
    write = propose()
    as_role(process)
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("select writes_edit(%s, 1, '{}', null, 1)", [write.pk])


def test_an_agent_edits_through_its_tool(propose: Any, agent: Any) -> None:
    write = propose()
    given = {"target": "shop", "statement": REQUEUE, "parameters": OTHER, "title": "Fail job 7", "reason": "Over."}
    told = desk.propose(agent, {**given, "edits": write.ref})
    assert (told["id"], told["status"], told["edition"]) == (write.pk, "proposed", 2)
    write.refresh_from_db()
    assert write.edition == 2
    with pytest.raises(Problem, match="not yours to edit"):
        desk.propose(agent, {**given, "edits": "W-999999"})
    with pytest.raises(Problem, match="keeps the target"):
        desk.propose(agent, {**given, "target": "other", "edits": write.ref})


def test_a_person_edits_on_a_page(client: Client, propose: Any, make_person: Any) -> None:
    ada = make_person("ada", "on_call")
    write = propose(by_person=ada)
    client.force_login(ada)
    address = reverse("writes:edit", args=[write.pk])
    assert f"Edit {write.ref}" in client.get(address).content.decode()
    given = {
        "title": "Fail job 7", "statement": REQUEUE, "parameters": "text failed\nbigint 7\ntext running",
        "reason": "Over.", "seen_version": write.version,
    }  # fmt: skip
    assert client.post(address, given).status_code == 302
    write.refresh_from_db()
    assert (write.edition, write.parameters) == (2, OTHER)
    stale = client.post(address, given)
    assert stale.status_code == 422
    assert "changed while you were reading" in stale.content.decode()


def test_who_edited_does_not_approve(previewed: Any, approve: Any, make_person: Any, edit: Any, mia: Any) -> None:
    ada = make_person("ada", "on_call")
    write = previewed(by_person=ada)
    edit(write, by_agent=None, by_person=ada)
    preview.make(actions.ask_preview(write, mia).pk)
    with pytest.raises(NotAllowed, match="You proposed this write"):
        approve(write, by=ada)


def test_a_write_that_is_decided_about_while_its_agent_edits_it_is_left_alone(
    propose: Any, agent: Any, monkeypatch: Any
) -> None:
    write = propose()

    def decided(*given: Any, **more: Any) -> None:
        WriteRequest.objects.filter(pk=write.pk).update(status="approved")

    monkeypatch.setattr(limits, "check_proposal", decided)
    with pytest.raises(NotAllowed, match=f"{write.ref} was decided about or edited just now"):
        editing.edit(
            write, seen_version=write.version, statement=write.statement, parameters=write.parameters, title="t",
            reason="r", by_agent=agent,
        )  # fmt: skip
