"""The pages of rules, replays and classes: what they show, who may press what, and what they cost."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit import twohands
from audit.agents import Principal
from audit.models import Definition, Outbox
from gate.people.models import Person
from gate.triage import flip_rows, replay_page, rule_actions, rule_guards, tasks
from gate.triage.models import Draft, Investigation, LateEvent
from gate.triage.rule_models import Flip, Job, Replay, ReplayLine, Trial
from gate.triage.rules import registry
from tests.earned import as_tried
from tests.triage.trying import NAME, REASON, body, decided, drafted, examined, tried

pytestmark = pytest.mark.django_db
CASES = str(Path(settings.BASE_DIR) / "gate" / "demo" / "cases")
VERSION = f"/rules/{NAME}/versions/1"


@pytest.fixture
def ada(make_person: Callable[..., Person]) -> Person:
    return make_person("ada", "admin")


@pytest.fixture
def mia(make_person: Callable[..., Person]) -> Person:
    return make_person("mia", "admin")


@pytest.fixture
def shop_cases(settings: Any) -> None:
    settings.CASES = [CASES]


def text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


@pytest.mark.usefixtures("shop_cases")
def test_two_admins_take_a_version_from_draft_to_active_on_its_page(client: Client, ada: Person, mia: Person) -> None:
    client.force_login(ada)
    drafted(ada)
    assert "someone else must activate it" in text(client, f"/rules/{NAME}/")
    assert client.post(f"{VERSION}/trials/").status_code == 302
    trial = Trial.objects.get()
    page = text(client, f"/rules/{NAME}/")
    assert "Stop the trial" in page
    assert 'hx-trigger="every 1s"' in page
    assert "Look again" in page  # and the same without script
    tasks.try_rule(Outbox.objects.get(task=rule_actions.TRY, subject_id=trial.pk).pk)
    assert "4 of 4" not in text(client, f"/rules/{NAME}/trials/{trial.pk}/")
    client.force_login(mia)
    page = text(client, f"/rules/{NAME}/")
    assert "payout_recovered" in page
    assert "to sign" in page
    refused = client.post(f"{VERSION}/activation/")
    assert refused.status_code == 409
    assert "whoever activates signs" in html.unescape(refused.content.decode())
    flips = [str(pk) for pk in trial.flips.filter(kind=Flip.Kind.FAIL_TO_PASS).values_list("pk", flat=True)]
    missing = client.post(f"{VERSION}/signatures/", {"reason": REASON})
    assert missing.status_code == 422
    assert REASON in missing.content.decode()
    assert client.post(f"{VERSION}/signatures/", {"flips": flips, "reason": REASON}).status_code == 302
    assert client.post(f"{VERSION}/activation/").status_code == 302
    page = text(client, f"/rules/{NAME}/")
    assert "Rule as it decides" in page
    assert 'hypothesis="transient_failure_recovered"' in page  # its source
    assert "Known blind spots" in page
    assert "A-13: the count is 1, not 0." in page


@pytest.mark.parametrize("act", ["trials", "signatures", "shadow", "activation"])
def test_who_only_views_presses_nothing(
    client: Client, ada: Person, make_person: Callable[..., Person], act: str
) -> None:
    drafted(ada)
    client.force_login(make_person("vera", "viewer"))
    assert "<button" not in text(client, f"/rules/{NAME}/").partition("<main")[2].partition("</main>")[0]
    assert client.post(f"{VERSION}/{act}/").status_code == 403


def test_a_version_goes_to_shadow_on_its_page(client: Client, ada: Person) -> None:
    drafted(ada)
    client.force_login(ada)
    assert client.post(f"{VERSION}/shadow/").status_code == 302
    assert "Version 1 in shadow" in text(client, f"/rules/{NAME}/")
    assert client.post(f"{VERSION}/shadow/").status_code == 409


def test_the_change_of_a_version_is_a_diff_of_its_source(
    client: Client, ada: Person, define: Callable[..., Definition]
) -> None:
    define("rule", NAME, body(1))
    drafted(ada, 2)
    client.force_login(ada)
    page = text(client, f"/rules/{NAME}/")
    assert "version=<ins>2</ins>," in page
    assert "version=<del>1</del>," in page


def test_the_list_says_how_each_rule_stands(
    client: Client, principal: Principal, running: Investigation, ada: Person
) -> None:
    examined(decided(principal, running))
    client.force_login(ada)
    page = text(client, "/rules/")
    assert "a person confirms" in page
    assert "1 of 1" in page
    assert "of 1 draft had a rule" in page


def test_the_list_asks_the_database_no_more_for_more_rules(client: Client, ada: Person) -> None:
    client.force_login(ada)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get("/rules/")
        return len(captured)

    first, *others = registry.newest()
    twohands.draft("rule", first.hypothesis, registry.body_of(first), by=ada, reason="for a test")
    client.get("/rules/")
    few = queries()
    for rule in others:
        twohands.draft("rule", rule.hypothesis, registry.body_of(rule), by=ada, reason="for a test")
    assert queries() == few


@pytest.mark.usefixtures("shop_cases")
def test_every_case_is_replayed_by_the_rules_in_force(
    client: Client, define: Callable[..., Definition], ada: Person
) -> None:
    define("rule", NAME, body(2))
    client.force_login(ada)
    assert "Nothing was replayed yet." in text(client, "/rules/replay/")
    assert client.post("/rules/replay/").status_code == 302
    replay = Replay.objects.get()
    assert "Look again" in text(client, f"/rules/replay/{replay.pk}/")
    again = client.post("/rules/replay/")
    assert again["Location"] == f"/rules/replay/{replay.pk}/"  # one runs already
    job = Outbox.objects.get(task=rule_actions.REPLAY, subject_id=replay.pk)
    while Outbox.objects.filter(pk=job.pk, done_at=None).exists():
        tasks.replay_cases(job.pk)
    replay.refresh_from_db()
    assert (replay.status, replay.total, replay.lines.count()) == (Job.DONE, 9, 9)
    assert {line.name for line in replay.lines.all() if line.verdict == "pass"} == {"payout_recovered"}
    others = [line.name for line in replay.lines.all() if not line.is_as_expected]
    assert sorted(others) == ["log_quiet", "refund_arrived"]  # no rule of theirs is in force
    page = text(client, f"/rules/replay/{replay.pk}/")
    assert "✕ not as expected" in page
    assert "No active rule says what would show" in page


def test_a_long_replay_counts_all_its_cases_and_shows_the_worst_first(
    client: Client, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_page, "MOST_LINES", 2)
    replay = Replay.objects.create(asked_by=ada, status=Job.RUNNING, total=9)
    ended = [("pass", "pass"), ("", "pass"), ("fail", "fail"), ("pass", "fail"), ("fail", "pass")]
    for position, (expected, verdict) in enumerate(ended):
        ReplayLine.objects.create(
            replay=replay, position=position, name=f"case-{position}", hypothesis=NAME, expected=expected,
            verdict=verdict, decided_by="…",
        )  # fmt: skip
    page = replay_page.ReplayPage(replay)
    assert (page.done, page.other, page.false_passes, page.passes, page.unshown) == (5, 2, 1, 3, 3)
    assert [one.line.name for one in page.lines] == ["case-4", "case-3"]
    client.force_login(ada)
    shown = text(client, f"/rules/replay/{replay.pk}/")
    assert "5 of 9 cases" in shown
    assert "3 cases more" in shown


def test_whatever_has_to_be_signed_is_shown_however_much_it_is(
    client: Client, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flip that no page shows could not be signed, and the version never be activated."""
    monkeypatch.setattr(flip_rows, "MOST", 2)
    trial = as_tried(drafted(ada), ada)
    kinds = [*["pass_to_fail"] * 3, *["fail_to_pass"] * 4]
    for number, kind in enumerate(kinds):
        Flip.objects.create(
            trial=trial, kind=kind, subject=f"case-{number}", what="…", checks=[], reasons=[], receipt_sha256="0" * 64
        )
    client.force_login(ada)
    page = text(client, f"/rules/{NAME}/")
    assert page.count('name="flips"') == 4
    assert "3 flips more, none of them to be signed" in page
    chosen = {"flips": [flip.pk for flip in trial.flips.filter(kind="fail_to_pass")], "reason": REASON}
    assert client.post(f"{VERSION}/signatures/", chosen).status_code == 302
    assert rule_guards.unsigned(trial, ada) == []


@pytest.mark.parametrize("said", ["", "It was tried 8 times and never finished."])
@pytest.mark.parametrize("status", list(Job))
def test_a_trial_and_a_replay_say_what_they_stand_at(client: Client, ada: Person, status: Job, said: str) -> None:
    trial = as_tried(drafted(ada), ada, status=status, why=said)
    replay = Replay.objects.create(asked_by=ada, status=status, why=said)
    client.force_login(ada)
    pages = [text(client, f"/rules/{NAME}/"), text(client, f"/rules/replay/{replay.pk}/")]
    is_open = status in (Job.WAITING, Job.RUNNING)
    for page in pages:
        assert ("every 1s" in page) == is_open
        assert ("for the trial worker" in page) == (status == Job.WAITING)
        if status in (Job.FAILED, Job.GIVEN_UP, Job.STOPPED):
            assert status.label in page
            assert (said or "It was stopped before its end.") in page
    assert ("Try it again" in pages[0]) != is_open
    assert trial.status == status


@pytest.mark.parametrize("is_in_force", [True, False], ids=["beside one in force", "alone"])
def test_whoever_activates_a_version_sees_its_blind_spots_before(
    client: Client, ada: Person, define: Callable[..., Definition], is_in_force: bool
) -> None:
    if is_in_force:
        define("rule", NAME, body(2))
    spot = {"audit_id": "A-13", "tool": "count_errors", "part": "result", "pointer": "/scanned", "change": "a neighbor",
            "was": "18204", "value": "18205", "case": "payout", "is_noticed": False, "failing": []}  # fmt: skip
    as_tried(drafted(ada, 1), ada, mutants=100, noticed=98, blind_spots=[spot, {**spot, "value": "18203"}])
    client.force_login(ada)
    page = re.sub(r"<[^>]+>", "", text(client, f"/rules/{NAME}/"))
    assert page.count("scanned 18204 → 18205") == 1
    assert "and 1 change like it" in page


def test_a_pass_that_turned_out_to_be_none_stands_on_its_rules_page(
    client: Client, principal: Principal, running: Investigation, ada: Person
) -> None:
    draft = decided(principal, running)
    Draft.objects.filter(pk=draft.pk).update(status=Draft.Status.AGREED)
    LateEvent.objects.create(draft=draft, what=LateEvent.What.REOPENED, by="jonas")
    client.force_login(ada)
    page = text(client, f"/rules/{NAME}/")
    assert "1 of 1" in page
    assert f"{draft.ref} closed {running.incident.ref}" in re.sub(r"<[^>]+>", "", page)
    assert "Opened again by a person by jonas" in page


def test_a_fragment_of_a_replay_is_a_fragment(client: Client, ada: Person) -> None:
    replay = rule_actions.ask_for_replay(by=ada)
    client.force_login(ada)
    response = client.get(f"/rules/replay/{replay.pk}/", headers={"HX-Request": "true", "HX-Target": "replay"})
    assert b"<html" not in response.content
    assert b'id="replay"' in response.content
    assert client.post(f"/rules/replay/{replay.pk}/stop/").status_code == 302
    replay.refresh_from_db()
    assert replay.status == Job.STOPPED


CLASS = {
    "name": "job_failed", "kind": "incident", "title": "A job failed", "severity": "high", "owner": "jonas",
    "subject_keys": "job_id: integer", "recurrence_seconds": "3 h", "freshness_seconds": "1 h 30 min",
    "ingestion_lag_seconds": "5 min", "hypotheses": "transient_failure_recovered\nworker_lost\n",
    "tools": "find_job\ncount_errors", "budget_calls": "12", "deadline_seconds": "15 min", "reason": "for a test",
}  # fmt: skip


def test_a_class_is_written_in_words_and_activated_by_another(client: Client, ada: Person, mia: Person) -> None:
    client.force_login(ada)
    assert client.post("/classes/new/", CLASS).status_code == 302
    written = Definition.objects.get(kind="class", name="job_failed").body
    assert (written["freshness_seconds"], written["subject_keys"]) == (5400, {"job_id": "integer"})
    assert written["hypotheses"] == ["transient_failure_recovered", "worker_lost"]
    client.force_login(mia)
    assert "Activate version 1" in text(client, "/classes/job_failed/")
    assert client.post("/classes/job_failed/versions/1/activation/").status_code == 302
    page = text(client, "/classes/job_failed/")
    assert "no older than 1 h 30 min" in page
    assert "worker_lost" in text(client, "/classes/")
    form = text(client, "/classes/job_failed/new/")
    assert 'value="1 h 30 min"' in form
    assert "job_id: integer" in form


def test_a_class_says_for_how_long_its_passes_are_watched_or_nothing(client: Client, ada: Person) -> None:
    client.force_login(ada)
    empty = text(client, "/classes/new/")
    assert re.search(r'name="recurrence_seconds"[^>]* required', empty)
    assert re.search(r'name="watch_seconds"[^>]*>', empty)
    assert not re.search(r'name="watch_seconds"[^>]* required', empty)
    for said, kept in (("", None), ("7 d", 7 * 86_400)):
        assert client.post("/classes/new/", {**CLASS, "watch_seconds": said}).status_code == 302
        written = Definition.objects.filter(kind="class").latest("version")
        assert written.body.get("watch_seconds") == kept
    assert "for 168 h after a pass closed it" in text(client, "/classes/job_failed/")
    assert 'value="168 h"' in text(client, "/classes/job_failed/new/")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"watch_seconds": "a week"}, "Write it like 3 h"),
        ({"recurrence_seconds": "three hours"}, "Write it like 3 h"),
        ({"subject_keys": "job_id"}, "one key per line with its type"),
        ({"subject_keys": "job_id: number"}, "one key per line with its type"),
        ({"name": "no good name"}, "A name is 1 to 80 letters"),
        ({"hypotheses": "No-Good"}, "hypotheses"),
    ],
)
def test_what_is_no_class_is_not_drafted_and_the_typing_stays(
    client: Client, ada: Person, changed: dict[str, str], sentence: str
) -> None:
    client.force_login(ada)
    refused = client.post("/classes/new/", {**CLASS, "owner": "somebody else", **changed})
    assert refused.status_code == 422
    page = html.unescape(refused.content.decode())
    assert sentence in page
    assert "somebody else" in page
    assert not Definition.objects.filter(kind="class").exists()


def test_a_class_can_still_be_given_as_json(client: Client, ada: Person) -> None:
    client.force_login(ada)
    assert "Body, in JSON" in text(client, "/classes/new/?as=json")


def test_a_rule_may_not_be_called_like_a_page(ada: Person) -> None:
    with pytest.raises(ValueError, match="not new, replay or drift"):
        twohands.draft("rule", "replay", {}, by=ada, reason="for a test")


def test_a_draft_shows_what_would_have_flipped_it_and_how_it_was_gathered(
    client: Client, principal: Principal, running: Investigation, ada: Person
) -> None:
    draft = decided(principal, running)
    client.force_login(ada)
    assert "Not tried yet" in text(client, f"/drafts/{draft.pk}/")
    examined(draft)
    page = text(client, f"/drafts/{draft.pk}/")
    assert "changes to what was read turn it into a fail" in page
    assert "Still a pass, known blind spot" in page
    assert "Every tool that the class offers was called." in page


def test_a_trial_that_was_made_is_shown_with_its_cases(client: Client, ada: Person, shop_cases: None) -> None:
    tried(drafted(ada), ada)
    client.force_login(ada)
    page = text(client, f"/rules/{NAME}/")
    assert "Tried on 4 cases and investigations" in page
    assert "payout_of_another_incident" in page
    assert "Every cited call belongs to its incident, succeeded" in page
