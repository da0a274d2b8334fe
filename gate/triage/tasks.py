"""Triage's jobs. Each takes an outbox id, or nothing, and is safe to run twice."""

from celery import shared_task

from audit import outbox
from gate.triage import overdue, seals, submissions, verdicts


@shared_task(name="gate.triage.tasks.render_verdict")
def render_verdict(job_id: int) -> None:
    """Draft the verdict of a submitted investigation."""
    outbox.run(render_verdict.name, job_id, verdicts.render)


@shared_task(name="gate.triage.tasks.abandon_overdue")
def abandon_overdue() -> None:
    """Give up on investigations whose time is over, and take up verdicts that were given up."""
    overdue.abandon_all()
    submissions.resume()


@shared_task(name="gate.triage.tasks.note_seals")
def note_seals() -> None:
    """Add to verdicts' receipts where their entries were sealed."""
    seals.note()
