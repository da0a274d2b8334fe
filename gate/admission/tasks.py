"""Admission's jobs. Each takes an outbox id and is safe to run twice."""

from celery import shared_task

from audit import outbox
from gate.admission.answering import work


@shared_task(name="gate.admission.tasks.answer_questions")
def answer_questions(job_id: int) -> None:
    """Ask the answering model what a policy asks about one action."""
    outbox.run_stepwise(answer_questions.name, job_id, work.answer)
