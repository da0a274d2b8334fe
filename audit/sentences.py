"""One sentence for each kind of entry: the title of its page."""

from __future__ import annotations

from audit.kinds import Kind
from audit.models import Entry

SENTENCES: dict[Kind, str] = {
    Kind.CALL_STARTED: "{actor} started a call of {tool}",
    Kind.CALL_FINISHED: "{actor} called {tool}",
    Kind.CALL_REFUSED: "{actor} was refused {tool}",
    Kind.INCIDENT_OPENED: "{actor} opened {subject}",
    Kind.INCIDENT_UPDATED: "{actor} updated {subject}",
    Kind.INCIDENT_REPORTED_RESOLVED: "{actor} reported {subject} resolved",
    Kind.INCIDENT_CLOSED: "{actor} closed {subject}",
    Kind.INCIDENT_REOPENED: "{actor} reopened {subject}",
    Kind.INVESTIGATION_STARTED: "{actor} started an investigation of {subject}",
    Kind.FINDINGS_SUBMITTED: "{actor} handed in findings on {subject}",
    Kind.VERDICT_RENDERED: "{actor} rendered the verdict of {subject}",
    Kind.DRAFT_CLAIMED: "{actor} claimed {subject}",
    Kind.DRAFT_AGREED: "{actor} agreed with {subject}",
    Kind.DRAFT_OVERRULED: "{actor} overruled {subject}",
    Kind.DRAFT_SENT_BACK: "{actor} sent back {subject}",
    Kind.DRAFT_SNOOZED: "{actor} snoozed {subject}",
    Kind.INVESTIGATION_STOPPED: "{actor} stopped an investigation of {subject}",
    Kind.INVESTIGATION_ABANDONED: "{actor} ended an investigation of {subject} without findings",
    Kind.TRACE_UPLOADED: "{actor} uploaded a trace of {subject}",
    Kind.ANSWER_ATTEMPTED: "{actor} began to send the answer of {subject}",
    Kind.ANSWER_SENT: "{actor} sent the answer of {subject}",
    Kind.ANSWER_REFUSED: "The answer of {subject} was not sent for {actor}",
    Kind.ANSWER_UNKNOWN: "{actor} cannot tell whether the answer of {subject} was sent",
    Kind.COMMENT_ADDED: "{actor} commented on {subject}",
    Kind.ASSIGNMENT_CHANGED: "{actor} changed who holds {subject}",
    Kind.ADMISSION_DECIDED: "{actor} decided the admission of {subject}",
    Kind.WRITE_PROPOSED: "{actor} proposed {subject}",
    Kind.WRITE_ADMITTED: "{actor} admitted {subject}",
    Kind.WRITE_BLOCKED: "{actor} blocked {subject}",
    Kind.WRITE_PREVIEWED: "{actor} previewed {subject}",
    Kind.WRITE_APPROVED: "{actor} approved {subject}",
    Kind.WRITE_REJECTED: "{actor} rejected {subject}",
    Kind.WRITE_CHANGES_REQUESTED: "{actor} requested changes to {subject}",
    Kind.WRITE_EDITED: "{actor} edited {subject}",
    Kind.WRITE_WITHDRAWN: "{actor} withdrew {subject}",
    Kind.WRITE_EXPIRED: "{subject} expired",
    Kind.WRITE_CLAIMED: "{actor} claimed {subject} for execution",
    Kind.WRITE_EXECUTED: "{actor} executed {subject}",
    Kind.WRITE_REFUSED_STALE: "{actor} refused {subject}: its target had changed",
    Kind.WRITE_FAILED: "{actor} failed to execute {subject}",
    Kind.WRITE_UNKNOWN: "{actor} cannot tell whether {subject} was executed",
    Kind.WRITE_SETTLED: "{actor} settled {subject}",
    Kind.DEFINITION_DRAFTED: "{actor} drafted {subject}",
    Kind.DEFINITION_ACTIVATED: "{actor} activated {subject}",
    Kind.DEFINITION_RETIRED: "{actor} retired {subject}",
    Kind.SOURCE_CERTIFIED: "{actor} certified {subject}",
    Kind.SOURCE_DARKENED: "{actor} took {subject} out of service",
    Kind.PERSON_SIGNED_IN: "{actor} signed in",
    Kind.PERSON_REFUSED: "{actor} was refused",
    Kind.PERSON_CHANGED: "{actor} changed {subject}",
    Kind.KEY_ENROLLED: "{actor} enrolled a key of {subject}",
    Kind.KEY_REVOKED: "{actor} revoked a key of {subject}",
    Kind.TOKEN_ISSUED: "{actor} issued a token of {subject}",
    Kind.TOKEN_REVOKED: "{actor} revoked a token of {subject}",
    Kind.AGENT_CHANGED: "{actor} changed {subject}",
    Kind.MAIL_SENT: "{actor} had a letter sent to {subject}",
    Kind.MAIL_FAILED: "{actor} could not have a letter sent to {subject}",
    Kind.LOG_SEALED_KEY: "{actor} recorded a sealing key",
    Kind.LOG_SCHEMA: "{actor} recorded the schema of the log",
    Kind.LOG_EXPORTED: "{actor} exported entries",
    Kind.LOG_VIEWED: "{actor} viewed {subject}",
    Kind.LOG_REDACTION_ASKED: "{actor} asked to redact {subject}",
    Kind.LOG_REDACTED: "{actor} redacted {subject}",
    Kind.LOG_RETAINED: "{actor} removed entries past their retention",
    Kind.LOG_HELD: "{actor} changed a hold on {subject}",
    Kind.LOG_VERIFIED: "{actor} verified the log",
    Kind.LOG_OVERRIDDEN: "{actor} decided whether approving goes on while the log does not verify",
    Kind.LOG_RESTORED: "{actor} restored the log from a backup",
    Kind.LOG_REOPENED: "{actor} let the sealing go on",
}


def sentence(entry: Entry) -> str:
    """What happened, as one sentence. A kind that this program does not know is named as it is."""
    if entry.kind not in SENTENCES:
        return f"{entry.actor}: {entry.kind}"
    words = {"actor": entry.actor, "subject": entry.subject or "something", "tool": entry.tool or "a tool"}
    return SENTENCES[Kind(entry.kind)].format(**words)
