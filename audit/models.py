"""What is kept of what happened, and the seams that upper layers write: outbox, second hands, agents."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from audit.kinds import Kind


class Entry(models.Model):
    """One event of the log. Written by `audit.log` alone; the database refuses UPDATE, DELETE and TRUNCATE."""

    class ActorKind(models.TextChoices):
        PERSON = "person"
        AGENT = "agent"
        PROCESS = "process"
        MONITOR = "monitor"

    # Server-side: the database stamps these (see the migration); the digest binds the rest.
    id = models.UUIDField(primary_key=True)
    seq = models.BigIntegerField()
    at = models.DateTimeField()
    db_role = models.TextField()

    header_version = models.SmallIntegerField()
    kind = models.TextField(choices=Kind.choices)
    actor_kind = models.TextField(choices=ActorKind.choices)
    actor = models.TextField()
    principal = models.TextField()
    subject = models.TextField()
    summary = models.TextField()
    run_id = models.TextField()
    call_id = models.UUIDField(null=True)
    parent = models.UUIDField(null=True)
    tool = models.TextField()
    tool_version = models.IntegerField(null=True)
    tool_hash = models.TextField()
    source = models.TextField()
    certificate = models.TextField()
    incident_id = models.BigIntegerField(null=True)
    status = models.TextField()
    duration_ms = models.IntegerField(null=True)
    error_class = models.TextField()
    error = models.TextField()
    args_c = models.BinaryField()
    result_c = models.BinaryField()
    args_bytes = models.IntegerField()  # before cutting
    args_sha256 = models.TextField()  # of the whole, when what is kept was cut
    result_bytes = models.IntegerField()
    result_sha256 = models.TextField()
    truncated = models.BooleanField()
    writer = models.TextField()
    writer_run = models.TextField()
    writer_seq = models.BigIntegerField()
    digest = models.BinaryField()

    class Meta:
        managed = False  # the table is partitioned; the migration creates it in SQL
        db_table = "audit_entry"
        ordering = ["-seq"]

    @property
    def ref(self) -> str:
        """The id that people read and findings cite, like A-48213."""
        return f"A-{self.seq}"


class Payload(models.Model):
    """The arguments and result of an entry, as compressed bytes with the salts of their commitments."""

    entry_id = models.UUIDField(primary_key=True)
    salt = models.BinaryField()  # 16 bytes for the arguments, 16 for the result
    args = models.BinaryField(null=True)
    result = models.BinaryField(null=True)
    codec = models.TextField()

    class Meta:
        managed = False
        db_table = "audit_payload"


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


class Agent(models.Model):
    """A program that investigates. A person owns it and answers for it."""

    name = models.SlugField(unique=True, max_length=80)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="agents")
    owner_name = models.CharField(max_length=150)  # a copy: the agents' plane does not read people
    created_at = models.DateTimeField(auto_now_add=True)
    stopped_at = models.DateTimeField(null=True, blank=True)

    # Its budget. What it needs in a bad night, and not what it could do when it runs in circles.
    calls_per_hour = models.PositiveIntegerField(default=1_000)
    open_investigations = models.PositiveIntegerField(default=10)
    proposals_per_day = models.PositiveIntegerField(default=50)

    def __str__(self) -> str:
        return self.name


class AgentUse(models.Model):
    """How much of one limit an agent used in the hour or day that began at `since`: one row, which starts again."""

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="uses")
    what = models.CharField(max_length=10)
    since = models.DateTimeField()
    used = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent", "what"], name="audit_one_count_per_limit")]


class AgentToken(models.Model):
    """A bearer token of an agent. Only its SHA-256 is kept."""

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="tokens")
    label = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    issued_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)


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


class Link(models.Model):
    """What cites an entry: written by upper layers, shown on the entry's page."""

    entry_seq = models.BigIntegerField()
    subject = models.TextField()  # V-2041, W-577
    url = models.TextField()
    note = models.TextField()
    paths = models.JSONField(default=list)  # JSON pointers of the result that were read

    class Meta:
        constraints = [models.UniqueConstraint(fields=["entry_seq", "subject"], name="audit_one_link_per_subject")]
