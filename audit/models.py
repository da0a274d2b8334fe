"""What is kept of what happened, and the seams that upper layers write: outbox, second hands, agents."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from audit.kinds import Kind


class Entry(models.Model):
    """One event of the log. Written by `audit.log` alone; the database refuses UPDATE, DELETE and TRUNCATE."""

    class ActorKind(models.TextChoices):
        PERSON = "person"
        AGENT = "agent"
        PROCESS = "process"
        MONITOR = "monitor"

    # Server-side: the database stamps these (see the migration); the digest binds the rest.
    id = models.UUIDField(primary_key=True)
    seq = models.BigIntegerField()
    at = models.DateTimeField()
    db_role = models.TextField()

    header_version = models.SmallIntegerField()
    kind = models.TextField(choices=Kind.choices)
    actor_kind = models.TextField(choices=ActorKind.choices)
    actor = models.TextField()
    principal = models.TextField()
    subject = models.TextField()
    summary = models.TextField()
    run_id = models.TextField()
    call_id = models.UUIDField(null=True)
    parent = models.UUIDField(null=True)
    tool = models.TextField()
    tool_version = models.IntegerField(null=True)
    tool_hash = models.TextField()
    source = models.TextField()
    certificate = models.TextField()
    incident_id = models.BigIntegerField(null=True)
    status = models.TextField()
    duration_ms = models.IntegerField(null=True)
    error_class = models.TextField()
    error = models.TextField()
    args_c = models.BinaryField()
    result_c = models.BinaryField()
    args_bytes = models.IntegerField()  # before cutting
    args_sha256 = models.TextField()  # of the whole, when what is kept was cut
    result_bytes = models.IntegerField()
    result_sha256 = models.TextField()
    truncated = models.BooleanField()
    writer = models.TextField()
    writer_run = models.TextField()
    writer_seq = models.BigIntegerField()
    digest = models.BinaryField()

    class Meta:
        managed = False  # the table is partitioned; the migration creates it in SQL
        db_table = "audit_entry"
        ordering = ["-seq"]

    @property
    def ref(self) -> str:
        """The id that people read and findings cite, like A-48213."""
        return f"A-{self.seq}"


class Payload(models.Model):
    """The arguments and result of an entry, as compressed bytes with the salts of their commitments."""

    entry_id = models.UUIDField(primary_key=True)
    salt = models.BinaryField()  # 16 bytes for the arguments, 16 for the result
    args = models.BinaryField(null=True)
    result = models.BinaryField(null=True)
    codec = models.TextField()

    class Meta:
        managed = False
        db_table = "audit_payload"


class Leaf(models.Model):
    """An entry's place in the sealed tree. Written by the sealer alone, and never changed."""

    index = models.BigIntegerField(primary_key=True, db_column="idx")
    entry_id = models.UUIDField(unique=True)
    h = models.BinaryField()

    class Meta:
        managed = False
        db_table = "audit_leaf"


class Checkpoint(models.Model):
    """The root over the first `size` leaves, signed: a C2SP note."""

    size = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    root = models.BinaryField()
    note = models.TextField()

    class Meta:
        managed = False
        db_table = "audit_checkpoint"


class SealState(models.Model):
    """How the sealer does, in one row that it writes each round."""

    state = models.TextField()
    sentence = models.TextField()
    at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_sealstate"


class Verification(models.Model):
    """What one verification of the log has found."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(db_default=Now())
    size = models.BigIntegerField()  # leaves under the last checkpoint
    is_full = models.BooleanField()
    findings = models.JSONField()  # the first ones: code, subject, sentence
    finding_count = models.IntegerField()
    is_clean = models.BooleanField()

    class Meta:
        managed = False
        db_table = "audit_verification"


class Witnessed(models.Model):
    """How far checkpoints have arrived at one of the places that they are sent to: file, webhook or witness."""

    target = models.TextField(primary_key=True)
    size = models.BigIntegerField()
    note = models.TextField()
    at = models.DateTimeField(null=True)
    state = models.TextField()
    sentence = models.TextField()
    tried_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "audit_witnessed"


class SearchState(models.Model):
    """How far the log was followed for the search, in one row."""

    next_leaf = models.BigIntegerField()
    newest = models.BigIntegerField()  # the number of the last entry that words are found in
    analyzed = models.BigIntegerField()

    class Meta:
        managed = False
        db_table = "audit_searchstate"


class SavedView(models.Model):
    """A filter of the list that somebody gave a name. A shared one is seen by everybody who reads the log."""

    name = models.CharField(max_length=60)
    query = models.TextField()  # as the list's address has it
    is_shared = models.BooleanField()
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="audit_one_view_per_name")]


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


class Outbox(models.Model):
    """A job that a transaction asks for. The relay hands it to the broker; the broker may lose it."""

    task = models.TextField()
    queue = models.TextField()
    subject_id = models.BigIntegerField()
    created_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(db_default=0)
    done_at = models.DateTimeField(null=True)
    gave_up_at = models.DateTimeField(null=True)
    error = models.TextField(db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "subject_id"], name="audit_one_job_per_subject")]
        indexes = [
            models.Index(
                fields=["id"], name="audit_outbox_open", condition=Q(done_at__isnull=True, gave_up_at__isnull=True)
            )
        ]


class Heartbeat(models.Model):
    """When a process was last seen at work."""

    process = models.TextField(primary_key=True)
    at = models.DateTimeField()


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


class Definition(models.Model):
    """One immutable version of a definition (source, tool, class, rule, target). A change is a new version."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        SHADOW = "shadow"
        ACTIVE = "active"
        RETIRED = "retired"

    kind = models.SlugField(max_length=20)
    name = models.SlugField(max_length=80)
    version = models.PositiveIntegerField()
    body = models.JSONField()
    digest = models.CharField(max_length=64)  # SHA-256 of the canonical body
    reason = models.TextField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)
    drafted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    drafted_at = models.DateTimeField(auto_now_add=True)
    activated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    activated_at = models.DateTimeField(null=True)
    solo = models.BooleanField(default=False)
    retired_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "name", "version"], name="audit_one_definition_version"),
            models.UniqueConstraint(
                fields=["kind", "name"], name="audit_one_active_version", condition=Q(status="active")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} v{self.version}"


class Link(models.Model):
    """What cites an entry: written by upper layers, shown on the entry's page."""

    entry_seq = models.BigIntegerField()
    subject = models.TextField()  # V-2041, W-577
    url = models.TextField()
    note = models.TextField()
    paths = models.JSONField(default=list)  # JSON pointers of the result that were read

    class Meta:
        constraints = [models.UniqueConstraint(fields=["entry_seq", "subject"], name="audit_one_link_per_subject")]
