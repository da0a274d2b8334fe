"""Agents, their tokens, and how much of their budgets they used."""

from __future__ import annotations

from django.conf import settings
from django.db import models


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
