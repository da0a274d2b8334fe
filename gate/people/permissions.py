"""The permission matrix: which role may do which act. It is data, so that a page can show it and a test can walk it."""

from gate.people.models import Person

Role = Person.Role

VIEWER, ON_CALL, ADMIN, AUDITOR = Role.VIEWER, Role.ON_CALL, Role.ADMIN, Role.AUDITOR
EVERYONE = frozenset({VIEWER, ON_CALL, ADMIN, AUDITOR})

# Django permission strings, so that lower layers can ask without importing people.
MATRIX: dict[str, frozenset[str]] = {
    "audit.view": EVERYONE,
    "audit.export": frozenset({ADMIN, AUDITOR}),
    "audit.verify": frozenset({ADMIN, AUDITOR}),
    "audit.hold": frozenset({ADMIN, AUDITOR}),
    "audit.redact": frozenset({ADMIN}),
    "audit.override": frozenset({ADMIN}),
    "gate.review_draft": frozenset({ON_CALL}),
    "gate.send_answer": frozenset({ON_CALL}),
    "gate.open_incident": frozenset({ON_CALL, ADMIN}),
    "gate.close_incident": frozenset({ON_CALL}),
    "gate.discuss_incident": frozenset({ON_CALL, ADMIN}),
    "gate.stop_investigation": frozenset({ON_CALL, ADMIN}),
    "gate.upload_trace": frozenset({ON_CALL, ADMIN}),
    "gate.promote_case": frozenset({ON_CALL, ADMIN}),
    "gate.replay_cases": frozenset({ON_CALL, ADMIN}),
    "gate.propose_write": frozenset({ON_CALL, ADMIN}),
    "gate.preview_write": frozenset({ON_CALL, ADMIN}),
    "gate.decide_write": frozenset({ON_CALL, ADMIN}),  # and a policy names the seats: see gate.writes.policy
    "gate.discuss_write": frozenset({ON_CALL, ADMIN}),
    "gate.label_answers": frozenset({ON_CALL, ADMIN}),
    "gate.view_canaries": frozenset({ADMIN, AUDITOR}),
    "gate.lift_pause": frozenset({ADMIN}),
    "gate.change_definition": frozenset({ADMIN}),
    "evidence.acknowledge_alert": frozenset({ON_CALL, ADMIN}),
    "audit.change_agents": frozenset({ADMIN}),
    "people.view": EVERYONE,
    "people.change": frozenset({ADMIN}),
    "people.try_mail": frozenset({ADMIN}),
}

# The same acts in words.
WORDS = {
    "audit.view": "Browse the audit log",
    "audit.export": "Export the audit log",
    "audit.verify": "Have the whole audit log verified now",
    "audit.hold": "Hold what is recorded about an incident, and lift holds",
    "audit.redact": "Ask to redact an entry, and confirm what another asked for",
    "audit.override": "Let approving go on while the log does not verify, with a second admin",
    "gate.review_draft": "Agree with, overrule or send back drafts",
    "gate.send_answer": "Send the answer of an agreed draft",
    "gate.open_incident": "Open an incident by hand",
    "gate.close_incident": "Close and reopen incidents",
    "gate.discuss_incident": "Comment on and assign incidents",
    "gate.stop_investigation": "Stop an investigation",
    "gate.upload_trace": "Upload a trace of an investigation",
    "gate.promote_case": "Make a case for replay of a closed incident",
    "gate.replay_cases": "Have every case replayed by the rules in force",
    "gate.propose_write": "Propose a write",
    "gate.preview_write": "Ask for a preview of a write",
    "gate.decide_write": "Approve or reject a write",
    "gate.discuss_write": "Comment on writes",
    "gate.label_answers": "Say whether the answers that a policy decided by were right",
    "gate.view_canaries": "See who caught and who approved what was placed to be turned down",
    "gate.lift_pause": "Let an approver who was paused approve again",
    "gate.change_definition": "Draft and activate definitions",
    "evidence.acknowledge_alert": "Say that an alert about an agent was looked at",
    "audit.change_agents": "Change agents and their tokens",
    "people.view": "See who works here, and with which role",
    "people.change": "Invite people, change roles, deactivate",
    "people.try_mail": "See how mail is sent, and try it",
}


def allows(role: str, permission: str) -> bool:
    """Whether a role may do an act. Raises KeyError for an act that the matrix does not know."""
    return role in MATRIX[permission]
