"""What admission keeps besides the log: asks of the answering model, and what people say of answers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from audit.models import Definition


class AnswerAsk(models.Model):
    """Questions of one policy about one action, asked of the answering model for somebody who waits for it."""

    version = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    questions = models.JSONField()  # by their ids, in order
    action = models.JSONField()  # what is about to be done, its secrets masked
    asked_for = models.CharField(max_length=200)
    asked_at = models.DateTimeField(db_default=Now())
    answers = models.JSONField(null=True)  # by question, as a reducer reads them; null until it is answered
    model = models.CharField(max_length=200, db_default="")  # as the endpoint calls what answered
    latency_ms = models.PositiveIntegerField(null=True)
    entry = models.BigIntegerField(null=True)  # the number of the entry that says what was sent and what came
    answered_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"ask {self.pk} for {self.asked_for}"


class AnswerLabel(models.Model):
    """What a person says of one recorded answer, once they know how it was."""

    class Said(models.TextChoices):
        RIGHT = "right"
        WRONG = "wrong"
        CANNOT_SAY = "cannot_say"

    decision = models.BigIntegerField()  # the number of the entry that the answer stands in
    policy = models.SlugField(max_length=80)
    question = models.CharField(max_length=200)
    asked = models.CharField(max_length=64)  # the digest of what was asked: another text is another question
    model = models.CharField(max_length=200, blank=True)  # who answered; empty when nobody said
    answer = models.JSONField()  # a copy, so that measuring needs no payload
    said = models.CharField(max_length=10, choices=Said.choices)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["decision", "question", "by"], name="admission_one_label_each"),
        ]
        indexes = [models.Index(fields=["policy", "question", "model"], name="admission_labels")]

    def __str__(self) -> str:
        return f"{self.question} of A-{self.decision}: {self.said}"
