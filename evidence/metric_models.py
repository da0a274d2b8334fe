"""What is asked of a metric through the reads worker: by a person, who has no credential of production, or by beat."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from audit import log
from audit.models import Definition
from evidence.metrics.kept_json import ExactDecoder, ExactEncoder


class MetricAsk(models.Model):
    """One question about one version of a metric, and its answer once the reads worker has given it.

    People insert the question and cannot write an answer: what a version has shown is not for its author to say.
    """

    class Kind(models.TextChoices):
        GOLDEN = "golden"  # whether the version gives its golden values
        EXPLAIN = "explain"
        TRACE_ENTITY = "trace_entity"
        TRACE_EVENT = "trace_event"
        COMPARE = "compare"

    version = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")  # a draft, too
    digest = models.CharField(max_length=64)  # of the version
    kind = models.CharField(max_length=12, choices=Kind.choices)
    arguments = models.JSONField(encoder=ExactEncoder, decoder=ExactDecoder)
    decision_point = models.DateTimeField(null=True)  # None where each golden value has one of its own
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    # As the person was called then: the reads worker sees no people.
    asked_by_name = models.TextField()
    asked_by_username = models.TextField()
    asked_at = models.DateTimeField(db_default=Now())
    answer = models.JSONField(null=True, encoder=ExactEncoder, decoder=ExactDecoder)
    problem = models.TextField(db_default="")
    answered_at = models.DateTimeField(null=True)
    audit_id = models.TextField(db_default="")

    class Meta:
        indexes = [models.Index(fields=["version", "kind", "-asked_at"], name="evidence_latest_metric_ask")]

    @property
    def is_answered(self) -> bool:
        """Whether the reads worker is done with it, with an answer or with a problem."""
        return self.answered_at is not None

    @property
    def actor(self) -> log.Actor:
        """Who asks, in the log's words."""
        if self.asked_by_id is None:
            return log.Actor.process()
        return log.Actor("person", self.asked_by_name, self.asked_by_username)
