"""Admission: what is proposed is observed and judged before a person sees it, and what is blocked never runs."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone

from audit import reading, twohands
from audit.models import Entry, Outbox
from evidence import proof
from evidence.errors import Problem
from gate.admission import policies
from gate.errors import NotAllowed
from gate.triage import arrivals
from gate.writes import actions, admission, admitting, desk, editing, execution, preview, tasks
from gate.writes.models import Admission, Decision, FirstLook, PreviewRequest, WriteRequest
from gate.writes.probes import observing
from gate.writes.undo import IMAGES
from tests.writes.conftest import BODY, PASSWORD, POLICY, REQUEUE, REQUEUE_PARAMETERS
from tests.writes.test_screens import page, plain

pytestmark = pytest.mark.django_db

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


def newest(write: WriteRequest) -> Admission:
    found = admission.latest(write)
    assert found is not None
    return found


# The probes


SAW: list[tuple[str, str, dict[str, str | None]]] = [
    ("one keyed row", "update shop.jobs set state = 'queued' where job_id = 7",
     {"environment": "production", "rows_touched": "one", "tables_touched": "more", "keyed": "yes", "reversible": "no",
      "user_data": "no", "frozen": "no", "open_incident": "no"}),
    ("a condition that fits many", WIDE, {"rows_touched": "few", "keyed": "no"}),
    ("no row", "update shop.jobs set state = 'a' where job_id = 99", {"rows_touched": "none"}),
    ("a table without what hangs on it", "update shop.notes set said = 'b' where note_id in (1, 2)",
     {"rows_touched": "few", "tables_touched": "one", "keyed": "yes", "reversible": "yes", "user_data": "no"}),
    ("another unique key", "update shop.notes set said = 'b' where slug = 's1'", {"keyed": "yes"}),
    ("a column that is not labeled", "update shop.notes set said = 'b', author = 'c' where note_id = 1",
     {"user_data": "yes", "reversible": "yes"}),
    ("the clock", "update shop.notes set made = now() where note_id = 1", {"reversible": "no", "user_data": "yes"}),
    ("whole rows", "delete from shop.notes where note_id = 1", {"user_data": "yes", "reversible": "yes"}),
    ("what refers to it goes as well", "delete from shop.jobs where job_id = 1",
     {"tables_touched": "more", "reversible": "no", "user_data": "yes"}),
    ("rows that stand there", "insert into shop.notes (note_id, said, made) values (8, 'a', null), (9, 'b', null)",
     {"rows_touched": "few", "keyed": "yes", "reversible": "yes", "user_data": "yes"}),
    ("a default that differs each time", "insert into shop.notes (note_id) values (8)", {"reversible": "no"}),
    ("rows out of a table", "insert into shop.notes (note_id) select job_id from shop.jobs where job_id > 17",
     {"rows_touched": "few", "keyed": "no"}),
    ("no key at all", "update shop.lie set state = 'b' where id = 1", {"keyed": "no", "reversible": "no"}),
    ("what the reader may not see", "update shop.children set job_id = 2 where child_id = 1",
     {"rows_touched": None, "keyed": "yes"}),
    ("no such table", "update shop.nothing set a = 1 where b = 2",
     {"rows_touched": None, "keyed": None, "reversible": None, "environment": "production"}),
]  # fmt: skip


def test_what_the_probes_see(aim: Any, offer: Any) -> None:
    aim()
    for what, statement, expected in SAW:
        facts = observing.of(offer(statement))
        assert (what, {name: facts[name].value for name in expected}) == (what, expected)
        assert all(fact.seen for fact in facts.values())


def test_an_undo_names_its_rows_in_its_parameter(aim: Any, offer: Any) -> None:
    aim()
    images = (
        '[{"before": {"said": "x"}, "after": {"note_id": "1"}}, {"before": {"said": "y"}, "after": {"note_id": "2"}}]'
    )
    back = offer(
        f"update shop.notes as t set said = u.image -> 'before' ->> 'said' from {IMAGES}"
        " where t.note_id = (u.image -> 'after' ->> 'note_id')::bigint", [{"t": "jsonb", "v": images}],
    )  # fmt: skip
    facts = observing.of(back)
    assert (facts["keyed"].value, facts["rows_touched"].seen, facts["reversible"].value) == ("yes", "2 rows", "yes")


def test_more_than_a_hundred_rows_are_many(aim: Any, offer: Any, shop: Any) -> None:
    aim()
    shop.execute("insert into shop.notes (note_id) select g from generate_series(10, 200) g")
    assert observing.of(offer("delete from shop.notes"))["rows_touched"].seen == "more than 100 rows"


def test_a_trigger_that_nobody_labeled_counts_as_user_data(aim: Any, offer: Any) -> None:
    labels = copy.deepcopy(LABELS)
    del labels["shop.jobs"]["triggers"]["note"]
    aim(labels=labels)
    assert (observing.of(offer())["user_data"].value, observing.of(offer(WIDE))["user_data"].seen) == (
        "yes", "what note does",
    )  # fmt: skip


def test_a_freeze_window_of_target_or_policy(aim: Any, offer: Any, define: Any) -> None:
    now = timezone.now()
    over = {"from": (now - timedelta(hours=2)).isoformat(), "until": (now - timedelta(hours=1)).isoformat(), "why": "a"}
    on = {**over, "until": (now + timedelta(hours=1)).isoformat(), "why": "The holidays"}
    for target, policy, frozen in (([over], [over], "no"), ([over, on], [], "yes"), ([over], [over, on], "yes")):
        aim(freeze=target)
        define("policy", "sql-writes", {**policies.EXAMPLE, "freeze": policy})
        fact = observing.of(offer())["frozen"]
        assert (fact.value, fact.seen.endswith(": The holidays")) == (frozen, frozen == "yes")


def test_an_open_incident_that_is_named_or_that_the_statement_is_about(
    aim: Any, offer: Any, agent: Any, make_incident: Any
) -> None:
    aim()
    incident, _ = make_incident(agent)
    for write in (offer(), offer("delete from shop.lie", incident=incident.ref)):
        assert (observing.of(write)["open_incident"].seen) == incident.ref
    assert observing.of(offer("delete from shop.jobs where job_id = 8"))["open_incident"].value == "no"
    incident.status = "closed"
    incident.save()
    assert observing.of(WriteRequest.objects.latest("pk"))["open_incident"].value == "no"


def test_a_source_that_does_not_answer_leaves_its_facts_out(aim: Any, offer: Any, monkeypatch: Any) -> None:
    def dark(source: Any) -> None:
        raise Problem(503, "source_dark", "The source look is not proven.")

    aim()
    monkeypatch.setattr(proof, "require", dark)
    facts = observing.of(offer())
    missing = {name: fact.as_answer() for name, fact in facts.items() if fact.value is None}
    assert set(missing) == {"rows_touched", "tables_touched", "keyed", "reversible", "user_data"}
    assert missing["keyed"] == {"abstain": True, "why": "The source look is not proven."}


# What becomes of a proposal


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
    assert "W-" in client.get(f"/policies/sql-writes/decisions/{entry.seq}/").content.decode()


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
        write.refresh_from_db()
        request = actions.ask_preview(write, mia)
        preview.make(request.pk)
        approve(write)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(1)) == ("failed", "running")
    said = Entry.objects.filter(subject=write.ref, kind="write.failed").latest("seq").error
    assert said == f"Admission never let {write.ref} in front of people as it stands."


def test_an_admission_that_the_log_does_not_know_runs_nothing(approved: Any, job: Any) -> None:
    write = approved()
    found = newest(write)
    Admission.objects.filter(pk=found.pk).delete()
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("failed", "running")


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
    (ask,) = Outbox.objects.filter(task="gate.writes.tasks.admit_write", subject_id=write.pk)
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


def allowing() -> dict[str, Any]:
    """The shipped policy with production let through."""
    body = copy.deepcopy(policies.shipped_body("sql-writes") or {})
    rule = next(one for one in body["program"]["rules"] if one["id"] == "production_is_asked")
    rule["then"] = "allow"
    body["cases"] = []
    return body


def test_an_allow_is_an_ask(aim: Any, offer: Any, define: Any) -> None:
    aim()
    define("policy", "sql-writes", allowing())
    write = admitted(offer())
    entry = Entry.objects.filter(subject=write.ref, kind="write.admitted").latest("seq")
    result = reading.payload_of(entry.pk).result
    assert (write.status, newest(write).verdict) == ("waiting", "ask")
    assert (result["verdict"], result["rule"], result["is_clamped"]) == ("ask", "production_is_asked", True)


def blocking() -> dict[str, Any]:
    """The shipped policy with production stopped."""
    body = allowing()
    next(one for one in body["program"]["rules"] if one["id"] == "production_is_asked")["then"] = "block"
    return body


def test_a_version_that_came_since_judges_it_anew(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, enforced: Any
) -> None:
    aim()
    bare, seen = admitted(offer()), admitted(offer(WIDE + " and job_id = 9"))
    preview.make(actions.ask_preview(seen, mia).pk)
    define("policy", "sql-writes", blocking())
    Outbox.objects.all().delete()
    for write, act in ((bare, lambda: actions.ask_preview(bare, mia)), (seen, lambda: approve(seen))):
        with pytest.raises(admission.Outdated, match="Version 2 of the policy sql-writes came in force"):
            act()
        write.refresh_from_db()
        asked = Outbox.objects.filter(task="gate.writes.tasks.admit_write", subject_id=write.pk)
        assert (write.status, asked.count()) == ("proposed", 1)
        assert (admitted(write).status, newest(write).rule) == ("blocked", "production_is_asked")


def test_the_page_of_one_that_another_version_is_for_offers_to_check_it(
    aim: Any, offer: Any, define: Any, mia: Any, enforced: Any, client: Client
) -> None:
    aim()
    write = admitted(offer())
    define("policy", "sql-writes", blocking())
    client.force_login(mia)
    shown = page(client, write)
    assert f"came in force after {write.ref} was checked, so it is checked anew first." in plain(shown)
    assert ("Check it anew" in shown, "Approve:" in shown) == (True, False)
    assert client.post(f"/writes/{write.pk}/preview/").status_code == 302
    shown = plain(page(client, write))
    assert ("Being checked" in shown, "Check it anew" in shown) == (True, False)


def test_a_version_that_lets_it_wait_changes_nothing_of_what_was_approved(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, make_person: Any, enforced: Any, job: Any
) -> None:
    define("target", "shop", {**BODY, "policy": {**POLICY, "approvers": {"on_call": 2}}})
    write = admitted(offer())
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write)
    define("policy", "sql-writes", {**allowing(), "title": "Writes"})
    other = make_person("nils", "on_call")
    with pytest.raises(admission.Outdated):
        approve(write, by=other)
    approve(admitted(write), by=other)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("executed", "queued")


def test_a_policy_that_came_after_the_approval_still_stops_it(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, enforced: Any, job: Any
) -> None:
    aim()
    write = admitted(offer())
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write)
    define("policy", "sql-writes", blocking())
    execution.execute(write.pk)
    write.refresh_from_db()
    said = Entry.objects.filter(subject=write.ref, kind="write.failed").latest("seq").error
    assert (write.status, job(7)) == ("failed", "running")
    assert "The rule production_is_asked of the policy that is in force now blocks" in said


# What a model answers


def with_a_model() -> dict[str, Any]:
    """The shipped policy with a question that a model answers."""
    body = allowing()
    body["program"]["questions"].append({
        "id": "fits", "type": "yesno", "text": "Does the stated reason describe the rows that change?",
        "unsure_between": [0.2, 0.9],
    })  # fmt: skip
    body["program"]["rules"].insert(
        0, {"id": "unfit_reason", "when": [{"q": "fits", "op": "lte", "value": 0.2}], "then": "block"}
    )
    return body


ANSWERED: list[tuple[dict[str, Any], str, str, list[str]]] = [
    ({"fits": {"p": 0.95}}, "waiting", "production_is_asked", []),
    ({"fits": {"p": 0.1}}, "blocked", "unfit_reason", []),
    ({"fits": {"p": 0.5}}, "waiting", "", ["low_confidence"]),
    ({}, "waiting", "", ["missing"]),
    # A probe's question is not a model's to answer.
    ({"fits": {"p": 0.95}, "keyed": {"value": "no"}}, "waiting", "production_is_asked", []),
]


def test_the_proposers_model_answers_what_is_a_models_and_nothing_else(aim: Any, define: Any, agent: Any) -> None:
    aim()
    define("policy", "sql-writes", with_a_model())
    asks = desk.questions(agent, {"target": "shop"})
    assert (asks["policy"], [one["id"] for one in asks["questions"]]) == ("sql-writes", ["fits"])
    assert not {"rules", "unsure_between", "block"} & set(re.findall(r"\w+", str(asks)))
    for number, (answers, status, rule, wrong) in enumerate(ANSWERED, 1):
        told = desk.propose(agent, {
            "target": "shop", "statement": f"update shop.jobs set state = 'queued' where job_id = {number}",
            "parameters": [], "title": "t", "reason": "r", "answers": answers, "model": {"id": "some-model"},
        })  # fmt: skip
        write = admitted(WriteRequest.objects.get(pk=told["id"]))
        found = newest(write)
        assert (write.status, found.rule, [one["why"] for one in found.escalations]) == (status, rule, wrong)
        assert found.answers["keyed"] == {"value": "yes", "by": "probe"}
        kind = "write.blocked" if status == "blocked" else "write.admitted"
        args = reading.payload_of(Entry.objects.filter(subject=write.ref, kind=kind).latest("seq").pk).args
        assert (args["model"], "fits" in args["answers"]) == ({"id": "some-model"}, True)


def test_an_answer_cannot_say_that_a_probe_gave_it(target: Any, agent: Any) -> None:
    from evidence import desk as agents_desk

    given = {"target": "shop", "statement": REQUEUE, "parameters": REQUEUE_PARAMETERS, "title": "t", "reason": "r",
             "answers": {"keyed": {"value": "yes", "by": "probe"}}}  # fmt: skip
    with pytest.raises(Problem, match="answers"):
        agents_desk.call(agent, "propose_write", given)


# HTTP actions


SAID: list[tuple[str, dict[str, Any], str, str]] = [
    ("POST", {"effect": "changes", "honors_key": False}, "money_twice", "blocked"),
    ("POST", {"effect": "changes", "honors_key": True}, "money_is_asked", "waiting"),
    ("POST", {"effect": "changes", "moves_money": False, "honors_key": True}, "production_is_asked", "waiting"),
    ("POST", {}, "", "waiting"),
    ("PUT", {"moves_money": False}, "production_is_asked", "waiting"),
    ("DELETE", {"moves_money": False}, "removed_for_good", "blocked"),
    ("DELETE", {"moves_money": False, "undone_by": "nothing"}, "removed_for_good", "blocked"),
    ("DELETE", {"moves_money": False, "undone_by": "refund-0"}, "production_is_asked", "waiting"),
]


def test_http_actions_are_judged_by_what_their_target_says(define: Any, agent: Any) -> None:
    define("policy", "http-actions", policies.shipped_body("http-actions"))
    schema = {"type": "object", "properties": {"refund_id": {"type": "string"}}, "required": ["refund_id"]}
    for number, (method, said, rule, status) in enumerate(SAID):
        action = {
            "method": method, "url": "https://billing.example/refunds/{refund_id}", "header": "Authorization",
            "body": {**schema, "additionalProperties": False}, "named_hosts": [], "timeout_seconds": 1, "probe": None,
        }  # fmt: skip
        body = {"kind": "http", "credential_env": "BILLING_KEY", "environment": "production", "action": action,
                "policy": POLICY, "admission": said}  # fmt: skip
        define("target", f"refund-{number}", body)
        write = admitted(actions.propose(
            target=f"refund-{number}", statement='{"refund_id": "r-1"}', parameters=[], title="t", reason="r",
            by_agent=agent,
        ))  # fmt: skip
        assert (number, newest(write).rule, write.status) == (number, rule, status)


# By SQL


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
