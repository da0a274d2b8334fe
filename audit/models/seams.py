"""What upper layers write through: the outbox, heartbeats, and definitions that change by two hands."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Outbox(models.Model):
    """A job that a transaction asks for. The relay hands it to the broker; the broker may lose it."""

    task = models.TextField()
    queue = models.TextField()
    subject_id = models.BigIntegerField()
    created_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(db_default=0)
    done_at = models.DateTimeField(null=True)
    gave_up_at = models.DateTimeField(null=True)
    error = models.TextField(db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "subject_id"], name="audit_one_job_per_subject")]
        indexes = [
            models.Index(
                fields=["id"], name="audit_outbox_open", condition=Q(done_at__isnull=True, gave_up_at__isnull=True)
            )
        ]


class Heartbeat(models.Model):
    """When a process was last seen at work."""

    process = models.TextField(primary_key=True)
    at = models.DateTimeField()


class Definition(models.Model):
    """One immutable version of a definition (source, tool, class, rule, target). A change is a new version."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        SHADOW = "shadow"
        ACTIVE = "active"
        RETIRED = "retired"

    kind = models.SlugField(max_length=20)
    name = models.SlugField(max_length=80)
    version = models.PositiveIntegerField()
    body = models.JSONField()
    digest = models.CharField(max_length=64)  # SHA-256 of the canonical body
    reason = models.TextField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)
    drafted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    drafted_at = models.DateTimeField(auto_now_add=True)
    activated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    activated_at = models.DateTimeField(null=True)
    solo = models.BooleanField(default=False)
    retired_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "name", "version"], name="audit_one_definition_version"),
            models.UniqueConstraint(
                fields=["kind", "name"], name="audit_one_active_version", condition=Q(status="active")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} v{self.version}"
