"""People and the one role each of them has."""

from django.contrib.auth.models import AbstractUser
from django.db import models

from audit import log


class Person(AbstractUser):
    """Someone who signs in. Rights follow from the role alone (see gate.people.permissions)."""

    class Role(models.TextChoices):
        VIEWER = "viewer", "viewer"
        ON_CALL = "on_call", "on-call"
        ADMIN = "admin", "admin"
        AUDITOR = "auditor", "auditor"

    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)
    full_name = models.CharField(max_length=120, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")

    def __str__(self) -> str:
        return self.full_name or self.username

    def actor(self) -> log.Actor:
        """The person in the log's words, as they are called now."""
        return log.Actor.person(self)
