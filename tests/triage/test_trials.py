"""A version is tried on everything on record, and is put in force only when that shows enough."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from audit import outbox, twohands
from audit.agents import Principal
from audit.models import Definition, Entry, Outbox
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import (
    actions,
    given_up,
    replays,
    rule_actions,
    rule_guards,
    submissions,
    survival_reports,
    tasks,
    trials,
    verdicts,
)
from gate.triage.models import Draft, Investigation
from gate.triage.rule_models import Examination, Flip, Job, Replay, Trial
from tests.earned import as_tried
from tests.triage.conftest import handed_in
from tests.triage.trying import NAME, REASON, body, decided, drafted, tried

pytestmark = pytest.mark.django_db
CASES = str(Path(settings.BASE_DIR) / "gate" / "demo" / "cases")


@pytest.fixture
def ada(make_person: Callable[..., Person]) -> Person:
    return make_person("ada", "admin")


@pytest.fixture
def mia(make_person: Callable[..., Person]) -> Person:
    return make_person("mia", "admin")


@pytest.fixture
def shop_cases(settings: Any) -> None:
    settings.CASES = [CASES]


def activated(version: Definition, by: Person) -> str:
    """The sentence that refuses the activation; empty when it went through."""
    try:
        twohands.activate(version.pk, by=by)
    except NotAllowed as refusal:
        return str(refusal)
    return ""


def sign_all(version: Definition, by: Person) -> None:
    trial = rule_guards.newest_trial(version)
    assert trial is not None
    flips = list(trial.flips.filter(kind=Flip.Kind.FAIL_TO_PASS))
    if flips:
        rule_actions.sign_flips(version, flips, by=by, reason=REASON)


def test_a_version_that_was_not_tried_is_not_activated(ada: Person, mia: Person) -> None:
    assert "was not tried" in activated(drafted(ada), mia)


@pytest.mark.usefixtures("shop_cases")
def test_a_version_that_shows_enough_and_is_signed_comes_in_force(ada: Person, mia: Person) -> None:
    version = drafted(ada)
    trial = tried(version, ada)
    assert (trial.status, trial.done, trial.total) == (Job.DONE, 4, 4)
    assert trial.noticed * 100 >= 90 * trial.mutants > 0
    assert {case["verdict"] for case in trial.cases if case["expected"] == "fail"} == {"fail"}
    assert "whoever activates signs" in activated(version, mia)
    sign_all(version, mia)
    assert activated(version, mia) == ""
    assert twohands.active("rule", NAME) == version


@pytest.mark.usefixtures("shop_cases")
def test_the_signature_of_another_person_does_not_do(ada: Person, mia: Person) -> None:
    version = drafted(ada)
    tried(version, ada)
    sign_all(version, ada)
    assert "whoever activates signs" in activated(version, mia)


@pytest.mark.usefixtures("shop_cases")
def test_signatures_stay_when_the_same_is_found_again(ada: Person, mia: Person) -> None:
    version = drafted(ada)
    tried(version, ada)
    sign_all(version, mia)
    tried(version, ada)
    assert activated(version, mia) == ""


@pytest.mark.usefixtures("shop_cases")
def test_who_only_views_asks_for_no_trial_and_signs_nothing(ada: Person, make_person: Callable[..., Person]) -> None:
    version, vera = drafted(ada), make_person("vera", "viewer")
    with pytest.raises(NotAllowed, match="Your role does not change"):
        rule_actions.ask_for_trial(version, by=vera)
    trial = tried(version, ada)
    with pytest.raises(NotAllowed, match="Your role does not change"):
        rule_actions.sign_flips(version, list(trial.flips.all()), by=vera, reason=REASON)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"noticed": 89, "mutants": 100}, "at least 90 % are needed"),
        ({"noticed": 0, "mutants": 0}, "its evidence could not be changed"),
        ({"cases": []}, "No case that must fail"),
        ({"status": Job.STOPPED}, "came to no end"),
        ({"status": Job.RUNNING}, "is being tried"),
        ({"rule_hash": "0" * 64}, "Another version came in force"),
        ({"cases_digest": "0" * 64}, "The cases are others"),
    ],
)
def test_a_trial_that_shows_too_little_or_something_else_is_not_enough(
    ada: Person, mia: Person, changes: dict[str, Any], sentence: str
) -> None:
    version = drafted(ada)
    as_tried(version, ada, **changes)
    assert sentence in activated(version, mia)
    assert twohands.active("rule", NAME) is None


def test_the_least_score_is_enough(ada: Person, mia: Person) -> None:
    version = drafted(ada)
    as_tried(version, ada, noticed=90, mutants=100)
    assert activated(version, mia) == ""


@pytest.fixture
def passed(principal: Principal, running: Investigation) -> Draft:
    """A pass by the version in force."""
    return decided(principal, running)


def other_version(by: Person) -> Definition:
    """Another version than the one in force."""
    in_force = twohands.active("rule", NAME)
    assert in_force is not None
    return drafted(by, 1 if in_force.body["file_version"] == 2 else 2)


def test_everything_on_record_is_decided_by_both_versions(passed: Draft, ada: Person) -> None:
    trial = tried(other_version(ada), ada)
    assert (trial.done, trial.total) == (1, 1)
    flips = [(flip.kind, flip.subject) for flip in trial.flips.all()]
    incident = passed.investigation.incident
    assert flips in ([], [("receipt", f"{incident.ref} #{passed.investigation_id}")])
    assert trial.same + len(flips) == 1


def test_a_pass_that_a_person_overruled_blocks_a_version_that_passes_it_again(
    passed: Draft, ada: Person, mia: Person, make_person: Callable[..., Person]
) -> None:
    assert passed.outcome == "pass"
    actions.review(passed.pk, by=make_person("olga"), act="overrule", reason="It failed again.", seen_version=1)
    version = other_version(ada)
    trial = tried(version, ada)
    (flip,) = trial.flips.filter(is_known_false=True)
    assert flip.checks
    with pytest.raises(NotAllowed, match="nobody can sign"):
        rule_actions.sign_flips(
            version, [Flip(kind=Flip.Kind.FAIL_TO_PASS, subject="I-1", is_known_false=True)], by=mia, reason=REASON
        )
    Trial.objects.filter(pk=trial.pk).update(**EARNED)
    assert "That blocks this version" in activated(version, mia)


EARNED = {
    "mutants": 1, "noticed": 1, "cases": [{"expected": "fail", "verdict": "fail"}],
}  # fmt: skip


def test_an_investigation_that_was_decided_since_asks_for_another_trial(
    ada: Person, mia: Person, principal: Principal, running: Investigation
) -> None:
    version = other_version(ada)
    Trial.objects.filter(pk=tried(version, ada).pk).update(**EARNED)
    decided(principal, running)
    assert "were decided since" in activated(version, mia)


def test_a_verdict_that_was_overruled_since_asks_for_another_trial(
    passed: Draft, ada: Person, mia: Person, make_person: Callable[..., Person]
) -> None:
    version = other_version(ada)
    Trial.objects.filter(pk=tried(version, ada).pk).update(**EARNED)
    actions.review(passed.pk, by=make_person("olga"), act="overrule", reason="It failed again.", seen_version=1)
    assert "was overruled since" in activated(version, mia)


@pytest.mark.usefixtures("shop_cases")
def test_a_case_that_must_fail_and_passes_blocks(ada: Person, mia: Person, tmp_path: Path, settings: Any) -> None:
    """The same evidence, with the outcome that it was not fine."""
    text = (Path(CASES) / "payout_recovered.json").read_text()
    (tmp_path / "not_fine.json").write_text(
        text.replace('"actual": "pass"', '"actual": "fail"').replace('"payout_recovered"', '"payout_not_fine"')
    )
    settings.CASES = [CASES, str(tmp_path)]
    version = drafted(ada)
    trial = tried(version, ada)
    assert [flip.subject for flip in trial.flips.filter(is_known_false=True)] == ["payout_not_fine"]
    assert "payout_not_fine would pass" in activated(version, mia)


@pytest.mark.usefixtures("shop_cases")
def test_a_trial_runs_in_slices_and_other_jobs_come_between(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "SLICE", 0.0000001)
    trial = rule_actions.ask_for_trial(drafted(ada), by=ada)
    job = Outbox.objects.get(task=rule_actions.TRY, subject_id=trial.pk)
    Outbox.objects.filter(pk=job.pk).update(sent_at="2026-01-01T00:00:00Z")
    for _ in range(30):  # more slices than a job may fail
        tasks.try_rule(job.pk)
        job.refresh_from_db()
        if job.done_at is None:
            assert (job.sent_at, job.attempts) == (None, 0)
    trial.refresh_from_db()
    assert (trial.status, trial.done) == (Job.DONE, 4)
    assert trial.flips.count() == len({flip.subject for flip in trial.flips.all()})


@pytest.mark.usefixtures("shop_cases")
def test_a_worker_that_dies_in_the_midst_loses_a_step_and_no_more(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    version = drafted(ada)
    unhurt = tried(version, ada)
    trial, whole, deaths = rule_actions.ask_for_trial(version, by=ada), trials._Trying._try_case, [True, False, True]

    def dying(self: Any, case: Any) -> None:
        whole(self, case)
        if deaths and deaths.pop():
            raise KeyboardInterrupt  # the work was done and nothing is committed

    monkeypatch.setattr(trials._Trying, "_try_case", dying)
    job = Outbox.objects.get(task=rule_actions.TRY, subject_id=trial.pk)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            tasks.try_rule(job.pk)
    while Outbox.objects.filter(pk=job.pk, done_at=None).exists():
        tasks.try_rule(job.pk)
    trial.refresh_from_db()
    assert trial.status == Job.DONE
    for field in ("done", "total", "same", "mutants", "noticed", "cases", "blind_spots"):
        assert getattr(trial, field) == getattr(unhurt, field)


@pytest.mark.usefixtures("shop_cases")
@pytest.mark.parametrize("says_it", ["the task", "beat"])
@pytest.mark.parametrize("work", ["trial", "replay"])
def test_work_that_kills_its_worker_each_time_is_given_up_and_can_be_asked_for_again(
    ada: Person, monkeypatch: pytest.MonkeyPatch, work: str, says_it: str
) -> None:
    def ask() -> Trial | Replay:
        return rule_actions.ask_for_replay(by=ada) if work == "replay" else rule_actions.ask_for_trial(version, by=ada)

    def killing(*_: Any) -> None:
        raise KeyboardInterrupt

    version = drafted(ada)
    name, run = (rule_actions.REPLAY, tasks.replay_cases) if work == "replay" else (rule_actions.TRY, tasks.try_rule)
    asked = ask()
    job = Outbox.objects.get(task=name, subject_id=asked.pk)
    monkeypatch.setattr(trials._Trying, "_try_case", killing)
    monkeypatch.setattr(replays, "_replay_one", killing)
    for _ in range(outbox.MOST_ATTEMPTS):
        with pytest.raises(KeyboardInterrupt):
            run(job.pk)
    if says_it == "beat":
        Outbox.objects.filter(pk=job.pk).update(gave_up_at=timezone.now(), error="There is no queue trials.")
        tasks.abandon_overdue()
    else:
        run(job.pk)
    asked.refresh_from_db()
    assert asked.status == Job.GIVEN_UP
    assert asked.finished_at is not None
    assert ("no queue" if says_it == "beat" else "tried 8 times") in asked.why
    again = ask()
    assert (again.pk != asked.pk, again.status) == (True, Job.WAITING)


def test_no_draft_waits_for_what_only_shows_more(passed: Draft, ada: Person) -> None:
    rule_actions.ask_for_trial(other_version(ada), by=ada)
    rule_actions.ask_for_replay(by=ada)
    queues = dict(Outbox.objects.values_list("task", "queue"))
    assert queues.pop(submissions.TASK) == "verdicts"
    shown = (verdicts.EXAMINE, survival_reports.MEASURE, rule_actions.TRY, rule_actions.REPLAY)
    assert queues == dict.fromkeys(shown, "trials")


def test_an_incident_whose_verdict_was_given_up_says_so(
    principal: Principal, running: Investigation, ada: Person, client: Client
) -> None:
    submissions.submit(principal, running.pk, handed_in(hypothesis=NAME))
    client.force_login(ada)
    at, words = f"/incidents/{running.incident_id}/", "The verdict worker died of it each time"
    assert words not in client.get(at).content.decode()
    Outbox.objects.filter(task=submissions.TASK).update(gave_up_at=timezone.now(), attempts=8)
    assert words in client.get(at).content.decode()


@pytest.mark.parametrize("is_given_up", [True, False])
def test_a_draft_says_why_nothing_was_tried_yet(passed: Draft, ada: Person, client: Client, is_given_up: bool) -> None:
    if is_given_up:
        Outbox.objects.filter(task=verdicts.EXAMINE).update(gave_up_at=timezone.now(), error="It was tried 8 times.")
    client.force_login(ada)
    page = client.get(f"/drafts/{passed.pk}/").content.decode()
    assert ("It was tried 8 times." in page) == is_given_up
    assert ("it follows within seconds" in page) != is_given_up


def test_an_examination_that_was_given_up_is_taken_up_again(passed: Draft) -> None:
    job = Outbox.objects.get(task=verdicts.EXAMINE, subject_id=passed.pk)
    Outbox.objects.filter(pk=job.pk).update(gave_up_at="2026-01-01T00:00:00Z", attempts=8, error="Tried.")
    assert given_up.examination_of(passed) == "Tried."
    tasks.abandon_overdue()
    assert given_up.examination_of(passed) == ""
    tasks.examine_draft(job.pk)
    assert Examination.objects.filter(draft=passed).exists()


@pytest.mark.usefixtures("shop_cases")
def test_a_trial_can_be_stopped(ada: Person) -> None:
    version = drafted(ada)
    trial = rule_actions.ask_for_trial(version, by=ada)
    with pytest.raises(NotAllowed, match="being tried already"):
        rule_actions.ask_for_trial(version, by=ada)
    rule_actions.stop(trial, by=ada)
    assert trials.advance(trial.pk) is True
    trial.refresh_from_db()
    assert (trial.status, trial.done) == (Job.STOPPED, 0)


def test_a_file_that_is_no_case_ends_the_trial_with_its_name(ada: Person, tmp_path: Path, settings: Any) -> None:
    (tmp_path / "broken.json").write_text('{"name": "x"}')
    settings.CASES = [str(tmp_path)]
    trial = tried(drafted(ada), ada)
    assert trial.status == Job.FAILED
    assert "broken.json" in trial.why


def test_what_people_ask_and_sign_is_in_the_log(shop_cases: None, ada: Person, mia: Person) -> None:
    version = drafted(ada)
    tried(version, ada)
    sign_all(version, mia)
    kinds = set(Entry.objects.filter(subject=str(version)).values_list("kind", flat=True))
    assert {"rule.tried", "rule.flips_signed"} <= kinds


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shop_cases")
def test_the_worker_and_people_have_just_the_rights_for_it(
    ada: Person, mia: Person, principal: Principal, running: Investigation, as_role: Callable[[str], None],
    make_person: Callable[..., Person],
) -> None:  # fmt: skip
    draft = decided(principal, running)
    actions.review(draft.pk, by=make_person("olga"), act="send_back", reason="Look again.", seen_version=1)
    as_role("people")
    version = other_version(ada)
    trial = rule_actions.ask_for_trial(version, by=ada)
    as_role("worker")
    while not trials.advance(trial.pk):
        pass
    as_role("people")
    trial.refresh_from_db()
    assert (trial.status, trial.done) == (Job.DONE, 5)
    sign_all(version, mia)
    assert activated(version, mia) == ""


def test_the_version_that_is_in_force_needs_no_trial_any_more(define: Callable[..., Definition], ada: Person) -> None:
    version = define("rule", NAME, body(1))
    with pytest.raises(NotAllowed, match="is active; a draft is tried"):
        rule_actions.ask_for_trial(version, by=ada)
