"""Canaries: they look like any write, run never, and whoever approves one approves nothing more."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection
from django.test import Client
from django.utils import timezone

from audit.models import Agent, Definition, Entry, Outbox
from gate.errors import NotAllowed
from gate.writes import actions, admitting, canaries, canary_placing, desk, digests, execution, preview, tasks
from gate.writes.errors import Unfit
from gate.writes.models import Canary, CanaryAnswer, WriteRequest
from tests.writes.canary import CANARY
from tests.writes.conftest import BODY

pytestmark = pytest.mark.django_db


def place(given: dict[str, Any]) -> WriteRequest:
    """Plan a canary and place it, as two processes do."""
    canary_placing.plan(given, placed_by="root")
    write = canary_placing.place_due()
    assert write is not None
    admitting.admit(write.pk)
    return write


@pytest.fixture
def placed(agent: Any, target: Any, define: Any, mia: Any) -> WriteRequest:
    """A canary with its preview, at a target whose credential nobody holds."""
    define("target", "orders", {**BODY, "credential_env": "ORDERS_WRITER_DSN"})
    write = place(CANARY)
    preview.make(actions.ask_preview(write, mia).pk)
    write.refresh_from_db()
    return write


@pytest.fixture
def as_mia(client: Client, mia: Any) -> Client:
    client.force_login(mia)
    return client


def shape(page: str) -> list[tuple[str, ...]]:
    """What a page consists of: its panels, their titles, the facts beside them, and the buttons."""
    body = page.split("<main")[1].split("</main>")[0]
    return re.findall(r'<section class="([^"]*)"|<h2>([^<]*)|<dt>([^<]*)|<button ([^>]*)>|name="([^"]*)"', body)


def test_it_looks_like_any_other_write_until_somebody_decides(as_mia: Client, placed: Any, previewed: Any) -> None:
    real = previewed(
        "update shop.jobs set state = 'cancelled', locked_by = null where job_id <= 3 and state = $1",
        CANARY["parameters"], title=CANARY["title"], reason=CANARY["reason"],
    )  # fmt: skip
    pages = [as_mia.get(f"/writes/{write.pk}/").content.decode() for write in (placed, real)]
    assert "anar" not in pages[0].split("<main")[1]
    assert "Approve: update 3 rows in shop.jobs" in pages[0]
    assert shape(pages[0]) == shape(pages[1])
    assert "anar" not in as_mia.get("/writes/").content.decode().split("<main")[1]
    recorded = [
        Entry.objects.filter(subject=write.ref, kind="write.proposed").latest("seq") for write in (placed, real)
    ]
    assert {entry.actor for entry in recorded} == {"triage-agent"}


def test_to_turn_it_down_is_a_catch(placed: Any, approve: Any, mia: Any, as_mia: Client) -> None:
    approve(placed, act="reject", password="", reason="It cancels all of them.")
    (score,) = canaries.scores()
    assert (score.person, score.caught, score.approved, score.pause) == (mia, 1, 0, None)
    placed.refresh_from_db()
    assert placed.status == "rejected"
    assert CANARY["flaw"] in as_mia.get(f"/writes/{placed.pk}/").content.decode()


def test_an_approval_is_recorded_runs_nothing_and_pauses(
    placed: Any, approve: Any, previewed: Any, mia: Any, job: Any, as_mia: Client
) -> None:
    approve(placed)
    placed.refresh_from_db()
    assert placed.status == "withdrawn"
    assert not Outbox.objects.filter(task="gate.writes.tasks.execute_write", subject_id=placed.pk).exists()
    execution.execute(placed.pk)
    assert {job(number) for number in range(1, 4)} == {"running"}
    assert Entry.objects.filter(subject=placed.ref, kind="canary.approved", actor="Mia Lindqvist").exists()
    with pytest.raises(NotAllowed, match=f"You approved {placed.ref}, which was placed to be turned down"):
        approve(previewed())
    assert "You approve nothing until an" in as_mia.get(f"/writes/{placed.pk + 1}/").content.decode()


def test_a_row_that_says_approved_runs_nothing_either(placed: Any, approve: Any, job: Any) -> None:
    approve(placed)
    WriteRequest.objects.filter(pk=placed.pk).update(status="approved")
    execution.execute(placed.pk)
    placed.refresh_from_db()
    assert placed.status not in ("executed", "unknown")
    assert {job(number) for number in range(1, 4)} == {"running"}


def test_an_admin_lifts_the_pause_of_somebody_else(
    placed: Any, approve: Any, previewed: Any, mia: Any, make_person: Any, client: Client
) -> None:
    approve(placed)
    answer = CanaryAnswer.objects.get()
    olga = make_person("olga", "admin", "Olga Ruiz")
    for person in (mia, make_person("adam", "auditor")):
        client.force_login(person)
        assert client.post(f"/writes/canaries/{answer.pk}/lifting/", {"reason": "r"}).status_code == 403
    client.force_login(olga)
    page = client.get("/writes/canaries/").content.decode()
    assert ("Mia Lindqvist" in page, "paused" in page) == (True, True)
    assert client.post(f"/writes/canaries/{answer.pk}/lifting/", {"reason": ""}).status_code == 422
    assert client.post(f"/writes/canaries/{answer.pk}/lifting/", {"reason": "We talked."}).status_code == 302
    assert client.post(f"/writes/canaries/{answer.pk}/lifting/", {"reason": "Again."}).status_code == 409
    approve(previewed())
    assert Entry.objects.filter(kind="canary.pause_lifted", subject="mia", actor="Olga Ruiz").exists()


def test_nobody_lifts_their_own_pause(placed: Any, approve: Any, mia: Any) -> None:
    approve(placed)
    mia.role = "admin"
    mia.save()
    with pytest.raises(NotAllowed, match="another admin lifts it"):
        canaries.lift(CanaryAnswer.objects.get(), by=mia, reason="r")


def test_where_the_writer_holds_the_credential_it_is_never_approvable(
    placed: Any, mia: Any, approve: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("ORDERS_WRITER_DSN", "host=somewhere")
    preview.make(actions.ask_preview(placed, mia).pk)
    assert "cannot be previewed against orders" in placed.previews.latest("pk").error
    with pytest.raises(NotAllowed, match="found no effect"):
        approve(placed)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"flaw": " "}, "what is bad"), ({"agent": "nobody"}, "no agent nobody"), ({"more": 1}, "has these keys"),
        ({"rows": []}, "rows is a list"), ({"footprint": {"shop.jobs": [1]}}, "footprint says"),
        ({"rows": [{**CANARY["rows"][0], "after": {"job_id": 1}}]}, "rows is a list"),
        ({"statement": "select 1"}, "INSERT, UPDATE or DELETE"), ({"target": "nowhere"}, "no target"),
    ],
)  # fmt: skip
def test_a_canary_that_gives_itself_away_is_not_placed(
    agent: Any, target: Any, define: Any, changed: Any, why: str
) -> None:
    define("target", "orders", {**BODY, "credential_env": "ORDERS_WRITER_DSN"})
    with pytest.raises(Unfit, match=why):
        canary_placing.plan({**CANARY, **changed}, placed_by="root")
    assert not Canary.objects.exists()


def test_the_command_plans_a_file(agent: Any, target: Any, define: Any, tmp_path: Path) -> None:
    define("target", "orders", {**BODY, "credential_env": "ORDERS_WRITER_DSN"})
    file = tmp_path / "canaries.json"
    file.write_text(json.dumps([CANARY, {**CANARY, "title": "Requeue job 2"}]))
    call_command("canary", str(file), "--chance", "0")
    assert not Canary.objects.exists()
    call_command("canary", str(file), "--one")
    assert Canary.objects.count() == 1
    call_command("canary", str(file))
    assert Canary.objects.count() == 3
    file.write_text("{}")
    with pytest.raises(CommandError, match="JSON list"):
        call_command("canary", str(file))


def propose_by_desk(agent: Any) -> None:
    desk.propose(agent, {
        "target": "shop", "title": "Requeue job 7", "reason": "worker-7 died", "parameters": [],
        "statement": "update shop.jobs set state = 'queued' where job_id = 7",
    })  # fmt: skip


def test_it_comes_beside_the_next_proposal_and_once(agent: Any, target: Any, define: Any) -> None:
    define("target", "orders", {**BODY, "credential_env": "ORDERS_WRITER_DSN"})
    canary_placing.plan({**CANARY, "agent": "triage-agent"}, placed_by="root")
    assert not WriteRequest.objects.exists()
    for _ in range(2):
        propose_by_desk(agent)
        WriteRequest.objects.filter(title="Requeue job 7").update(status="withdrawn")  # so that the next is no twin
    found = WriteRequest.objects.order_by("pk")
    assert [one.title for one in found] == ["Requeue job 7", "Requeue job 1", "Requeue job 7"]
    placed = found[1]
    assert (placed.canary.flaw, placed.proposal_digest) == (CANARY["flaw"], digests.of_proposal(placed))


@pytest.mark.parametrize("stopped", ["agent", "target"])
def test_one_whose_agent_or_target_is_gone_keeps_nobody_back(
    agent: Any, target: Any, define: Any, stopped: str
) -> None:
    orders = define("target", "orders", {**BODY, "credential_env": "ORDERS_WRITER_DSN"})
    canary_placing.plan(CANARY, placed_by="root")
    if stopped == "agent":
        Agent.objects.filter(name="triage-agent").update(stopped_at=timezone.now())
    else:
        Definition.objects.filter(pk=orders.pk).update(status="retired")
    assert canary_placing.place_due() is None
    assert Canary.objects.filter(write=None).count() == 1


@pytest.mark.parametrize(("rate", "planned"), [(0, 0), (168, 1)])
def test_beat_plans_as_many_as_the_operator_wants(
    agent: Any, target: Any, define: Any, settings: Any, tmp_path: Path, rate: int, planned: int
) -> None:
    define("target", "orders", {**BODY, "credential_env": "ORDERS_WRITER_DSN"})
    file = tmp_path / "canaries.json"
    file.write_text(json.dumps([CANARY]))
    settings.CANARIES, settings.CANARIES_A_WEEK = str(file), rate
    for _ in range(3):  # the second waits until the first is placed
        tasks.plan_canary()
    assert Canary.objects.filter(placed_by="beat").count() == planned


@pytest.mark.django_db(transaction=True)
def test_the_agents_plane_proposes_them_and_can_call_nothing_one(
    agent: Any, target: Any, define: Any, as_role: Any, previewed: Any
) -> None:
    define("target", "orders", {**BODY, "credential_env": "ORDERS_WRITER_DSN"})
    real = previewed()
    as_role("worker")
    planned = [canary_placing.plan(CANARY, placed_by="beat").pk for _ in range(2)]
    assert is_denied("insert into writes_writerequest (title) values ('t')")
    assert is_denied(f"update writes_canary set write_id = {real.pk}")
    as_role("agents")
    write = canary_placing.place_due()
    assert write is not None
    assert write.status == "proposed"
    for statement in (
        "select flaw from writes_canary", f"update writes_canary set write_id = {real.pk} where id = {planned[1]}",
        f"insert into writes_canary (write_id, proposal, flaw, plan, placed_by, placed_at)"
        f" values ({real.pk}, '{{}}', 'f', '{{}}', 'x', now())",
        # What is placed is what was planned, and nothing else.
        *(f"select writes_place_canary({planned[1]}, {quoted(made)})" for made in others(write)),
    ):  # fmt: skip
        assert is_denied(statement), statement
    assert canary_placing.place_due() is not None
    assert canary_placing.place_due() is None
    as_role("people")
    assert Entry.objects.filter(subject=write.ref).latest("seq").db_role == "counterseal_agents"  # as of any proposal


def others(write: WriteRequest) -> list[dict[str, Any]]:
    """What a compromised plane could try to have placed instead."""
    said = dict(Canary.objects.values_list("proposal", flat=True)[0])
    made = {
        "said": said, "target": write.target_id, "agent": write.proposed_by_agent_id, "incident": None,
        "verb": write.verb, "table": write.table, "expires_at": write.expires_at.isoformat(),
        "proposal_digest": write.proposal_digest,
    }  # fmt: skip
    fields = [{**made, "said": {**said, name: "another"}} for name in said]
    return [*fields, {**made, "target": write.target_id - 1}, {**made, "agent": 0}, {**made, "incident": 1}, {}]


def quoted(made: dict[str, Any]) -> str:
    return "'" + json.dumps(made).replace("'", "''") + "'"


def is_denied(statement: str) -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement)
    except ProgrammingError as refusal:
        return refusal.__cause__ is not None and getattr(refusal.__cause__, "sqlstate", "") == "42501"
    return False
