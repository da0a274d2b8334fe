"""Writes to production: proposed by anyone, previewed and executed by the writer, approved by people alone."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import Agent, Definition
from gate.triage.models import Incident, Investigation


class WriteRequest(models.Model):
    """A change somebody wants made. Its statement and parameters never change; an edit is a later issue's new state."""

    class Status(models.TextChoices):
        PROPOSED = "proposed"
        BLOCKED = "blocked"
        WAITING = "waiting"
        APPROVED = "approved"
        EXECUTING = "executing"
        EXECUTED = "executed"
        REFUSED_STALE = "refused_stale"
        FAILED = "failed"
        UNKNOWN = "unknown"
        REJECTED = "rejected"
        WITHDRAWN = "withdrawn"
        EXPIRED = "expired"
        CHANGES_REQUESTED = "changes_requested"

    target = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=200)
    statement = models.TextField()  # canonical: parsed and written back by code
    verb = models.CharField(max_length=6)  # insert, update, delete
    table = models.TextField()  # shop.jobs
    parameters = models.JSONField()  # [{"t": "bigint", "v": "90433"}]
    reason = models.TextField()
    incident = models.ForeignKey(Incident, null=True, blank=True, on_delete=models.PROTECT, related_name="writes")
    investigation = models.ForeignKey(Investigation, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    proposed_by_agent = models.ForeignKey(Agent, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    proposed_by_person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    proposed_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    proposal_digest = models.CharField(max_length=64)
    status = models.CharField(max_length=17, choices=Status.choices, default=Status.WAITING)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="writes_one_proposer",
                condition=Q(proposed_by_agent__isnull=False, proposed_by_person__isnull=True)
                | Q(proposed_by_agent__isnull=True, proposed_by_person__isnull=False),
            )
        ]
        indexes = [
            models.Index(
                fields=["id"],
                name="writes_open",
                condition=Q(status__in=["waiting", "approved", "executing", "unknown"]),
            )
        ]

    @property
    def ref(self) -> str:
        return f"W-{self.pk}"


class PreviewRequest(models.Model):
    """A person asked to see what a write would do. The writer previews from these rows alone."""

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="preview_requests")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class Preview(models.Model):
    """What the writer saw in a transaction that it rolled back."""

    request = models.OneToOneField(PreviewRequest, on_delete=models.PROTECT, related_name="preview")
    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="previews")
    row_count = models.PositiveIntegerField(null=True)
    rows = models.JSONField(default=list)  # [{"key", "before", "after"}], values as the database's text
    volatile = models.JSONField(default=list)  # columns assigned at execution
    footprint = models.JSONField(default=dict)  # {"shop.jobs": [inserted, updated, deleted]}
    effect_digest = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64)  # over proposal digest, effect and footprint
    error = models.TextField(blank=True)  # why there is no effect to approve
    at = models.DateTimeField(auto_now_add=True)


class Decision(models.Model):
    """A person's approval or rejection of one proposal with one preview. Inserted by the people's plane alone."""

    class Act(models.TextChoices):
        APPROVE = "approve"
        REJECT = "reject"
        REQUEST_CHANGES = "request_changes"
        WITHDRAW = "withdraw"

    id = models.UUIDField(primary_key=True)
    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="decisions")
    preview = models.ForeignKey(Preview, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    act = models.CharField(max_length=15, choices=Act.choices)
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    method = models.CharField(max_length=10)  # password; passkey later
    statement = models.JSONField()  # what was approved: the digests, approver, nonce and expiry
    digest = models.CharField(max_length=64)  # SHA-256 of the canonical statement
    at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["write", "by"], name="writes_one_decision_per_person"),
            models.UniqueConstraint(fields=["write"], name="writes_one_approval", condition=Q(act="approve")),
        ]


class Execution(models.Model):
    """The writer's one run of an approved write: what it claimed, wrote and found."""

    class State(models.TextChoices):
        CLAIMED = "claimed"
        EXECUTED = "executed"
        REFUSED_STALE = "refused_stale"
        FAILED = "failed"
        UNKNOWN = "unknown"

    write = models.OneToOneField(WriteRequest, on_delete=models.PROTECT, related_name="execution")
    approval = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="execution")
    attempt = models.PositiveIntegerField(default=1)  # a fencing token: a paused writer of an older attempt stops
    state = models.CharField(max_length=13, choices=State.choices, default=State.CLAIMED)
    claimed_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    rows = models.JSONField(default=list)
    row_count = models.PositiveIntegerField(null=True)
    effect_digest = models.CharField(max_length=64, blank=True)
    target_xid = models.CharField(max_length=20, blank=True)
    receipt = models.JSONField(null=True)  # of the entry that says what became of it: number, key, digest
    error = models.TextField(blank=True)
