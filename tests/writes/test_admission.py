"""Admission: what is proposed is observed and judged before a person sees it, and what is blocked never runs."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone

from audit import reading, twohands
from audit.models import Entry
from gate.admission import policies
from gate.errors import NotAllowed
from gate.triage import arrivals
from gate.writes import actions, admission, admitting, desk, editing, execution, preview, tasks
from gate.writes.models import Admission, Decision, FirstLook, Preview, PreviewRequest, WriteRequest
from gate.writes.probes import observing
from tests.writes.admissions import WIDE, admitted, checks, newest
from tests.writes.admissions import aim as aim
from tests.writes.admissions import enforced as enforced
from tests.writes.admissions import offer as offer
from tests.writes.admissions import source as source
from tests.writes.conftest import PASSWORD, REQUEUE_PARAMETERS
from tests.writes.test_screens import page, plain

pytestmark = pytest.mark.django_db


def test_it_is_checked_before_anybody_acts_on_it(
    aim: Any, offer: Any, enforced: Any, mia: Any, client: Client, agent: Any, approve: Any
) -> None:
    aim()
    write = offer()
    assert write.status == "proposed"
    assert desk.status(agent, {"write": write.ref})["needs"] == [
        "admission: it is being checked before a person sees it"
    ]
    with pytest.raises(NotAllowed, match="is being checked"):
        actions.ask_preview(write, mia)
    for act in ("approve", "reject", "request_changes"):
        with pytest.raises(NotAllowed, match="is being checked"):
            approve(write, act=act)
    client.force_login(mia)
    shown = plain(page(client, write))
    assert ("Being checked" in shown, "It is being checked." in shown, "Approve:" in shown) == (True, True, False)
    drawn = arrivals.newest()
    assert arrivals.since(drawn, mia) == ""
    admitted(write)
    assert (arrivals.since(drawn, mia), arrivals.since(arrivals.newest(), mia)) == ("1 new write.", "")
    found = newest(write)
    assert (write.status, found.verdict, found.rule, found.version) == (
        "waiting", "ask", "production_is_asked", enforced,
    )  # fmt: skip
    shown = plain(page(client, write))
    assert "rule production_is_asked of SQL writes, version 1" in shown
    assert "How many rows change? one 1 row probe, read-only count" in shown
    assert "Is an incident open on the same subject? asked by no rule no none on its subject probe, incidents" in shown


def test_what_is_blocked_says_why_and_is_recorded(
    aim: Any, offer: Any, enforced: Any, mia: Any, client: Client, agent: Any, entries: Any
) -> None:
    aim()
    write = admitted(offer(WIDE))
    assert write.status == "blocked"
    told = desk.status(agent, {"write": write.ref})
    assert (told["status"], told["rule"], told["needs"]) == ("blocked", "unkeyed_change", [])
    assert told["reason"] == (
        f"The rule unkeyed_change of the policy sql-writes blocks {write.ref} (keyed: no, rows_touched: few)."
    )
    assert [entry.kind for entry in entries(write.ref)] == ["write.proposed", "write.blocked"]
    entry = Entry.objects.filter(subject=write.ref, kind="write.blocked").latest("seq")
    content = reading.payload_of(entry.pk)
    assert (entry.tool, entry.tool_version, entry.tool_hash) == ("sql-writes", 1, policies.digest(enforced))
    assert content.args["judged_action"] == content.args["executed_action"] == write.proposal_digest
    assert content.args["answers"]["keyed"] == {"value": "no", "by": "probe"}
    assert content.args["action"]["facts"]["rows_touched"] == {"seen": "20 rows", "source": "read-only count"}
    assert (content.result["verdict"], content.result["rule"]) == ("block", "unkeyed_change")
    client.force_login(mia)
    shown = plain(page(client, write))
    assert "The rule unkeyed_change of SQL writes blocks this write." in shown
    assert "Does the condition name a whole key of the table? no : no whole key, but kind" in shown
    assert "Propose it again" in shown
    assert not FirstLook.objects.filter(write=write).exists()
    judged = client.get(f"/policies/sql-writes/decisions/{entry.seq}/").content.decode()
    assert f'href="/writes/{write.pk}/"' in judged
    assert "keyed Does the condition name a whole key of the table? no no whole key, but kind probe" in plain(judged)


def test_nobody_gets_a_blocked_write_approved(
    aim: Any, offer: Any, enforced: Any, mia: Any, client: Client, approve: Any, job: Any, agent: Any
) -> None:
    aim()
    write = admitted(offer(WIDE))
    with pytest.raises(NotAllowed, match=r"blocks .* Nobody can overrule that"):
        actions.ask_preview(write, mia)
    for act in ("approve", "break_glass", "reject", "request_changes"):
        with pytest.raises(NotAllowed):
            approve(write, act=act)
    with pytest.raises(NotAllowed, match="blocked, so it is not edited"):
        editing.edit(write, seen_version=write.version, statement=WIDE, parameters=[], title="t", reason="r",
                     by_agent=agent)  # fmt: skip
    client.force_login(mia)
    body = {"decision": "approve", "reason": "r", "seen_version": write.version, "password": PASSWORD,
            "proposal_digest": write.proposal_digest, "preview_digest": ""}  # fmt: skip
    assert client.post(f"/writes/{write.pk}/decision/", body).status_code == 409
    assert client.post(f"/writes/{write.pk}/preview/").status_code == 409
    request = PreviewRequest.objects.create(write=write, by=mia)
    preview.make(request.pk)
    assert "blocked, so there is nothing to preview" in write.previews.get().error
    execution.execute(write.pk)
    admitting.admit(write.pk)
    write.refresh_from_db()
    assert (write.status, Decision.objects.filter(write=write).count(), job(7)) == ("blocked", 0, "running")


def test_rows_that_say_it_was_approved_run_nothing(
    aim: Any, offer: Any, enforced: Any, mia: Any, approve: Any, job: Any
) -> None:
    """A blocked write whose rows somebody set by SQL, with a real approval of exactly its bytes."""
    aim()
    write = admitted(offer(WIDE + " and job_id < 4"))
    assert write.status == "blocked"
    WriteRequest.objects.filter(pk=write.pk).update(status="waiting")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(admission, "check_is_current", lambda write: None)
        patch.setattr(admission, "check_effect", lambda write, seen: None)
        write.refresh_from_db()
        request = actions.ask_preview(write, mia)
        preview.make(request.pk)
        approve(write)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(1)) == ("failed", "running")
    said = Entry.objects.filter(subject=write.ref, kind="write.failed").latest("seq").error
    assert said == f"Admission never let {write.ref} in front of people as it stands."


def test_without_an_admission_nothing_runs(approved: Any, job: Any) -> None:
    write = approved()
    found = newest(write)
    Admission.objects.filter(pk=found.pk).delete()
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("failed", "running")


def test_an_admission_that_the_log_does_not_know_lets_nothing_run(aim: Any, offer: Any) -> None:
    aim()
    write = offer()
    Admission.objects.create(
        write=write, edition=write.edition, proposal_digest=write.proposal_digest, policy="sql-writes", verdict="ask",
        decided="ask", is_enforced=False, escalations=[], answers={}, facts={}, model={},
    )  # fmt: skip
    with pytest.raises(admission.NotAdmitted, match="never let"):
        admission.check_admitted(write, Preview())


def test_a_changed_action_at_execution_runs_nothing(approved: Any, job: Any) -> None:
    write = approved()
    changed = [REQUEUE_PARAMETERS[0], {"t": "bigint", "v": "8"}, REQUEUE_PARAMETERS[2]]
    WriteRequest.objects.filter(pk=write.pk).update(parameters=changed)
    execution.execute(write.pk)
    write.refresh_from_db()
    said = Entry.objects.filter(subject=write.ref, kind="write.failed").latest("seq").error
    assert (write.status, "(action_changed)" in said, job(7), job(8)) == ("failed", True, "running", "running")


def test_answers_about_a_row_that_changed_meanwhile_are_void(
    aim: Any, offer: Any, enforced: Any, monkeypatch: Any
) -> None:
    aim()
    write = offer()
    seen = observing.of

    def slowly(given: WriteRequest) -> Any:
        WriteRequest.objects.filter(pk=given.pk).update(title="Another")
        return seen(given)

    monkeypatch.setattr(observing, "of", slowly)
    found = newest(admitted(write))
    assert (found.verdict, found.rule, [one["why"] for one in found.escalations]) == ("ask", "", ["action_changed"])


def test_a_second_delivery_changes_nothing(aim: Any, offer: Any, enforced: Any, entries: Any) -> None:
    aim()
    write = offer()
    (ask,) = checks(write)
    assert ask.queue == "reads"
    tasks.admit_write(ask.pk)
    found = admitting.judge(WriteRequest.objects.select_related("target").get(pk=write.pk))
    tasks.admit_write(ask.pk)
    admitting.admit(write.pk)
    admitting._record(found)  # by a worker that was slower
    write.refresh_from_db()
    counts = (Admission.objects.filter(write=write).count(), FirstLook.objects.filter(write=write).count())
    assert (write.status, write.version, counts) == ("waiting", 2, (1, 1))
    assert [entry.kind for entry in entries(write.ref)] == ["write.proposed", "write.admitted", "write.looked_at"]


def test_an_edit_is_judged_anew(aim: Any, offer: Any, enforced: Any, agent: Any) -> None:
    aim()
    write = admitted(offer())
    given: dict[str, Any] = {"parameters": [], "title": "t", "reason": "r", "by_agent": agent}
    edited = editing.edit(write, seen_version=write.version, statement=WIDE, **given)
    assert (edited.status, admission.latest(edited)) == ("proposed", None)
    # While it is checked it may be edited once more; what was judged of the earlier edition is not recorded.
    judged = admitting.judge(edited)
    again = editing.edit(edited, seen_version=edited.version, statement=WIDE + " and true", **given)
    admitting._record(judged)
    again.refresh_from_db()
    assert (again.status, again.edition) == ("proposed", 3)
    assert admitted(again).status == "blocked"


def test_without_a_policy_a_person_is_asked_and_the_page_says_so(
    target: Any, offer: Any, mia: Any, client: Client
) -> None:
    write = admitted(offer())
    found = newest(write)
    assert (write.status, found.verdict, found.version, found.escalations) == (
        "waiting", "ask", None, [{"q": None, "why": "no_policy", "reason": ""}],
    )  # fmt: skip
    client.force_login(mia)
    assert "no policy sql-writes is in force, so a person decides" in plain(page(client, write))


def test_a_target_names_its_policy(aim: Any, offer: Any, define: Any) -> None:
    aim(policy="restarts")
    define("policy", "restarts", dict(policies.EXAMPLE))
    found = newest(admitted(offer()))
    assert (found.policy, found.escalations[0]["q"], found.escalations[0]["why"]) == ("restarts", "replicas", "missing")


def test_a_policy_that_observes_holds_nothing_back(
    aim: Any, offer: Any, make_person: Any, mia: Any, client: Client
) -> None:
    aim()
    person = make_person("olga", "admin")
    version = twohands.draft("policy", "sql-writes", policies.shipped_body("sql-writes") or {}, by=person, reason="r")
    twohands.shadow(version.pk, by=person)
    write = admitted(offer(WIDE))
    found = newest(write)
    assert (write.status, found.verdict, found.decided, found.is_enforced) == ("waiting", "ask", "block", False)
    client.force_login(mia)
    assert "which only observes: it would block" in plain(page(client, write))


@pytest.mark.django_db(transaction=True)
def test_no_role_lets_a_write_in_by_sql(aim: Any, offer: Any, enforced: Any, as_role: Any, agent: Any) -> None:
    aim()
    checked, stopped = offer(), offer(WIDE)
    as_role("reads")
    admitting.admit(stopped.pk)
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        Admission.objects.create(write=checked, edition=1, is_enforced=True, escalations=[], answers={}, facts={},
                                 model={}, verdict="ask")  # fmt: skip
    stopped.refresh_from_db()
    assert stopped.status == "blocked"
    for process in ("people", "writer"):
        as_role(process)
        for write, status in ((checked, "waiting"), (checked, "approved"), (checked, "executing"), (stopped, "waiting"),
                              (stopped, "approved"), (stopped, "proposed")):  # fmt: skip
            with pytest.raises(ProgrammingError, match="only admission decides"), transaction.atomic():
                WriteRequest.objects.filter(pk=write.pk).update(status=status)
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("select writes_admit(%s, 1, '{}')", [checked.pk])
    for process in ("people", "agents"):
        as_role(process)
        with pytest.raises(ProgrammingError, match="begins as proposed"), transaction.atomic():
            WriteRequest.objects.create(
                target=checked.target, title="t", statement="s", verb="update", table="a.b", parameters=[], reason="r",
                proposed_by_agent_id=agent.agent_id, expires_at=timezone.now(), proposal_digest="0", status="waiting",
            )  # fmt: skip
