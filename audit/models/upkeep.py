"""What people do to the log itself: holds, redactions, overrides of an alarm, and months that were dropped."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Hold(models.Model):
    """Somebody needs what is recorded about an incident, or in a month: it is neither dropped nor redacted."""

    incident_id = models.BigIntegerField(null=True)  # no foreign key: the log knows incidents by number alone
    month = models.DateField(null=True)  # its first day
    reason = models.TextField()
    held_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    held_at = models.DateTimeField(auto_now_add=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    lifted_at = models.DateTimeField(null=True)
    why_lifted = models.TextField(default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="audit_hold_of_one",
                condition=Q(incident_id__isnull=False, month__isnull=True)
                | Q(incident_id__isnull=True, month__isnull=False),
            )
        ]

    @property
    def subject(self) -> str:
        """What is held, as entries name it."""
        return f"I-{self.incident_id}" if self.month is None else f"month {self.month:%Y-%m}"


class Redaction(models.Model):
    """A part of an entry that somebody wants gone for good. Another person confirms, and the database does it."""

    class Part(models.TextChoices):
        ARGS = "args", "the arguments"
        RESULT = "result", "the result"
        BOTH = "both", "arguments and result"

    class Status(models.TextChoices):
        WAITING = "waiting"
        CONFIRMED = "confirmed"
        WITHDRAWN = "withdrawn"

    entry_seq = models.BigIntegerField()
    entry_id = models.UUIDField()
    part = models.CharField(max_length=6, choices=Part.choices)
    reason = models.TextField()
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    # By the function alone, when it has taken the part away: the key of the entry that says so.
    recorded_as = models.UUIDField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="audit_redaction_by_two",
                condition=~Q(status="confirmed") | (Q(decided_by__isnull=False) & ~Q(decided_by=models.F("asked_by"))),
            ),
            models.UniqueConstraint(
                fields=["entry_id"], name="audit_one_waiting_redaction", condition=Q(status="waiting")
            ),
        ]

    @property
    def ref(self) -> str:
        """The entry that it is about, as people read it."""
        return f"A-{self.entry_seq}"

    @property
    def parts(self) -> tuple[str, ...]:
        """What is to go: args, result, or both."""
        return ("args", "result") if self.part == self.Part.BOTH else (self.part,)


class Override(models.Model):
    """Approving goes on although the log does not verify: one person asks for it, and another confirms."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        CONFIRMED = "confirmed"
        WITHDRAWN = "withdrawn"

    # What stood when it was asked for. It covers nothing that is found later.
    verification = models.BigIntegerField(null=True)  # the number of the newest one with findings
    sealer = models.TextField(default="")  # what the sealer said, and how far it had sealed
    reason = models.TextField()
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_by_name = models.TextField()  # copies: the writer does not read people
    asked_at = models.DateTimeField(auto_now_add=True)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_by_name = models.TextField(default="")
    decided_at = models.DateTimeField(null=True)
    solo = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="audit_override_by_two",
                condition=~Q(status="confirmed")
                | Q(decided_by__isnull=False, solo=True)
                | (Q(decided_by__isnull=False) & ~Q(decided_by=models.F("asked_by"))),
            ),
            models.UniqueConstraint(
                fields=["status"], name="audit_one_waiting_override", condition=Q(status="waiting")
            ),
        ]


class Retained(models.Model):
    """A month that was dropped: which leaves and numbers it had, and the entry that says so."""

    month = models.DateField(primary_key=True)
    first_leaf = models.BigIntegerField()
    last_leaf = models.BigIntegerField()
    entries = models.BigIntegerField()
    first_number = models.BigIntegerField()
    last_number = models.BigIntegerField()
    recorded_as = models.BigIntegerField()  # the number of the log.retained entry
    at = models.DateTimeField()

    class Meta:
        managed = False  # written by a function of the database alone
        db_table = "audit_retained"

    @property
    def ref(self) -> str:
        """The entry that says so, as people read it."""
        return f"A-{self.recorded_as}"
