"""What the probes see of a proposed write, and what they leave out when they cannot see it."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evidence import proof
from evidence.errors import Problem
from gate.admission import policies
from gate.writes.models import WriteRequest
from gate.writes.probes import observing
from gate.writes.undo import IMAGES
from tests.writes.admissions import LABELS, WIDE
from tests.writes.admissions import aim as aim
from tests.writes.admissions import offer as offer
from tests.writes.admissions import source as source

pytestmark = pytest.mark.django_db


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
