"""Entries of the log and their content, and what upper layers say of them. The log knows no row of theirs."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from audit.kinds import Kind
from audit.models.times import ReadableTime


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
    at = ReadableTime()
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


class Link(models.Model):
    """What cites an entry: written by upper layers, shown on the entry's page."""

    entry_seq = models.BigIntegerField()
    subject = models.TextField()  # V-2041, W-577
    url = models.TextField()
    note = models.TextField()
    paths = models.JSONField(default=list)  # JSON pointers of the result that were read
    cited_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["entry_seq", "subject"], name="audit_one_link_per_subject")]
