"""What a rule has to show for itself: cases, trials, flips and who signed them, shadow results, drift."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from audit.models import Definition

# By name: these tables are loaded with the app's other models, which come after them.
DRAFT, INCIDENT, INVESTIGATION = "triage.Draft", "triage.Incident", "triage.Investigation"


class Verdict(models.TextChoices):
    PASS = "pass"
    FAIL = "fail"


class Job(models.TextChoices):
    """Where something stands that a worker does for a page."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    GIVEN_UP = "given_up"  # its worker died of it each time


OPEN = (Job.WAITING, Job.RUNNING)


class Examination(models.Model):
    """What single changes of its evidence would have done to a drafted verdict."""

    draft = models.OneToOneField(DRAFT, on_delete=models.PROTECT, related_name="examination")
    rows = models.JSONField()  # one per field, see gate.triage.nearest.Row
    noticed = models.PositiveIntegerField()
    tried = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)


class PromotedCase(models.Model):
    """A closed incident kept as a case for replay, with an outcome that comes from outside of this system."""

    class Outcome(models.TextChoices):
        HARMLESS = "harmless"
        NOT_FINE = "not_fine"

    class Source(models.TextChoices):
        CUSTOMER = "customer", "The customer"
        POSTMORTEM = "postmortem", "A postmortem"
        PROVIDER = "provider", "The provider, the bank or the vendor"
        LATER_EVENT = "later_event", "What happened later: it came again, or was undone"
        SECOND_REVIEWER = "second_reviewer", "A second reviewer, who did not see the verdict"

    investigation = models.OneToOneField(INVESTIGATION, on_delete=models.PROTECT, related_name="promoted_case")
    incident = models.ForeignKey(INCIDENT, on_delete=models.PROTECT, related_name="promoted_cases")
    name = models.SlugField(max_length=120, unique=True)
    hypothesis = models.CharField(max_length=80)
    document = models.TextField()  # the neutral form, with the payloads of its entries
    sha256 = models.CharField(max_length=64)  # of the document when it was promoted
    expected = models.CharField(max_length=4, choices=Verdict.choices)
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    outcome_source = models.CharField(max_length=15, choices=Source.choices)
    outcome_reference = models.CharField(max_length=500)  # where that can be read: a ticket, a letter
    outcome_on = models.DateField()
    why = models.TextField()
    promoted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    promoted_at = models.DateTimeField(auto_now_add=True)


class Trial(models.Model):
    """One examination of a rule version: mutation over the cases, and flips over everything on record."""

    definition = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    against = models.ForeignKey(Definition, null=True, on_delete=models.PROTECT, related_name="+")  # what was in force
    rule_hash = models.CharField(max_length=64)
    upto = models.BigIntegerField()  # the newest decided investigation when it was asked for
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    status = models.CharField(max_length=10, choices=Job.choices, default=Job.WAITING)
    why = models.TextField(blank=True)  # it failed

    reached = models.BigIntegerField(default=0)  # the investigations up to here are done
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    same = models.PositiveIntegerField(default=0)  # byte for byte
    cases_digest = models.CharField(max_length=64, blank=True)
    cases = models.JSONField(default=list)  # name, expected, verdict, which checks decided: one per case
    mutants = models.PositiveIntegerField(default=0)
    noticed = models.PositiveIntegerField(default=0)
    blind_spots = models.JSONField(default=list)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["definition", "-id"], name="triage_newest_trial")]


class Flip(models.Model):
    """A recorded investigation or a case that a trial decided otherwise than the version in force."""

    class Kind(models.TextChoices):
        PASS_TO_FAIL = "pass_to_fail", "Pass → fail"
        FAIL_TO_PASS = "fail_to_pass", "Fail → pass"
        RECEIPT = "receipt", "Same verdict, other receipt"

    trial = models.ForeignKey(Trial, on_delete=models.PROTECT, related_name="flips")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    subject = models.CharField(max_length=200)  # I-287 with its investigation, or the name of a case
    investigation = models.ForeignKey(INVESTIGATION, null=True, on_delete=models.PROTECT, related_name="+")
    what = models.CharField(max_length=300)
    ended = models.CharField(max_length=600, blank=True)  # how it ended, from outside of the rules
    is_known_false = models.BooleanField(default=False)  # it passes again what is known to be not fine
    checks = models.JSONField()  # of the new verdict
    reasons = models.JSONField()  # of whichever verdict fails
    receipt_sha256 = models.CharField(max_length=64)  # of the new verdict: what a signature is bound to

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["trial", "subject"], name="triage_one_flip_per_subject")]


class FlipSignature(models.Model):
    """A person stands for a fail that becomes a pass, with what they saw of it."""

    definition = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    subject = models.CharField(max_length=200)
    receipt_sha256 = models.CharField(max_length=64)
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["definition", "subject", "receipt_sha256", "by"], name="triage_one_signature_per_person"
            )
        ]


class ShadowResult(models.Model):
    """What a version in shadow made of a live investigation. It decides nothing and stands apart from the drafts."""

    definition = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    investigation = models.ForeignKey(INVESTIGATION, on_delete=models.PROTECT, related_name="shadow_results")
    outcome = models.CharField(max_length=4, choices=Verdict.choices)
    checks = models.JSONField()
    reasons = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["definition", "investigation"], name="triage_one_shadow_result")]


class Replay(models.Model):
    """The versions in force over every case that is known here."""

    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    status = models.CharField(max_length=10, choices=Job.choices, default=Job.WAITING)
    why = models.TextField(blank=True)
    total = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)


class ReplayLine(models.Model):
    """One case of a replay, with what was expected and what came."""

    replay = models.ForeignKey(Replay, on_delete=models.PROTECT, related_name="lines")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    hypothesis = models.CharField(max_length=80)
    rule_version = models.PositiveIntegerField(null=True)
    expected = models.CharField(max_length=4, blank=True)
    verdict = models.CharField(max_length=4)
    decided_by = models.CharField(max_length=600)
    why = models.TextField(blank=True)  # what the case is about

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["replay", "position"], name="triage_one_line_per_case")]

    @property
    def is_as_expected(self) -> bool:
        return self.expected in ("", self.verdict)


class SeenField(models.Model):
    """A field of a tool's answers: in how many of them it was, and how often it was null."""

    tool = models.CharField(max_length=80)
    path = models.CharField(max_length=300)  # a JSON pointer with * for any place in a list
    answers = models.PositiveIntegerField(default=0)  # those in which the field could have been
    there = models.PositiveIntegerField(default=0)
    nulls = models.PositiveIntegerField(default=0)
    is_read = models.BooleanField(default=False)  # by a check
    first_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tool", "path"], name="triage_one_field_per_path")]


class Drift(models.Model):
    """Something in a tool's answers that was not there before: a value that nobody listed, a new key, a first null."""

    class What(models.TextChoices):
        UNLISTED = "unlisted", "A value that no reader lists"
        NEW_KEY = "new_key", "A new key"
        NULL = "null", "Null for the first time"
        GONE = "gone", "A field that is not there any more"

    tool = models.CharField(max_length=80)
    path = models.CharField(max_length=300)
    what = models.CharField(max_length=8, choices=What.choices)
    value = models.CharField(max_length=200, blank=True)
    times = models.PositiveIntegerField(default=1)
    entry_seq = models.BigIntegerField()  # where it was seen first
    first_at = models.DateTimeField(auto_now_add=True)
    settled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    settled_at = models.DateTimeField(null=True)
    settled_why = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tool", "path", "what", "value"], name="triage_one_drift_per_value")
        ]
