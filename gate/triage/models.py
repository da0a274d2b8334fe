"""Incidents, what agents handed in about them, what code made of it, and what people decided."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import Agent, Definition
from gate.triage import rule_models, trace_models  # noqa: F401 their tables belong to this app, too


class IntakeToken(models.Model):
    """A monitor's bearer token: it opens incidents and does nothing else. Only its SHA-256 is kept."""

    name = models.SlugField(unique=True, max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    issued_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)


class Incident(models.Model):
    """Something that happened to a subject. What it means is decided by the version of its class at opening."""

    class Kind(models.TextChoices):
        INCIDENT = "incident"
        CLAIM = "claim"

    class Status(models.TextChoices):
        OPEN = "open"
        INVESTIGATING = "investigating"
        DRAFTED = "drafted"
        CLOSED = "closed"
        REOPENED = "reopened"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    incident_class = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=200)
    severity = models.CharField(max_length=20)
    subject = models.JSONField()  # {"job_id": 90412}: the class says which keys
    facts = models.JSONField(default=dict)  # what the monitor said besides: error, amount_cents, currency
    members = models.JSONField(default=list)  # the other subjects in it: whatever passes is shown for each of them
    undelivered = models.PositiveIntegerField(default=0)  # how many more the monitor counted and did not name
    dedup_key = models.CharField(max_length=200)
    began_at = models.DateTimeField()
    watch_from = models.DateTimeField()  # silence counts from here on
    status = models.CharField(max_length=14, choices=Status.choices, default=Status.OPEN)
    reported_resolved_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    opened_by = models.CharField(max_length=120)  # the intake token's or the person's name
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    guidance = models.TextField(blank=True)  # what the person wrote who sent the last draft back
    closed_at = models.DateTimeField(null=True, blank=True)
    # A monitor spoke against the pass that closed it: what was asked before then shows nothing to a later look.
    came_back_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)  # bumped by every decision of a person

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dedup_key"], name="triage_one_open_incident_per_key", condition=~Q(status="closed")
            )
        ]

    @property
    def ref(self) -> str:
        return f"I-{self.pk}"


class Investigation(models.Model):
    """One agent's look into one incident: a budget, a decision point, and one submission at the end."""

    class Status(models.TextChoices):
        RUNNING = "running"
        SUBMITTED = "submitted"
        DECIDED = "decided"
        ABANDONED = "abandoned"

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="investigations")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="investigations")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RUNNING)
    briefing = models.JSONField()  # what was offered, chosen, and why
    budget_calls = models.PositiveIntegerField()
    calls_used = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    deadline_at = models.DateTimeField()

    # The submission, once it is there
    hypothesis = models.CharField(max_length=80, blank=True)
    answer = models.TextField(blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)  # the decision point freezes here

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["incident"], name="triage_one_running_investigation", condition=Q(status="running")
            )
        ]


class Finding(models.Model):
    """A fact that the agent says an entry shows. The note is the agent's prose; no check reads it."""

    investigation = models.ForeignKey(Investigation, on_delete=models.PROTECT, related_name="findings")
    position = models.PositiveIntegerField()
    fact = models.CharField(max_length=80)
    audit_id = models.CharField(max_length=40)  # as handed in, like A-48213
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["investigation", "position"], name="triage_one_finding_per_position")
        ]


class Draft(models.Model):
    """A verdict that code rendered, waiting for a person."""

    class Outcome(models.TextChoices):
        PASS = "pass"
        FAIL = "fail"

    class Status(models.TextChoices):
        WAITING = "waiting"
        CLAIMED = "claimed"
        AGREED = "agreed"
        OVERRULED = "overruled"
        SENT_BACK = "sent_back"

    investigation = models.OneToOneField(Investigation, on_delete=models.PROTECT, related_name="draft")
    outcome = models.CharField(max_length=4, choices=Outcome.choices)
    rule = models.CharField(max_length=80)
    rule_version = models.PositiveIntegerField(null=True)
    rule_hash = models.CharField(max_length=64)
    checks = models.JSONField()  # one per line of the page, see gate.triage.verdict.CheckResult
    reasons = models.JSONField()  # of a fail; empty for a pass
    receipt = models.JSONField()  # entry ids, digests, paths read, values seen
    # Where the receipt's entries stand in the sealed tree, added when their checkpoint comes: A-id: {leaf, size}
    seals = models.JSONField(default=dict)
    is_sealed = models.BooleanField(default=False)  # all of them do
    decided_at = models.DateTimeField()
    rendered_at = models.DateTimeField(auto_now_add=True)

    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    version = models.PositiveIntegerField(default=1)  # bumped by every decision
    claimed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    claimed_until = models.DateTimeField(null=True, blank=True)
    snoozed_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["id"], name="triage_open_drafts", condition=Q(status__in=["waiting", "claimed"])),
            models.Index(fields=["id"], name="triage_unsealed_drafts", condition=Q(is_sealed=False)),
        ]

    @property
    def ref(self) -> str:
        return f"V-{self.pk}"


class Review(models.Model):
    """What a person decided about a draft, and why."""

    class Act(models.TextChoices):
        AGREE = "agree"
        OVERRULE = "overrule"
        SEND_BACK = "send_back"

    draft = models.OneToOneField(Draft, on_delete=models.PROTECT, related_name="review")
    act = models.CharField(max_length=10, choices=Act.choices)
    reason = models.TextField()
    seen_version = models.PositiveIntegerField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class LateEvent(models.Model):
    """What spoke against a pass after it had closed its incident. It counts as a false pass of the rule, once."""

    class What(models.TextChoices):
        FIRING = "firing", "Reported again"
        RESOLVED = "resolved", "Reported as having gone on"
        REOPENED = "reopened", "Opened again by a person"

    draft = models.OneToOneField(Draft, on_delete=models.PROTECT, related_name="late_event")
    what = models.CharField(max_length=8, choices=What.choices)
    by = models.CharField(max_length=120)  # the monitor's or the person's name
    at = models.DateTimeField(auto_now_add=True)


class Comment(models.Model):
    """What a person said about an incident, in full. The log's entry tells when, and cuts long texts in its list."""

    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="comments")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    entry_seq = models.BigIntegerField(unique=True)  # where it stands in the timeline


class Sending(models.Model):
    """One attempt to send an agreed answer, committed before the mail server hears of it. Nothing sends it again."""

    class Status(models.TextChoices):
        TRYING = "trying"
        SENT = "sent"
        REFUSED = "refused"
        UNKNOWN = "unknown"

    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="sendings")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    to = models.EmailField()
    subject = models.CharField(max_length=200)
    text = models.TextField()  # exactly what was handed over
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.TRYING)
    why = models.TextField(blank=True)  # it was refused, or is unknown
    begun_at = models.DateTimeField(auto_now_add=True)
