"""Writes made to look harmless to admission, and what happens between its answer and the run."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Entry
from gate.admission import policies
from gate.errors import NotAllowed
from gate.writes import actions, admission, execution, preview
from gate.writes.probes import around, observing
from gate.writes.statement import canonical
from tests.writes.admissions import LABELS, admitted, newest
from tests.writes.admissions import aim as aim
from tests.writes.admissions import enforced as enforced
from tests.writes.admissions import offer as offer
from tests.writes.admissions import source as source
from tests.writes.test_admission_answers import with_a_model

pytestmark = pytest.mark.django_db

# A table with a column that follows another, and one whose rows move.
TABLES = """
create table shop.tagged (id bigint primary key, said text, search text generated always as (upper(said)) stored);
create table shop.parts (id bigint, region text, said text, primary key (id, region)) partition by list (region);
create table shop.parts_a partition of shop.parts for values in ('a');
create table shop.parts_b partition of shop.parts for values in ('b');
create trigger gone after delete on shop.parts_a for each row execute function shop.note();
grant select on shop.tagged, shop.parts to writes_test_reader;
grant select, update on shop.notes to writes_test_writer;
"""
CLEAN = {"columns": {"said": "operational", "region": "operational"}, "triggers": {}}
DISGUISED: list[tuple[str, str, dict[str, str]]] = [
    ("values from the table beside it", "update shop.jobs j set state = 'a' from shop.jobs k, lateral (select k.job_id"
     " as n) o where j.job_id = o.n", {"keyed": "no", "rows_touched": "few"}),
    ("the key of another table of this name", "update shop.jobs j set state = 'a' from shop.jobs where"
     " shop.jobs.job_id = 7", {"keyed": "no", "rows_touched": "few"}),
    ("one row of VALUES that is many", "insert into shop.notes (note_id) values"
     " (jsonb_array_elements('[11, 12, 13]')::text::bigint)", {"rows_touched": "few"}),
    ("columns behind a star", "insert into shop.notes (said, author) select * from (select 'a' as x, 'b' as y) as l",
     {"user_data": "yes"}),
    ("a column that follows the one that is set", "update shop.tagged set said = 'a' where id = 1",
     {"user_data": "yes"}),
    ("a row that stays in its part", "update shop.parts set said = 'a' where id = 1 and region = 'a'",
     {"tables_touched": "one", "user_data": "no"}),
    ("a row that moves to another", "update shop.parts set region = 'b' where id = 1 and region = 'a'",
     {"tables_touched": "more", "user_data": "yes"}),
]  # fmt: skip


def test_what_is_made_to_look_harmless(aim: Any, offer: Any, shop: Any) -> None:
    shop.execute(TABLES)
    aim(labels={**LABELS, "shop.tagged": CLEAN, "shop.parts": CLEAN})
    for what, statement, expected in DISGUISED:
        facts = observing.of(offer(statement))
        assert (what, {name: facts[name].value for name in expected}) == (what, expected)


def test_a_star_gives_each_named_column_a_computed_value() -> None:
    found = canonical("insert into shop.notes (said, author) select l.* from (select 'a' as x, now() as y) as l", 0)
    named = frozenset({"said", "author"})
    assert (found.sets, found.computed, found.late) == (named, named, frozenset())


SPELLED = [
    ("in (6, 7)", "yes"), ("= 7.0", "yes"), ("= ' 07 '", "yes"), ("= '0x7'", "yes"), ("= 6 + 1", None), ("= 8", "no"),
]  # fmt: skip
ABOUT: list[tuple[dict[str, Any], list[dict[str, Any]], str, str | None]] = [
    ({"job_id": 7}, [{"job_id": "8"}], "job_id = 8", "yes"),
    ({"job_id": 7, "kind": "a"}, [], "job_id = 7 and kind = 'a'", "yes"),
    ({"job_id": 7, "kind": "a"}, [], "job_id = 7 and kind = 'b'", "no"),
    ({"job_id": 7, "kind": "a"}, [], "job_id = 6 + 1 and kind = 'a'", None),
    ({"job_id": 7, "kind": "a"}, [], "job_id = 6 + 1 and kind = 'b'", "no"),
    ({}, [], "job_id = 7", "no"),
]


def test_a_subject_of_an_open_incident_however_it_is_spelled(
    aim: Any, offer: Any, agent: Any, make_incident: Any
) -> None:
    aim()
    make_incident(agent)
    for value, expected in SPELLED:
        fact = observing.of(offer(f"delete from shop.jobs where job_id {value}"))["open_incident"]
        assert (value, fact.value) == (value, expected)


def test_an_incident_of_several_subjects_or_of_one_with_several_keys(
    aim: Any, offer: Any, agent: Any, make_incident: Any
) -> None:
    aim()
    incident, _ = make_incident(agent)
    for number, (incident.subject, incident.members, condition, expected) in enumerate(ABOUT):
        incident.save()
        fact = observing.of(offer(f"delete from shop.jobs where {condition} and attempts = {number}"))["open_incident"]
        assert (condition, fact.value) == (condition, expected)


def stopping() -> dict[str, Any]:
    """The shipped policy with a freeze that stops, and an incident on the same subject."""
    body = copy.deepcopy(policies.shipped_body("sql-writes") or {})
    rules = body["program"]["rules"]
    next(one for one in rules if one["id"] == "frozen")["then"] = "block"
    body["program"]["questions"].append({
        "id": "open_incident", "type": "enum", "by": "probe", "text": "Does an incident go on about the same?",
        "options": {"yes": "it does", "no": "none does"},
    })  # fmt: skip
    rules.insert(0, {"id": "incident", "when": [{"q": "open_incident", "op": "is", "value": "yes"}], "then": "block"})
    body["cases"] = []
    return body


def test_a_freeze_that_began_since_stops_approval_and_run(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, job: Any, monkeypatch: Any
) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    window = {"from": tomorrow.isoformat(), "until": (tomorrow + timedelta(hours=1)).isoformat(), "why": "holidays"}
    aim(freeze=[window])
    define("policy", "sql-writes", stopping())
    approved, waiting = (admitted(offer(f"update shop.jobs set state = 'a' where job_id = {n}")) for n in (7, 8))
    for write in (approved, waiting):
        preview.make(actions.ask_preview(write, mia).pk)
    approve(approved)
    monkeypatch.setattr(around, "_now", lambda: datetime.now(UTC) + timedelta(days=1, minutes=1))
    with pytest.raises(NotAllowed, match=f"The rule frozen blocks {waiting.ref} now"):
        approve(waiting)
    execution.execute(approved.pk)
    approved.refresh_from_db()
    said = Entry.objects.filter(subject=approved.ref, kind="write.failed").latest("seq").error
    assert (approved.status, job(7)) == ("failed", "running")
    assert said == f"The rule frozen of the policy that is in force now blocks {approved.ref}."


def test_an_answer_to_another_text_of_a_question_is_none(aim: Any, offer: Any, define: Any, mia: Any) -> None:
    aim()
    asked = with_a_model()
    define("policy", "sql-writes", asked)
    write = admitted(offer(answers={"fits": {"p": 0.95}}, model={"id": "some-model"}))
    for title, text, wrong in (("Writes", None, []), ("Writes", "Is no row changed?", ["missing"])):
        asked["title"] = title
        asked["program"]["questions"][-1]["text"] = text or asked["program"]["questions"][-1]["text"]
        define("policy", "sql-writes", asked)
        with pytest.raises(admission.Outdated):
            actions.ask_preview(write, mia)
        assert [one["why"] for one in newest(admitted(write)).escalations] == wrong


def test_rows_that_came_since_count(aim: Any, offer: Any, mia: Any, approve: Any, enforced: Any, shop: Any) -> None:
    shop.execute(TABLES)
    aim()
    write = admitted(offer("update shop.notes set said = 'b' where author = 'later'"))
    assert write.status == "waiting"  # it names no row yet
    shop.execute("update shop.notes set author = 'later'")
    preview.make(actions.ask_preview(write, mia).pk)
    with pytest.raises(NotAllowed, match=f"The rule unkeyed_change blocks {write.ref} now"):
        approve(write)


def test_what_cannot_be_told_now_hides_no_freeze(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, agent: Any, make_incident: Any, monkeypatch: Any
) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    aim(freeze=[{"from": tomorrow.isoformat(), "until": (tomorrow + timedelta(hours=1)).isoformat(), "why": "rest"}])
    define("policy", "sql-writes", stopping())
    write = admitted(offer("update shop.jobs set state = 'a' where job_id = 6 + 1"))
    preview.make(actions.ask_preview(write, mia).pk)
    make_incident(agent)  # whether it is about the seventh job, only the database works out
    monkeypatch.setattr(around, "_now", lambda: datetime.now(UTC) + timedelta(days=1, minutes=1))
    with pytest.raises(NotAllowed, match=f"The rule frozen blocks {write.ref} now"):
        approve(write)


def test_an_incident_that_was_opened_since_stops_approval_and_run(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, job: Any, agent: Any, make_incident: Any
) -> None:
    aim()
    define("policy", "sql-writes", stopping())
    approved, waiting = (admitted(offer(f"update shop.jobs set state = '{to}' where job_id = 7")) for to in "ab")
    for write in (approved, waiting):
        preview.make(actions.ask_preview(write, mia).pk)
    approve(approved)
    make_incident(agent)
    with pytest.raises(NotAllowed, match=f"The rule incident blocks {waiting.ref} now"):
        approve(waiting)
    execution.execute(approved.pk)
    approved.refresh_from_db()
    assert (approved.status, job(7)) == ("failed", "running")


# What stands behind a table when it is checked: what would change is something else than its columns.
BEHIND: list[tuple[str, str]] = [
    ("create rule also as on update to shop.plain do also update shop.jobs set state = 'gone'", "A rule on"),
    ("create rule other as on update to shop.plain do instead update shop.jobs set state = 'gone'", "A rule on"),
    ("create table shop.heir (more text) inherits (shop.plain)", "inherit from"),
    ("alter table shop.plain rename to base; create view shop.plain as select * from shop.base", "is no table"),
]


@pytest.mark.parametrize(("behind", "sentence"), BEHIND)
def test_what_stands_behind_a_table_is_never_called_harmless(
    aim: Any, offer: Any, shop: Any, enforced: Any, behind: str, sentence: str
) -> None:
    shop.execute(f"create table shop.plain (id bigint primary key, said text); {behind};"
                 "grant select on all tables in schema shop to writes_test_reader")  # fmt: skip
    aim(labels={"shop.plain": {"columns": {"said": "operational"}}})
    found = newest(admitted(offer("update shop.plain set said = 'b' where id = 1")))
    for fact in ("tables_touched", "keyed", "reversible"):
        assert "abstain" in found.answers[fact]
        assert sentence in found.facts[fact]["seen"]
    assert (found.verdict, found.rule) == ("ask", "")


# What is done to the table after it was checked, and what the policy makes of it then.
ELSEWHERE = """
create function shop.elsewhere() returns trigger language plpgsql as
  $$ begin update shop.jobs set state = 'gone' where job_id = 8; return new; end $$;
create trigger elsewhere after update on shop.notes for each row execute function shop.elsewhere();
"""
CHANGED_SINCE: list[tuple[str, str, str, str]] = [
    ("a trigger that writes elsewhere", ELSEWHERE, "blocked", "irreversible_user_data"),
    ("a trigger that writes other columns", "create function shop.sign() returns trigger language plpgsql as"
     " $$ begin new.author := 'else'; return new; end $$; create trigger sign before update on shop.notes"
     " for each row execute function shop.sign()", "blocked", "irreversible_user_data"),
    ("a key that is none any more", "alter table shop.notes drop constraint notes_slug_key;"
     " update shop.notes set slug = 's1' where note_id < 3", "blocked", "unkeyed_change"),
    ("rows that do not concern it", "update shop.notes set author = 'else'", "waiting", "production_is_asked"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "change", "status", "rule"), CHANGED_SINCE)
def test_a_table_that_was_changed_since_is_looked_at_anew(
    aim: Any, offer: Any, shop: Any, mia: Any, approve: Any, enforced: Any, what: str, change: str, status: str,
    rule: str,
) -> None:  # fmt: skip
    shop.execute("grant select, update on shop.notes to writes_test_writer")
    aim()
    write = admitted(offer("update shop.notes set said = 'b' where slug = 's1'"))
    assert (write.status, newest(write).rule) == ("waiting", "production_is_asked")
    shop.execute(change)
    preview.make(actions.ask_preview(write, mia).pk)
    if status == "waiting":
        approve(write)
        return
    with pytest.raises(admission.Outdated, match=f"The preview of {write.ref} .* so it is checked anew first"):
        approve(write)
    write.refresh_from_db()
    assert write.status == "proposed"
    assert (admitted(write).status, newest(write).rule) == (status, rule)


def test_what_was_looked_at_anew_is_asked_about_once(
    aim: Any, offer: Any, shop: Any, mia: Any, approve: Any, enforced: Any
) -> None:
    """A source that shows something else than the target, for good, keeps nobody from deciding."""
    shop.execute("grant select, update on shop.notes to writes_test_writer")
    aim(labels={**LABELS, "shop.notes": {"columns": {"said": "operational"}, "triggers": {}}})
    write = admitted(offer("update shop.notes set said = 'b' where slug = 's1'"))
    shop.execute(ELSEWHERE)
    preview.make(actions.ask_preview(write, mia).pk)
    with pytest.raises(admission.Outdated):
        actions.ask_preview(write, mia)
    shop.execute("alter table shop.notes disable trigger elsewhere")
    assert (admitted(write).status, newest(write).answers["tables_touched"]["value"]) == ("waiting", "one")
    approve(write)
