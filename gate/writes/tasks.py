"""Jobs of the writer, and of the reads worker: admission, first looks. Each takes an outbox id and may run twice."""

from celery import shared_task

from audit import outbox
from gate.writes import admission_jobs, canary_placing, execution, expiry, preview, unknowns
from gate.writes import first_look as looking


@shared_task(name="gate.writes.tasks.preview_write")
def preview_write(job_id: int) -> None:
    """Preview what a person asked to see."""
    outbox.run_stepwise(preview_write.name, job_id, preview.make)


@shared_task(name="gate.writes.tasks.first_look")
def first_look(job_id: int) -> None:
    """Look, with a credential that only reads, at what a person asked to see."""
    outbox.run_stepwise(first_look.name, job_id, looking.make)


@shared_task(name="gate.writes.tasks.admit_write")
def admit_write(job_id: int) -> None:
    """Observe what was proposed with credentials that only read, and have it judged, before a person sees it."""
    outbox.run_stepwise(admit_write.name, job_id, admission_jobs.begin)


@shared_task(name="gate.writes.tasks.answer_for_write")
def answer_for_write(job_id: int) -> None:
    """Ask the answering model what a policy leaves to it of a write that is being checked."""
    outbox.run_stepwise(answer_for_write.name, job_id, admission_jobs.answer)


@shared_task(name="gate.writes.tasks.admit_answered")
def admit_answered(job_id: int) -> None:
    """Have a write judged with what the answering model said."""
    outbox.run_stepwise(admit_answered.name, job_id, admission_jobs.go_on)


@shared_task(name="gate.writes.tasks.admit_again")
def admit_again() -> None:
    """Take up the checks of writes that were lost on the way."""
    admission_jobs.take_up_again()


@shared_task(name="gate.writes.tasks.execute_write")
def execute_write(job_id: int) -> None:
    """Run an approved write, or find out what became of an earlier run."""
    outbox.run_stepwise(execute_write.name, job_id, execution.execute)


@shared_task(name="gate.writes.tasks.expire_writes")
def expire_writes() -> None:
    """Expire what nobody acted on in time, and ask again about what nobody knows."""
    expiry.expire()
    unknowns.admit()
    unknowns.ask_again()


@shared_task(name="gate.writes.tasks.plan_canary")
def plan_canary() -> None:
    """Plan a canary now and then, as often as the operator wants."""
    canary_placing.plan_by_chance()
