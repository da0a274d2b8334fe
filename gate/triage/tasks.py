"""Triage's jobs. Each takes an outbox id, or nothing, and is safe to run twice."""

from celery import shared_task

from audit import outbox
from gate.triage import (
    examining,
    given_up,
    overdue,
    replays,
    seals,
    submissions,
    survival_reports,
    trace_upkeep,
    trials,
    verdicts,
    written,
)


@shared_task(name="gate.triage.tasks.render_verdict")
def render_verdict(job_id: int) -> None:
    """Draft the verdict of a submitted investigation."""
    outbox.run(render_verdict.name, job_id, verdicts.render)


@shared_task(name="gate.triage.tasks.examine_draft")
def examine_draft(job_id: int) -> None:
    """Try what would have flipped a draft, run the rules in shadow, and look for changes in the tools' answers."""
    outbox.run(examine_draft.name, job_id, examining.examine)


@shared_task(name="gate.triage.tasks.try_rule")
def try_rule(job_id: int) -> None:
    """Put a rule version to every case and every recorded investigation, a second at a time."""
    outbox.run_in_slices(try_rule.name, job_id, trials.advance)
    given_up.end_all()


@shared_task(name="gate.triage.tasks.replay_cases")
def replay_cases(job_id: int) -> None:
    """Put every case to the rules in force, a second at a time."""
    outbox.run_in_slices(replay_cases.name, job_id, replays.advance)
    given_up.end_all()


@shared_task(name="gate.triage.tasks.measure_trace")
def measure_trace(job_id: int) -> None:
    """Measure what became of the evidence in an uploaded trace, a part at a time."""
    outbox.run_in_slices(measure_trace.name, job_id, survival_reports.advance)
    given_up.end_all()


@shared_task(name="gate.triage.tasks.measure_log")
def measure_log(job_id: int) -> None:
    """Measure the same of what the log has of an investigation."""
    outbox.run_in_slices(measure_log.name, job_id, survival_reports.measure_log)


@shared_task(name="gate.triage.tasks.clear_pruned_traces")
def clear_pruned_traces() -> None:
    """Clear the traces whose entries were pruned from the log."""
    trace_upkeep.clear_pruned()


@shared_task(name="gate.triage.tasks.abandon_overdue")
def abandon_overdue() -> None:
    """Give up on investigations whose time is over; take up what was given up, and reads that wrote."""
    overdue.abandon_all()
    submissions.resume()
    given_up.end_all()
    given_up.resume()
    written.open_all()


@shared_task(name="gate.triage.tasks.note_seals")
def note_seals() -> None:
    """Add to verdicts' receipts where their entries were sealed."""
    seals.note()
