"""Jobs of the reads worker, which proves sources and asks metrics, and of the worker, which watches agents' calls."""

from celery import shared_task
from django.utils import timezone

from audit import outbox
from audit.models import Definition
from evidence import alerts, counted, metric_answering, metric_asks, proof, proof_asks

SECONDS_TO_COUNT = 2.0  # verdicts wait for this worker too
ACTIVE_SOURCES = {"kind": "source", "status": Definition.Status.ACTIVE}


@shared_task(name="evidence.tasks.certify_source")
def certify_source(job_id: int) -> None:
    """Prove the source that was just activated. Safe to run twice: a newer certificate supersedes."""
    outbox.run_stepwise(certify_source.name, job_id, _certify)


def _certify(source_id: int) -> None:
    source = Definition.objects.filter(pk=source_id, **ACTIVE_SOURCES).first()
    if source is not None:
        proof.certify(source)


@shared_task(name="evidence.tasks.certify_all")
def certify_all() -> None:
    """Prove every active source anew; beat asks for it, so that a lost run is followed by another."""
    for source in Definition.objects.filter(**ACTIVE_SOURCES).order_by("name"):
        proof.certify(source)


@shared_task(name=proof_asks.TASK)
def certify_asked(job_id: int) -> None:
    """Prove the source that a person asked for."""
    outbox.run_stepwise(certify_asked.name, job_id, proof_asks.certify)


@shared_task(name=metric_asks.TASK)
def answer_metric(job_id: int) -> None:
    """Answer what a person asked of a metric."""
    outbox.run_stepwise(answer_metric.name, job_id, metric_answering.answer)


@shared_task(name="evidence.tasks.watch_agents")
def watch_agents() -> None:
    """Count what agents called, and say what a person should look at. Safe to run twice, also twice at once."""
    counted.follow(SECONDS_TO_COUNT)
    alerts.watch(timezone.now())
