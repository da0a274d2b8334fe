"""What follows a draft: what would have flipped it, rules in shadow, and changes in the tools' answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from audit import twohands
from audit.agents import Principal
from audit.models import Definition
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import actions, drift, rule_actions, standing
from gate.triage.models import Draft, Incident, Investigation
from gate.triage.rule_models import Drift, Examination, SeenField, ShadowResult
from gate.triage.situation import Situation
from tests.triage import worlds
from tests.triage.trying import NAME, decided, drafted, examined

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(make_person: Callable[..., Person]) -> Person:
    return make_person("ada", "admin")


def other_version(by: Person) -> Definition:
    in_force = twohands.active("rule", NAME)
    assert in_force is not None
    return drafted(by, 1 if in_force.body["file_version"] == 2 else 2)


def test_a_draft_keeps_what_would_have_flipped_it(principal: Principal, running: Investigation) -> None:
    draft = decided(principal, running)
    before = Draft.objects.values().get(pk=draft.pk)
    examined(draft)
    kept = Examination.objects.get(draft=draft)
    count = next(row for row in kept.rows if row["pointer"] == "/count")
    assert {"1", "null", "absent"} <= set(count["flips"])
    assert 0 < kept.noticed <= kept.tried
    assert Draft.objects.values().get(pk=draft.pk) == before  # none of it changes the draft


def test_it_is_examined_once(principal: Principal, running: Investigation) -> None:
    from gate.triage import examining

    draft = decided(principal, running)
    examining.examine(draft.pk)
    seen = list(SeenField.objects.order_by("pk").values("path", "answers"))
    examining.examine(draft.pk)
    assert list(SeenField.objects.order_by("pk").values("path", "answers")) == seen
    assert Examination.objects.filter(draft=draft).count() == 1


def test_a_version_in_shadow_is_asked_and_decides_nothing(
    principal: Principal, running: Investigation, ada: Person
) -> None:
    version = twohands.shadow(other_version(ada).pk, by=ada)
    draft = decided(principal, running)
    examined(draft)
    result = ShadowResult.objects.get(definition=version)
    assert result.outcome == "pass"
    assert result.checks
    draft.refresh_from_db()
    assert draft.rule_hash != version.body["hash"]
    assert Draft.objects.filter(investigation=running).count() == 1
    assert Incident.objects.get(pk=running.incident_id).status == "drafted"


def test_what_people_decide_counts_for_the_version_in_shadow(
    principal: Principal, running: Investigation, ada: Person, make_person: Callable[..., Person]
) -> None:
    version = twohands.shadow(other_version(ada).pk, by=ada)
    draft = decided(principal, running)
    examined(draft)
    actions.review(draft.pk, by=make_person("olga"), act="overrule", reason="It failed again.", seen_version=1)
    shadow = standing.of_shadows([version.pk])[version.pk]
    assert (shadow.results, shadow.passes, shadow.confirmed) == (1, 1, standing.Confirmed(right=0, wrong=1))


def test_a_version_in_shadow_still_has_to_earn_it(ada: Person, make_person: Callable[..., Person]) -> None:
    version = twohands.shadow(drafted(ada).pk, by=ada)
    assert version.status == Definition.Status.SHADOW
    with pytest.raises(NotAllowed, match="was not tried"):
        twohands.activate(version.pk, by=make_person("mia", "admin"))


def test_only_drafts_of_rules_go_to_shadow(
    ada: Person, make_person: Callable[..., Person], classes: None, define: Callable[..., Any]
) -> None:
    version = drafted(ada, 1) if twohands.active("rule", NAME) is None else other_version(ada)
    with pytest.raises(NotAllowed, match="Your role does not change"):
        twohands.shadow(version.pk, by=make_person("vera", "viewer"))
    body = {**twohands.active("class", "job_failed").body, "budget_calls": 7}  # type: ignore[union-attr]
    drafted_class = twohands.draft("class", "job_failed", body, by=ada, reason="for a test")
    with pytest.raises(NotAllowed, match="have no shadow"):
        twohands.shadow(drafted_class.pk, by=ada)


@pytest.mark.parametrize(
    ("wrong", "number", "least", "most"), [(0, 60, 0.049, 0.051), (0, 300, 0.0099, 0.0101), (1, 96, 0.055, 0.058)]
)
def test_what_is_left_open_by_what_people_confirmed(wrong: int, number: int, least: float, most: float) -> None:
    assert least < standing.upper(wrong, number) < most


def situation(edit: Callable[[dict[str, Any]], None] | None = None) -> tuple[Situation, Any]:
    world = worlds.recovered()
    if edit is not None:
        world = world.with_result(10, lambda result: edit(result["job"]))
    said = Situation(world.hypothesis, world.findings, world.entries, world.incident, world.decided_at)
    return said, said.decide(world.rules)


def notices() -> list[tuple[str, str, str]]:
    return [(one.what, one.path, one.value) for one in Drift.objects.order_by("pk")]


def test_a_value_that_nobody_lists_is_noted_at_once_and_counted() -> None:
    for _ in range(2):
        drift.note(*situation(lambda job: job.update(state="discarded")))
    assert notices() == [("unlisted", "/job/state", '"discarded"')]
    assert Drift.objects.get().times == 2


def seen(times: int) -> None:
    for _ in range(times):
        drift.note(*situation())


def test_a_new_key_is_noted_once_enough_answers_were_seen_without_it() -> None:
    seen(drift.ENOUGH - 1)
    drift.note(*situation(lambda job: job.update(early="x")))
    assert notices() == []  # too early to tell what is new
    seen(1)
    drift.note(*situation(lambda job: job.update(priority=3)))
    assert notices() == [("new_key", "/job/priority", "")]


def test_a_first_null_and_a_field_that_is_gone_are_noted() -> None:
    seen(drift.ENOUGH)
    drift.note(*situation(lambda job: job.update(finished_at=None)))
    drift.note(*situation(lambda job: job.pop("kind") and None))
    assert ("null", "/job/finished_at", "") in notices()
    assert ("gone", "/job/kind", "") in notices()


def test_rates_are_kept_per_field_that_a_check_reads() -> None:
    seen(2)
    field = SeenField.objects.get(tool="find_job", path="/job/state")
    assert (field.answers, field.there, field.nulls, field.is_read) == (2, 2, 0, True)
    assert SeenField.objects.get(tool="find_job", path="/job/locked_by").nulls == 2
    assert not SeenField.objects.get(tool="find_job", path="/job/locked_by").is_read


def test_what_is_not_as_recorded_is_not_counted() -> None:
    said, decided_on_it = situation()
    calls = tuple(replace(call, is_intact=False) for call in said.calls)
    drift.note(replace(said, calls=calls), decided_on_it)
    assert SeenField.objects.count() == 0


def test_admins_find_it_in_the_inbox_and_settle_it_on_its_page(
    client: Client, ada: Person, make_person: Callable[..., Person]
) -> None:
    drift.note(*situation(lambda job: job.update(state="discarded")))
    client.force_login(make_person("vera", "viewer"))
    assert b"Answers that changed" not in client.get("/inbox/").content
    pk = Drift.objects.get().pk
    assert client.post(f"/rules/drift/{pk}/settling/", {"reason": "x"}).status_code == 403
    client.force_login(ada)
    assert b"find_job: /job/state" in client.get("/inbox/").content
    assert b"job.state" in client.get("/rules/drift/").content
    assert client.post(f"/rules/drift/{pk}/settling/", {"reason": ""}).status_code == 422
    assert client.post(f"/rules/drift/{pk}/settling/", {"reason": "A new state, see v3."}).status_code == 302
    assert b"A new state, see v3." in client.get("/rules/drift/").content
    assert b"Answers that changed" not in client.get("/inbox/").content
    with pytest.raises(NotAllowed, match="settled already"):
        rule_actions.settle_drift(pk, by=ada, reason="again")


@pytest.mark.django_db(transaction=True)
def test_the_worker_has_just_the_rights_for_it(
    principal: Principal, running: Investigation, ada: Person, as_role: Callable[[str], None]
) -> None:
    twohands.shadow(other_version(ada).pk, by=ada)
    draft = decided(principal, running)
    as_role("worker")
    examined(draft)
    assert Examination.objects.filter(draft=draft).exists()
