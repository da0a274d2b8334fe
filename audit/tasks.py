"""Upkeep of the log's tables."""

from celery import shared_task
from django.db import connection

from audit import search_following

MONTHS_AHEAD = 3
SECONDS_TO_FOLLOW = 2.0  # verdicts wait for this worker too


@shared_task(name="audit.tasks.ensure_partitions")
def ensure_partitions() -> None:
    """Make the partitions of the coming months. The function is the owner's; the worker may only call it."""
    with connection.cursor() as cursor:
        cursor.execute("select audit_ensure_partitions(%s)", [MONTHS_AHEAD])


@shared_task(name="audit.tasks.follow_log")
def follow_log() -> None:
    """Make what was sealed searchable. Safe to run twice: its place is kept in a row, and one works at a time."""
    search_following.follow(SECONDS_TO_FOLLOW)
