"""Decided investigations and tried rule versions, for the tests of what a rule has to show."""

from __future__ import annotations

from typing import Any

from audit import outbox, twohands
from audit.agents import Principal
from audit.models import Definition, Outbox
from gate.people.models import Person
from gate.triage import rule_actions, submissions, tasks, verdicts
from gate.triage.models import Draft, Investigation
from gate.triage.rule_models import Trial
from gate.triage.rules import registry
from tests.triage.conftest import count_errors, find_job, handed_in

NAME = "transient_failure_recovered"
REASON = "The evidence shows it."


def body(version: int, name: str = NAME) -> dict[str, Any]:
    """The body of a definition of a shipped rule file."""
    return registry.body_of(next(one for one in registry.loaded() if (one.hypothesis, one.version) == (name, version)))


def decided(principal: Principal, running: Investigation, **count: Any) -> Draft:
    """The running investigation handed in and decided: a pass, unless something of the count is changed."""
    at = running.incident.watch_from.isoformat().replace("+00:00", "Z")
    job, errors = find_job(running, finished_at=at), count_errors(running, **count)
    submissions.submit(
        principal, running.pk, handed_in(("job_completed", job.ref), ("no_recurrence", errors.ref), hypothesis=NAME)
    )
    verdict_job = Outbox.objects.get(task=submissions.TASK, subject_id=running.pk)
    outbox.run(verdict_job.task, verdict_job.pk, verdicts.render)
    return Draft.objects.get(investigation=running)


def examined(draft: Draft) -> None:
    """Run what comes after a draft, as the worker does."""
    job = Outbox.objects.get(task=verdicts.EXAMINE, subject_id=draft.pk)
    tasks.examine_draft(job.pk)


def drafted(by: Person, version: int = 1, **changes: Any) -> Definition:
    """A drafted version of the rule."""
    return twohands.draft("rule", NAME, {**body(version), **changes}, by=by, reason="for a test")


def tried(version: Definition, by: Person) -> Trial:
    """The version with a trial that ran to its end, as the worker runs it."""
    trial = rule_actions.ask_for_trial(version, by=by)
    job = Outbox.objects.get(task=rule_actions.TRY, subject_id=trial.pk)
    while Outbox.objects.filter(pk=job.pk, done_at=None).exists():
        tasks.try_rule(job.pk)
    trial.refresh_from_db()
    return trial
