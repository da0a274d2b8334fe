"""What is counted of agents' calls, what they asked again and again, and the alerts that follow from it.

All of it is made anew from the log, or from the next minute on: nothing here is evidence.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class CallUse(models.Model):
    """Calls of one source in the minute that began at `since`, by one agent or (agent 0) by all of them together.

    The table is unlogged (see the migration): a counter that every call waits for must not wait for the disk, and
    after a crash a minute may begin anew.
    """

    source = models.SlugField(max_length=80)
    agent = models.BigIntegerField()
    since = models.DateTimeField()
    used = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "agent"], name="evidence_one_count_per_source")]


class CallSlot(models.Model):
    """How one agent's calls of a tool went within a quarter of an hour: their number, and how long they took."""

    since = models.DateTimeField()
    agent = models.TextField()
    tool = models.TextField()  # empty for a name that is no tool of ours: an agent may ask for any text at all
    source = models.TextField()
    outcome = models.TextField()  # ok, failed, refused
    code = models.TextField()  # the class of the failure or the refusal
    calls = models.PositiveIntegerField()
    durations = ArrayField(models.PositiveIntegerField())  # by evidence.durations.BOUNDS

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "since", "tool", "source", "outcome", "code"], name="evidence_one_row_per_slot"
            )
        ]
        indexes = [
            models.Index(fields=["source", "since"], name="evidence_slots_of_source"),
            models.Index(fields=["since"], name="evidence_oldest_slots"),
        ]


class CallTotal(models.Model):
    """The same since counting began, for all agents together: what a monitor reads, for it only ever grows."""

    tool = models.TextField()
    source = models.TextField()
    outcome = models.TextField()
    code = models.TextField()
    calls = models.BigIntegerField()
    milliseconds = models.BigIntegerField()
    durations = ArrayField(models.BigIntegerField())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tool", "source", "outcome", "code"], name="evidence_one_total")]


class Question(models.Model):
    """One tool with the same arguments, asked by one investigation: how often, and where the log has it."""

    agent = models.TextField()
    run_id = models.TextField()
    incident_id = models.BigIntegerField(null=True)
    tool = models.TextField()
    digest = models.CharField(max_length=64)  # keyed: without the key of MonitorState nobody can try arguments on it
    times = models.PositiveIntegerField()
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "run_id", "digest"], name="evidence_one_question_per_run")
        ]
        indexes = [
            models.Index(fields=["agent", "-last_at"], name="evidence_questions_of_agent"),
            models.Index(fields=["digest"], name="evidence_questions_again"),
            models.Index(fields=["last_at"], name="evidence_oldest_questions"),
        ]


class MonitorState(models.Model):
    """How far the log has been counted, in one row, and the key of the questions' digests."""

    next_leaf = models.BigIntegerField(default=0)
    key = models.BinaryField()
    at = models.DateTimeField()


class What(models.TextChoices):
    """What an alert is about."""

    REFUSALS = "refusals", "Many refusals"
    BUDGET = "budget", "Budget used up"
    REPEATED = "repeated", "Asked again and again"
    SLOW = "slow", "Slower than usual"


class Letter(models.TextChoices):
    """What became of the letter about an alert to whoever answers for the agent."""

    DUE = "due", "Due"
    UNDER_WAY = "under_way", "Under way"
    TAKEN = "taken", "Taken by the mail server"
    UNKNOWN = "unknown", "Nobody can tell"
    GIVEN_UP = "given_up", "Given up"


class AgentAlert(models.Model):
    """Something about an agent that a person should look at, from when it was true until it is over."""

    class State(models.TextChoices):
        OPEN = "open"
        ACKNOWLEDGED = "acknowledged"
        OVER = "over"

    agent = models.TextField()
    what = models.CharField(max_length=10, choices=What.choices)
    about = models.TextField()  # what tells two alerts of a sort apart: a tool, a question
    sentence = models.TextField()
    seq = models.BigIntegerField(null=True)  # the entry to look at
    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN)
    opened_at = models.DateTimeField()
    true_at = models.DateTimeField()  # when it was last found
    over_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    acknowledged_at = models.DateTimeField(null=True)
    reason = models.TextField(default="")
    letter = models.CharField(max_length=10, choices=Letter.choices, default=Letter.DUE)
    letter_tries = models.PositiveSmallIntegerField(default=0)
    letter_at = models.DateTimeField(null=True)  # since when it stands as it does; while it is due, from when on
    letter_why = models.TextField(default="")  # why it has not gone out

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "what", "about"], name="evidence_one_alert_at_a_time", condition=~Q(state="over")
            )
        ]
        indexes = [
            models.Index(fields=["agent", "-opened_at"], name="evidence_alerts_of_agent"),
            models.Index(fields=["opened_at"], name="evidence_open_alerts", condition=Q(state="open")),
        ]


class ProofAsk(models.Model):
    """A person's wish that a source's credential be proven again, now."""

    source = models.SlugField(max_length=80)
    asked_by = models.TextField()
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["source", "-asked_at"], name="evidence_latest_ask")]
