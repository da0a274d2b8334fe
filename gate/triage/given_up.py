"""Work for a page whose worker died of it each time: it says so, instead of running for ever.

A job is given up in the outbox, which knows nothing of trials and replays. What they stand at is made true here, at
once by the task that finds it out and again by beat, for the case that nobody lived to say it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit import outbox
from audit.models import Outbox
from gate.triage import rule_actions, submissions, traces, verdicts
from gate.triage.models import Draft, Investigation
from gate.triage.rule_models import OPEN, Job, Replay, Trial
from gate.triage.trace_models import Trace

Work = Trial | Replay | Trace
WORKS: dict[str, type[Work]] = {rule_actions.TRY: Trial, rule_actions.REPLAY: Replay, traces.TASK: Trace}


def end_all() -> None:
    """End each trial and replay whose job was given up. Safe to run twice at once."""
    for task, work in WORKS.items():
        jobs = Outbox.objects.filter(task=task, gave_up_at__isnull=False)
        still_open: QuerySet[Any] = work.objects.filter(status__in=OPEN).values("pk")
        for job in jobs.filter(subject_id__in=still_open):
            _end(work, job)


@transaction.atomic
def _end(work: type[Work], job: Outbox) -> None:
    # A worker that lives after all holds the row, and may have come to the end meanwhile.
    found = work.objects.select_for_update(of=("self",)).get(pk=job.subject_id)
    if found.status in OPEN:
        found.status, found.why, found.finished_at = Job.GIVEN_UP, _why(found, job), timezone.now()
        found.save(update_fields=["status", "why", "finished_at"])


def _why(found: Work, job: Outbox) -> str:
    done = found.lines.count() if isinstance(found, Replay) else found.done
    at = f"It got to {done} of {found.total}. " if found.total else "It never began. "
    return f"{job.error} {at}The log of the trial worker says what became of it."


def resume() -> None:
    """Have drafts examined whose examination was given up a while ago: one more try each."""
    outbox.resume(verdicts.EXAMINE, Draft.objects.filter(examination=None).values("pk"))


def verdicts_of(investigations: Iterable[Investigation]) -> set[int]:
    """Those that were handed in and whose verdict was given up, by their numbers: no draft comes of them by itself."""
    submitted = [one.pk for one in investigations if one.status == Investigation.Status.SUBMITTED]
    if not submitted:
        return set()
    jobs = Outbox.objects.filter(task=submissions.TASK, subject_id__in=submitted, gave_up_at__isnull=False)
    return set(jobs.values_list("subject_id", flat=True))


def examination_of(draft: Draft) -> str:
    """Why a draft has no examination, where its job was given up; else empty."""
    job = Outbox.objects.filter(task=verdicts.EXAMINE, subject_id=draft.pk, gave_up_at__isnull=False).first()
    return job.error if job is not None else ""
