"""People and the one role each of them has."""

from datetime import datetime

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

from audit import log
from gate.people import browsers, key_prints


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


class Tally(models.Model):
    """How often something was done lately, as a password tried for a name (see gate.people.limits)."""

    key = models.CharField(max_length=64, primary_key=True)  # a keyed hash of what is counted
    number = models.PositiveIntegerField()
    until = models.DateTimeField(db_index=True)


class Change(models.Model):
    """A change of what somebody may do here: drafted by one admin, confirmed by another."""

    class Act(models.TextChoices):
        ROLE = "role", "change of role"
        DEACTIVATE = "deactivate", "deactivation"
        REACTIVATE = "reactivate", "reactivation"
        RESET = "reset", "link to set a password"

    class Status(models.TextChoices):
        WAITING = "waiting"
        CONFIRMED = "confirmed"
        WITHDRAWN = "withdrawn"

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="changes")
    act = models.CharField(max_length=10, choices=Act.choices)
    role = models.CharField(max_length=10, choices=Person.Role.choices, blank=True)  # the new one
    reason = models.TextField()
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    drafted_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    drafted_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    solo = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person"], name="people_one_waiting_change", condition=models.Q(status="waiting")
            )
        ]


class PasswordLink(models.Model):
    """Lets whoever holds it set one person's password, once. Only its SHA-256 is kept."""

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class Identity(models.Model):
    """Somebody at a sign-in provider, who signs in as one person here (see gate.people.identities)."""

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    connected_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="people_one_person_an_identity")]


class Visit(models.Model):
    """A browser that somebody is signed in with. The session itself is Django's."""

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="visits")
    session_key = models.CharField(max_length=40, unique=True)
    address = models.CharField(max_length=45)
    browser = models.CharField(max_length=200)
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(auto_now_add=True)

    @property
    def browser_in_words(self) -> str:
        """The browser as its user knows it."""
        return browsers.in_words(self.browser)


class Key(models.Model):
    """A passkey of somebody. It counts once another key of theirs, or an admin, has confirmed it."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        CONFIRMED = "confirmed"
        WITHDRAWN = "withdrawn"

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="keys")
    name = models.CharField(max_length=60)
    # Both in base64url, and both of one person alone: a key that two people hold would be two hands of one.
    credential_id = models.CharField(max_length=1400, unique=True)
    public_key = models.CharField(max_length=400, unique=True)  # COSE
    sign_count = models.BigIntegerField()
    transports = models.JSONField(default=list)
    aaguid = models.CharField(max_length=36)
    may_be_backed_up = models.BooleanField()  # a passkey that is copied between devices
    is_backed_up = models.BooleanField()
    enrolled_at = models.DateTimeField(auto_now_add=True)
    quarantined_until = models.DateTimeField()  # no write of high risk before
    used_at = models.DateTimeField(null=True)
    used_for = models.CharField(max_length=40, blank=True)  # W-575, or sign-in
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    confirmed_with = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    decided_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    solo = models.BooleanField(default=False)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")

    @property
    def fingerprint(self) -> str:
        """What an operator compares before the writer pins the key."""
        return key_prints.fingerprint(self.credential_id, self.public_key)

    @property
    def is_live(self) -> bool:
        """Whether it may sign now."""
        return self.status == self.Status.CONFIRMED and self.revoked_at is None

    def is_in_quarantine(self, now: datetime | None = None) -> bool:
        """Whether it is too new for writes of high risk."""
        return self.quarantined_until > (now or timezone.now())


class KeyChallenge(models.Model):
    """What a browser was asked to have signed, for five minutes and once."""

    challenge = models.CharField(max_length=64, unique=True)  # hexadecimal
    purpose = models.CharField(max_length=10)  # enroll, confirm, or sign-in
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    session = models.CharField(max_length=64)  # SHA-256 of the session's key
    about = models.JSONField(default=dict)
    expires_at = models.DateTimeField()
