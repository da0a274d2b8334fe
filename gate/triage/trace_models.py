"""What an agent's client wrote down of an investigation, and what was measured of it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from gate.triage.rule_models import INVESTIGATION, Job


class Trace(models.Model):
    """One trace of an investigation: uploaded, or put together from the log. Its text is masked before it is kept."""

    class Origin(models.TextChoices):
        AGENT = "agent"
        PERSON = "person"
        LOG = "log"  # it has no text of its own: the log's entries are read again whenever it is shown

    investigation = models.ForeignKey(INVESTIGATION, on_delete=models.PROTECT, related_name="traces")
    origin = models.CharField(max_length=6, choices=Origin.choices)
    by = models.CharField(max_length=120)  # the agent's or the person's name
    at = models.DateTimeField(auto_now_add=True)
    format = models.CharField(max_length=40)
    sha256 = models.CharField(max_length=64)  # of the text as it is kept: the same text twice is one trace
    size = models.PositiveIntegerField()  # its bytes
    content = models.BinaryField(null=True)  # packed; gone once its entry was redacted or pruned
    entry_seq = models.BigIntegerField(unique=True, null=True)  # trace.uploaded
    kept = models.PositiveIntegerField()  # records that gave a step
    skipped = models.JSONField(default=dict)  # reason → how many
    steps = models.PositiveIntegerField()

    # A large one is measured by a worker, a part at a time; a small one whenever it is shown
    status = models.CharField(max_length=10, choices=Job.choices, default=Job.DONE)
    why = models.TextField(blank=True)  # it was not measured, or its text is gone
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    report = models.BinaryField(null=True)  # packed; what the last parts found is added to it
    finished_at = models.DateTimeField(null=True)
    tools = models.JSONField(default=dict)  # tool or source → its figures, for those over time

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["investigation", "sha256"], name="triage_one_trace_per_content"),
            models.UniqueConstraint(
                fields=["investigation"], name="triage_one_trace_of_the_log", condition=Q(origin="log")
            ),
        ]

    @property
    def records(self) -> int:
        """How many records the file has: those kept and those skipped."""
        return int(self.kept + sum(self.skipped.values()))
