"""The kinds of entries. A kind is in past tense and is never renamed once an entry has been hashed under it."""

from django.db.models import TextChoices


class Kind(TextChoices):
    """Every event that the log knows, by the noun it happens to."""

    CALL_STARTED = "call.started"
    CALL_FINISHED = "call.finished"
    CALL_REFUSED = "call.refused"

    INCIDENT_OPENED = "incident.opened"
    INCIDENT_UPDATED = "incident.updated"
    INCIDENT_REPORTED_RESOLVED = "incident.reported_resolved"
    INCIDENT_CLOSED = "incident.closed"
    INCIDENT_REOPENED = "incident.reopened"

    INVESTIGATION_STARTED = "investigation.started"
    FINDINGS_SUBMITTED = "findings.submitted"
    VERDICT_RENDERED = "verdict.rendered"
    DRAFT_CLAIMED = "draft.claimed"
    DRAFT_AGREED = "draft.agreed"
    DRAFT_OVERRULED = "draft.overruled"
    DRAFT_SENT_BACK = "draft.sent_back"
    DRAFT_SNOOZED = "draft.snoozed"
    INVESTIGATION_STOPPED = "investigation.stopped"
    INVESTIGATION_ABANDONED = "investigation.abandoned"
    TRACE_UPLOADED = "trace.uploaded"

    ANSWER_ATTEMPTED = "answer.attempted"
    ANSWER_SENT = "answer.sent"
    ANSWER_REFUSED = "answer.refused"
    ANSWER_UNKNOWN = "answer.unknown"

    COMMENT_ADDED = "comment.added"
    ASSIGNMENT_CHANGED = "assignment.changed"
    ADMISSION_ANSWERED = "admission.answered"  # by the answering model
    ADMISSION_DECIDED = "admission.decided"
    ADMISSION_LABELED = "admission.labeled"  # a person says whether its answers were right

    WRITE_PROPOSED = "write.proposed"
    WRITE_ADMITTED = "write.admitted"
    WRITE_BLOCKED = "write.blocked"
    WRITE_LOOKED_AT = "write.looked_at"  # with a credential that only reads
    WRITE_PREVIEWED = "write.previewed"
    WRITE_APPROVED = "write.approved"
    WRITE_REJECTED = "write.rejected"
    WRITE_CHANGES_REQUESTED = "write.changes_requested"
    WRITE_EDITED = "write.edited"
    WRITE_WITHDRAWN = "write.withdrawn"
    WRITE_EXPIRED = "write.expired"
    WRITE_CLAIMED = "write.claimed"
    WRITE_EXECUTED = "write.executed"
    WRITE_REFUSED_STALE = "write.refused_stale"
    WRITE_FAILED = "write.failed"
    WRITE_UNKNOWN = "write.unknown"
    WRITE_SETTLED = "write.settled"
    WRITE_GLASS_REVIEWED = "write.glass_reviewed"  # after one person approved it alone
    CANARY_CAUGHT = "canary.caught"  # a proposal that was placed to be turned down
    CANARY_APPROVED = "canary.approved"
    CANARY_PAUSE_LIFTED = "canary.pause_lifted"

    DEFINITION_DRAFTED = "definition.drafted"
    DEFINITION_ACTIVATED = "definition.activated"
    DEFINITION_RETIRED = "definition.retired"
    DEFINITION_SHADOWED = "definition.shadowed"  # it runs beside what is in force, and decides nothing
    RULE_TRIED = "rule.tried"
    RULE_FLIPS_SIGNED = "rule.flips_signed"
    RULE_REPLAYED = "rule.replayed"
    CASE_PROMOTED = "case.promoted"
    DRIFT_SETTLED = "drift.settled"

    SOURCE_CERTIFIED = "source.certified"
    SOURCE_DARKENED = "source.darkened"
    SOURCE_PROOF_ASKED = "source.proof_asked"

    PERSON_SIGNED_IN = "person.signed_in"
    PERSON_REFUSED = "person.refused"
    PERSON_CHANGED = "person.changed"
    KEY_ENROLLED = "key.enrolled"
    KEY_REVOKED = "key.revoked"
    KEY_PINNED = "key.pinned"  # by an operator, into the writer's own list
    KEY_UNPINNED = "key.unpinned"
    TOKEN_ISSUED = "token.issued"
    TOKEN_REVOKED = "token.revoked"
    AGENT_CHANGED = "agent.changed"
    AGENT_ALERTED = "agent.alerted"  # also over: its status says which
    AGENT_ALERT_ACKNOWLEDGED = "agent.alert_acknowledged"
    MAIL_SENT = "mail.sent"
    MAIL_FAILED = "mail.failed"

    LOG_SEALED_KEY = "log.sealed_key"
    LOG_SCHEMA = "log.schema"
    LOG_EXPORTED = "log.exported"
    LOG_VIEWED = "log.viewed"
    LOG_REDACTION_ASKED = "log.redaction_asked"  # also withdrawn, or refused: its status says which
    LOG_REDACTED = "log.redacted"
    LOG_RETAINED = "log.retained"
    LOG_HELD = "log.held"
    LOG_VERIFIED = "log.verified"
    LOG_VERIFICATION_ASKED = "log.verification_asked"
    LOG_DRILLED = "log.drilled"
    LOG_OVERRIDDEN = "log.overridden"  # also asked for, withdrawn, or refused: its status says which
    LOG_RESTORED = "log.restored"
    LOG_REOPENED = "log.reopened"


# What may change a number that pages show: how much waits for whom, and what is in force.
COUNTED = frozenset(
    kind for kind in Kind if kind.value.partition(".")[0] in ("verdict", "draft", "write", "definition")
)
