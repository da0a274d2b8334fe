"""A closed incident becomes a case: with an outcome from outside, and read in again like any file."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit import copies
from audit.agents import Principal
from audit.kinds import Kind
from audit.models import Entry
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import actions, known_cases, promoting, promotion, recorded_cases, replay
from gate.triage.models import Draft, Incident, Investigation
from gate.triage.outcomes import Pass
from gate.triage.rule_forms import PromoteForm
from gate.triage.rule_models import PromotedCase
from gate.triage.rules import registry
from gate.triage.situation import Situation
from tests.triage import worlds
from tests.triage.test_copies import redact
from tests.triage.trying import NAME, decided, examined
from tests.triage.worlds import WORLDS

pytestmark = pytest.mark.django_db
TOLD = promoting.Told("harmless", "customer", "Letter of 30 November", timezone.localdate(), "It did not come again.")
POSTED = {
    "ending": "harmless", "source": "customer", "reference": "Letter of 30 November",
    "on": timezone.localdate().isoformat(), "why": "It did not come again.",
}  # fmt: skip


@pytest.fixture
def olga(make_person: Callable[..., Person]) -> Person:
    return make_person("olga", "on_call")


@pytest.fixture
def closed(principal: Principal, running: Investigation, olga: Person) -> Incident:
    """An incident that was closed on a pass."""
    draft = decided(principal, running)
    actions.review(draft.pk, by=olga, act="overrule", reason="Not sure.", seen_version=1)
    Incident.objects.filter(pk=running.incident_id).update(status="closed", closed_at=timezone.now())
    return Incident.objects.get(pk=running.incident_id)


def test_the_case_is_read_in_again_and_decided_as_the_draft_was(closed: Incident, olga: Person) -> None:
    case = promoting.promote(closed.pk, TOLD, by=olga)
    (source,) = [one for one in known_cases.sources() if one.promoted is not None]
    again = replay.decide(source.case(), replay.newest(registry))
    draft = Draft.objects.get(investigation=case.investigation)
    assert isinstance(again, Pass) == (draft.outcome == "pass")
    assert [(check.fact, check.outcome, check.seen) for check in again.checks] == [
        (check["fact"], check["outcome"], check["seen"]) for check in draft.checks
    ]
    assert (case.expected, case.hypothesis) == ("pass", NAME)
    assert case.sha256 == promotion.sha256_of(case.document)


@pytest.mark.parametrize("hypothesis", WORLDS)
def test_a_situation_and_its_document_say_the_same(hypothesis: str) -> None:
    world = WORLDS[hypothesis]()
    said = Situation(world.hypothesis, world.findings, world.entries, world.incident, world.decided_at)
    ending = promotion.Ending("n", "t", "pass", "harmless", "w", "s", "2026-11-29")
    text = promotion.text_of(promotion.document_of(said, ending))
    read = Situation.of_case(recorded_cases.parse(recorded_cases.load(text.encode())))
    assert read is not None
    assert (read.findings, read.incident, read.decided_at) == (said.findings, said.incident, said.decided_at)
    kept = ("audit_id", "incident_id", "tool", "status", "called_at", "finished_at", "args", "result", "truncated")
    for before, after in zip(said.calls, read.calls, strict=True):
        assert [getattr(before, name) for name in kept] == [getattr(after, name) for name in kept]


def test_a_call_that_is_not_as_it_was_recorded_fails_as_a_case_too() -> None:
    world = worlds.recovered().with_call(13, is_intact=False)
    said = Situation(world.hypothesis, world.findings, world.entries, world.incident, world.decided_at)
    ending = promotion.Ending("n", "t", "pass", "harmless", "w", "s", "2026-11-29")
    case = recorded_cases.parse(promotion.document_of(said, ending))
    assert replay.replay(case, world.rules).verdict == "fail"


def test_an_open_incident_is_no_case(running: Investigation, olga: Person) -> None:
    with pytest.raises(NotAllowed, match="is open: how it ends is not known"):
        promoting.promote(running.incident_id, TOLD, by=olga)


def test_it_is_a_case_once(closed: Incident, olga: Person) -> None:
    promoting.promote(closed.pk, TOLD, by=olga)
    with pytest.raises(NotAllowed, match="is a case already"):
        promoting.promote(closed.pk, TOLD, by=olga)
    assert PromotedCase.objects.count() == 1


def test_who_decided_about_the_verdict_is_no_second_reviewer(
    closed: Incident, olga: Person, make_person: Callable[..., Person]
) -> None:
    told = promoting.Told("harmless", "second_reviewer", "Looked at it", timezone.localdate(), "It is fine.")
    with pytest.raises(NotAllowed, match="a second reviewer is somebody else"):
        promoting.promote(closed.pk, told, by=olga)
    assert promoting.promote(closed.pk, told, by=make_person("omar")).outcome_source == "second_reviewer"


def test_viewers_make_no_case(closed: Incident, make_person: Callable[..., Person]) -> None:
    with pytest.raises(NotAllowed, match="Your role makes no cases"):
        promoting.promote(closed.pk, TOLD, by=make_person("vera", "viewer"))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"reference": "The verdict V-12 said so"}, "reference"),
        ({"reference": "the rule passed it"}, "reference"),
        ({"on": (timezone.localdate() + timedelta(days=2)).isoformat()}, "on"),
        ({"source": "the gate"}, "source"),
        ({"ending": ""}, "ending"),
    ],
)
def test_the_outcome_comes_from_outside_and_from_the_past(changed: dict[str, str], field: str) -> None:
    form = PromoteForm({**POSTED, **changed})
    assert not form.is_valid()
    assert field in form.errors


def test_what_was_not_fine_must_fail(closed: Incident, olga: Person) -> None:
    told = promoting.Told("not_fine", "later_event", "I-9", timezone.localdate(), "It came again.")
    case = promoting.promote(closed.pk, told, by=olga)
    assert (case.expected, case.outcome) == ("fail", "not_fine")


def test_the_page_asks_keeps_what_was_typed_and_the_file_is_there(
    client: Client, closed: Incident, olga: Person
) -> None:
    client.force_login(olga)
    at = f"/incidents/{closed.pk}/case/"
    assert b"Make a case of it" in client.get(f"/incidents/{closed.pk}/").content
    refused = client.post(at, {**POSTED, "reference": "V-1 said so", "why": "Kept text."})
    assert refused.status_code == 422
    assert b"Kept text." in refused.content
    assert client.post(at, POSTED).status_code == 302
    case = PromotedCase.objects.get(incident=closed)
    answer = client.get(f"/cases/{case.name}.json")
    assert json.loads(answer.content)["actual"] == "pass"
    assert "attachment" in answer["Content-Disposition"]
    assert case.name.encode() in client.get(f"/incidents/{closed.pk}/").content
    assert Entry.objects.filter(kind=Kind.CASE_PROMOTED, subject=closed.ref).count() == 1


def test_a_redaction_names_the_case_and_clears_it_with_all_that_follows_a_draft(
    closed: Incident, olga: Person, make_person: Callable[..., Person]
) -> None:
    admins = make_person("first-admin", "admin"), make_person("second-admin", "admin")
    draft = Draft.objects.get(investigation__incident=closed)
    examined(draft)
    case = promoting.promote(closed.pk, TOLD, by=olga)
    ref = str(next(iter(draft.receipt["entries"])))
    entry = Entry.objects.get(seq=int(ref.removeprefix("A-")))
    assert any(ref in str(row) for row in draft.examination.rows)
    assert case.name in {copy.subject for copy in copies.of(entry)}
    redact(entry, admins)
    case.refresh_from_db()
    cleared = {one["id"]: one for one in json.loads(case.document)["audit"]}
    assert cleared[ref]["result"] is None
    assert not any(ref in str(row) for row in Draft.objects.get(pk=draft.pk).examination.rows)


def test_a_redacted_entry_goes_from_the_case_and_the_case_fails_from_then_on(closed: Incident, olga: Person) -> None:
    case = promoting.promote(closed.pk, TOLD, by=olga)
    ref = str(next(iter(Draft.objects.get(investigation=case.investigation).receipt["entries"])))
    with connection.cursor() as cursor:
        cursor.execute("select triage_cleared_case(%s, %s)", [case.document, ref])
        (cleared,) = cursor.fetchone()
    entries: dict[str, Any] = {one["id"]: one for one in json.loads(cleared)["audit"]}
    assert (entries[ref]["args"], entries[ref]["result"], "meta" in entries[ref]) == (None, None, False)
    others = [one for one in entries.values() if one["id"] != ref]
    assert all(one["result"] is not None for one in others)
    again = recorded_cases.parse(recorded_cases.load(cleared.encode()))
    assert replay.replay(again, replay.newest(registry)).verdict == "fail"
