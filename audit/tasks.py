"""Upkeep of the log's tables."""

from celery import shared_task
from django.db import connection

MONTHS_AHEAD = 3


@shared_task(name="audit.tasks.ensure_partitions")
def ensure_partitions() -> None:
    """Make the partitions of the coming months. The function is the owner's; the worker may only call it."""
    with connection.cursor() as cursor:
        cursor.execute("select audit_ensure_partitions(%s)", [MONTHS_AHEAD])
