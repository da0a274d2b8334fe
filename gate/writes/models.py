"""Writes to production: proposed by anyone, previewed and executed by the writer, approved by people alone."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from audit.models import Agent, Definition
from gate.people import key_prints
from gate.triage.models import Incident, Investigation


class WriteRequest(models.Model):
    """A change somebody wants made, as its newest edition says it. Nothing approved of an earlier one counts."""

    class Status(models.TextChoices):
        PROPOSED = "proposed"
        BLOCKED = "blocked"
        WAITING = "waiting"
        APPROVED = "approved"
        EXECUTING = "executing"
        EXECUTED = "executed"
        REFUSED_STALE = "refused_stale"
        FAILED = "failed"
        UNKNOWN = "unknown"
        REJECTED = "rejected"
        WITHDRAWN = "withdrawn"
        EXPIRED = "expired"
        CHANGES_REQUESTED = "changes_requested"
        # What people found in the target when the writer could not say: see gate.writes.settling.
        SETTLED_EXECUTED = "settled_executed"
        SETTLED_FAILED = "settled_failed"

    target = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=200)
    statement = models.TextField()  # canonical: parsed and written back by code
    verb = models.CharField(max_length=6)  # insert, update, delete
    table = models.TextField()  # shop.jobs
    parameters = models.JSONField()  # [{"t": "bigint", "v": "90433"}]
    reason = models.TextField()
    incident = models.ForeignKey(Incident, null=True, blank=True, on_delete=models.PROTECT, related_name="writes")
    investigation = models.ForeignKey(Investigation, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    proposed_by_agent = models.ForeignKey(Agent, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    proposed_by_person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    proposed_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    proposal_digest = models.CharField(max_length=64)
    edition = models.PositiveIntegerField(default=1)  # an edit makes the next one
    undoes = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="undos")
    # What its proposer's model answered of what a policy asks, and which model: what is observed, probes say.
    answers = models.JSONField(default=dict)
    model = models.JSONField(default=dict)  # {"id", "latency_ms"}; empty when nobody said
    status = models.CharField(max_length=17, choices=Status.choices, default=Status.PROPOSED)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="writes_one_proposer",
                condition=Q(proposed_by_agent__isnull=False, proposed_by_person__isnull=True)
                | Q(proposed_by_agent__isnull=True, proposed_by_person__isnull=False),
            )
        ]
        indexes = [
            models.Index(
                fields=["id"],
                name="writes_open",
                condition=Q(
                    status__in=["proposed", "waiting", "changes_requested", "approved", "executing", "unknown"]
                ),
            )
        ]

    @property
    def by_agent(self) -> bool:
        return self.proposed_by_agent_id is not None

    @property
    def proposer(self) -> str:
        """How whoever proposed it is called."""
        agent = self.proposed_by_agent
        return agent.name if agent is not None else str(self.proposed_by_person)

    @property
    def ref(self) -> str:
        return f"W-{self.pk}"


class Edition(models.Model):
    """What a write said before it was edited, kept so that its history can be read."""

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="editions")
    number = models.PositiveIntegerField()
    target = models.ForeignKey(Definition, on_delete=models.PROTECT, related_name="+")
    title = models.CharField(max_length=200)
    statement = models.TextField()
    parameters = models.JSONField()
    reason = models.TextField()
    proposal_digest = models.CharField(max_length=64)
    # Who replaced it: an editor proposes too, and approves nothing of this write.
    edited_by_agent = models.ForeignKey(Agent, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    edited_by_person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    edited_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["write", "number"], name="writes_one_edition_per_number")]


class Admission(models.Model):
    """What a policy made of one proposal, before a person saw it. Put here by the database's own function alone."""

    class Verdict(models.TextChoices):
        ASK = "ask"  # a person decides; of a write, that is also what an allow becomes
        BLOCK = "block"

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="admissions")
    edition = models.PositiveIntegerField()
    proposal_digest = models.CharField(max_length=64)  # of what the answers are about
    policy = models.CharField(max_length=80)  # the one that the target names
    version = models.ForeignKey(Definition, null=True, on_delete=models.PROTECT, related_name="+")  # None: no policy
    verdict = models.CharField(max_length=5, choices=Verdict.choices)  # what became of the write
    decided = models.CharField(max_length=5)  # what the policy said: allow, ask, block
    is_enforced = models.BooleanField()  # False while the policy only observes
    rule = models.CharField(max_length=200, blank=True)  # empty when no rule was read
    escalations = models.JSONField()  # [{"q", "why", "reason"}]
    answers = models.JSONField()  # as the reducer read them
    facts = models.JSONField()  # what the probes saw, in words: {question: {"seen", "source"}}
    model = models.JSONField()  # which model answered what no probe does
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["write", "edition"], name="writes_admissions")]


class AdmissionRequest(models.Model):
    """One edition of a write is to be checked: proposed, edited, or as another version of the policy came in force."""

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="admission_requests")
    edition = models.PositiveIntegerField()
    # What the answering model was asked for it, which is kept for an hour. No role that asks may say so.
    answer_ask = models.BigIntegerField(null=True)
    at = models.DateTimeField(db_default=Now())


class PreviewRequest(models.Model):
    """A person asked to see what a write would do. The writer previews from these rows alone."""

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="preview_requests")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class Preview(models.Model):
    """What the writer saw in a transaction that it rolled back."""

    request = models.OneToOneField(PreviewRequest, on_delete=models.PROTECT, related_name="preview")
    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="previews")
    edition = models.PositiveIntegerField()  # of the write that was run
    row_count = models.PositiveIntegerField(null=True)
    rows = models.JSONField(default=list)  # [{"key", "before", "after"}], values as the database's text
    volatile = models.JSONField(default=list)  # columns assigned at execution
    footprint = models.JSONField(default=dict)  # {"shop.jobs": [inserted, updated, deleted]}
    blast = models.JSONField(default=list)  # what it does to other tables: see gate.writes.blast
    bound = models.JSONField(null=True)  # the columns that an approval is bound to; null for all of them
    shape = models.JSONField(default=dict)  # the table's columns and key, for an undo: see gate.writes.shapes
    effect_digest = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64)  # over proposal digest, effect and footprint
    error = models.TextField(blank=True)  # why there is no effect to approve
    at = models.DateTimeField(db_default=Now())  # by the same clock as the admission that it is held against


class FirstLook(models.Model):
    """What a source's read-only credential saw of the rows that a write names, before the writer ran anything."""

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="first_looks")
    # None for the look that comes with the proposal: nobody has to ask for what nothing can come of.
    request = models.OneToOneField(PreviewRequest, null=True, on_delete=models.PROTECT, related_name="first_look")
    edition = models.PositiveIntegerField()
    rows = models.JSONField(default=list)  # like a preview's, without keys
    error = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["write", "edition"], name="writes_one_look_unasked", condition=Q(request=None)
            ),
        ]


class Viewing(models.Model):
    """A person opened the page of one group of rows of a preview. Approving asks for all of them."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    preview = models.ForeignKey(Preview, on_delete=models.PROTECT, related_name="viewings")
    group = models.CharField(max_length=64, blank=True)  # empty for the write's own page
    at = models.DateTimeField(db_default=Now())  # by the clock of the database: how long is measured by it too

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "preview", "group"], name="writes_one_viewing_per_group"),
        ]


class Decision(models.Model):
    """A person's approval or rejection of one proposal with one preview. Inserted by the people's plane alone."""

    class Act(models.TextChoices):
        APPROVE = "approve"
        BREAK_GLASS = "break_glass"  # approve alone, in an emergency, with two reviews afterwards
        REJECT = "reject"
        REQUEST_CHANGES = "request_changes"
        WITHDRAW = "withdraw"

    id = models.UUIDField(primary_key=True)
    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="decisions")
    preview = models.ForeignKey(Preview, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    act = models.CharField(max_length=15, choices=Act.choices)
    edition = models.PositiveIntegerField()
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    role = models.CharField(max_length=10)  # the seat that an approval fills
    method = models.CharField(max_length=10)  # passkey, password, or session: then it stops something
    statement = models.JSONField()  # what was decided: the digests, approver, nonce and expiry
    # What the person's key signed, as the browser sent it: credential, client data, authenticator data, signature
    assertion = models.JSONField(null=True, blank=True)
    digest = models.CharField(max_length=64)  # SHA-256 of the canonical statement
    at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            # The digest covers a nonce: no decision is there twice, whatever it is copied to.
            models.UniqueConstraint(fields=["digest"], name="writes_one_decision_per_digest"),
        ]


class OfferedStatement(models.Model):
    """What a person's key was asked to sign about a write: kept here, so that the browser brings back none of it."""

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    statement = models.JSONField()
    challenge = models.CharField(max_length=64, unique=True)  # SHA-256 of the canonical statement, hexadecimal
    session = models.CharField(max_length=64)  # SHA-256 of the session's key
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)


class PinnedKey(models.Model):
    """A public key that the writer believes: put here by an operator as the writer, and by nobody else."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    username = models.CharField(max_length=150)
    name = models.CharField(max_length=60)
    credential_id = models.CharField(max_length=1400, unique=True)
    public_key = models.CharField(max_length=400)
    pinned_at = models.DateTimeField(auto_now_add=True)
    pinned_by = models.CharField(max_length=150)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.CharField(max_length=150, blank=True)

    @property
    def fingerprint(self) -> str:
        """What an operator compares."""
        return key_prints.fingerprint(self.credential_id, self.public_key)


class WriteComment(models.Model):
    """What somebody says about a write. It decides nothing."""

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="comments")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    edition = models.PositiveIntegerField()
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)


class GlassReview(models.Model):
    """What somebody else says afterwards about an approval that one person gave alone."""

    class Finding(models.TextChoices):
        RIGHT = "right", "it could not wait"
        WRONG = "wrong", "it could have waited"

    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="reviews")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    finding = models.CharField(max_length=5, choices=Finding.choices)
    reason = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["decision", "by"], name="writes_one_glass_review_per_person"),
        ]


class Canary(models.Model):
    """A bad proposal that was planned, to see whether it is caught. Its target does not exist for the writer."""

    # None until it is placed, by a function of the database alone: see gate.writes.canary_placing.
    write = models.OneToOneField(WriteRequest, null=True, on_delete=models.PROTECT, related_name="canary")
    proposal = models.JSONField()  # what is proposed: agent, target, statement, parameters, title, reason, incident
    flaw = models.TextField()  # what is bad about it
    plan = models.JSONField()  # the effect that its preview shows: nothing is run for it
    placed_by = models.CharField(max_length=150)
    placed_at = models.DateTimeField(auto_now_add=True)


class CanaryAnswer(models.Model):
    """What an approver did with a canary. Whoever approved one approves nothing until an admin lifts the pause."""

    canary = models.ForeignKey(Canary, on_delete=models.PROTECT, related_name="answers")
    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    is_caught = models.BooleanField()
    at = models.DateTimeField(auto_now_add=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    lifted_at = models.DateTimeField(null=True)
    why_lifted = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="writes_nothing_to_lift", condition=Q(is_caught=False) | Q(lifted_at=None)),
        ]


class Execution(models.Model):
    """The writer's one run of an approved write: what it claimed, wrote and found."""

    class State(models.TextChoices):
        CLAIMED = "claimed"
        EXECUTED = "executed"
        REFUSED_STALE = "refused_stale"
        FAILED = "failed"
        UNKNOWN = "unknown"

    write = models.OneToOneField(WriteRequest, on_delete=models.PROTECT, related_name="execution")
    preview = models.ForeignKey(Preview, on_delete=models.PROTECT, related_name="+")
    approvals = models.JSONField()  # the keys of the decisions that opened the gate
    ledger_key = models.UUIDField(unique=True)  # of the row in the target: of this proposal, so it runs at most once
    attempt = models.PositiveIntegerField(default=1)  # a fencing token: a paused writer of an older attempt stops
    state = models.CharField(max_length=13, choices=State.choices, default=State.CLAIMED)
    claimed_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    rows = models.JSONField(default=list)
    row_count = models.PositiveIntegerField(null=True)
    effect_digest = models.CharField(max_length=64, blank=True)
    target_xid = models.CharField(max_length=20, blank=True)
    # What was noted before the point of no return, where the target keeps no ledger: see gate.writes.xid, http_action.
    noted = models.JSONField(null=True)
    receipt = models.JSONField(null=True)  # of the entry that says what became of it: number, key, digest
    error = models.TextField(blank=True)


class Settlement(models.Model):
    """What a person found in the target about a write of which the writer cannot say whether it ran."""

    class Found(models.TextChoices):
        EXECUTED = "executed"
        FAILED = "failed"

    write = models.ForeignKey(WriteRequest, on_delete=models.PROTECT, related_name="settlements")
    found = models.CharField(max_length=8, choices=Found.choices)
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    role = models.CharField(max_length=10)
    at = models.DateTimeField(auto_now_add=True)
