"""Jobs of the reads worker: proofs that the sources' credentials cannot write."""

from celery import shared_task

from audit import outbox
from audit.models import Definition
from evidence import proof

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
