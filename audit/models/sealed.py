"""The sealed tree over the entries: leaves, checkpoints, where those have arrived, and what verifications found."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from audit.models.times import ReadableTime


class Leaf(models.Model):
    """An entry's place in the sealed tree. Written by the sealer alone, and never changed."""

    index = models.BigIntegerField(primary_key=True, db_column="idx")
    entry_id = models.UUIDField(unique=True)
    h = models.BinaryField()

    class Meta:
        managed = False
        db_table = "audit_leaf"


class Checkpoint(models.Model):
    """The root over the first `size` leaves, signed: a C2SP note."""

    size = models.BigIntegerField(primary_key=True)
    at = ReadableTime()
    root = models.BinaryField()
    note = models.TextField()

    class Meta:
        managed = False
        db_table = "audit_checkpoint"


class SealState(models.Model):
    """How the sealer does, in one row that it writes each round."""

    state = models.TextField()
    sentence = models.TextField()
    at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_sealstate"


class Witnessed(models.Model):
    """How far checkpoints have arrived at one of the places that they are sent to: file, webhook or witness."""

    target = models.TextField(primary_key=True)
    size = models.BigIntegerField()
    note = models.TextField()
    at = models.DateTimeField(null=True)
    state = models.TextField()
    sentence = models.TextField()
    tried_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_witnessed"


class Verification(models.Model):
    """What one verification of the log has found."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    size = models.BigIntegerField()  # leaves under the last checkpoint
    is_full = models.BooleanField()
    findings = models.JSONField()  # the first ones: code, subject, sentence
    finding_count = models.IntegerField()
    is_clean = models.BooleanField()

    class Meta:
        managed = False
        db_table = "audit_verification"
