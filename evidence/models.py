"""The proofs that sources' credentials are read-only. Sources and tools themselves are definitions (audit.twohands)."""

from django.db import models
from django.db.models import Q

from evidence.metric_models import MetricAsk
from evidence.monitoring_models import (
    AgentAlert,
    CallSlot,
    CallTotal,
    CallUse,
    MonitorState,
    ProofAsk,
    Question,
)

__all__ = [
    "AgentAlert", "CallSlot", "CallTotal", "CallUse", "Certificate", "MetricAsk", "MonitorState", "ProofAsk",
    "Question", "WrittenRead",
]  # fmt: skip


class Certificate(models.Model):
    """What was proven about a source's reader credential, at one moment. Never changed; a newer one supersedes it."""

    id = models.UUIDField(primary_key=True)
    source = models.SlugField(max_length=80)
    source_version = models.PositiveIntegerField()
    role = models.TextField()
    address = models.TextField()  # the credential without its password: what a reading process must hold as well
    server = models.TextField()  # system identifier and database oid: where it was proven
    facts = models.JSONField()  # [{"fact", "holds", "seen", "mend"}]
    holds = models.BooleanField()
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["source", "-at"], name="evidence_latest_certificate")]


class WrittenRead(models.Model):
    """A read during which something wrote, against all that was proven: its source is dark until it is settled."""

    source = models.SlugField(max_length=80)
    source_version = models.PositiveIntegerField()
    during = models.CharField(max_length=80)  # where people find it: A-48213, W-577
    by = models.CharField(max_length=120)  # the agent's or the process's name
    at = models.DateTimeField(auto_now_add=True)
    incident_id = models.BigIntegerField(null=True)  # the one that it became
    settled_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["source"], name="evidence_unsettled_writing", condition=Q(settled_at=None))]
